// Arrays in device memory, streams and events that free themselves; CUDA errors as exceptions. For
// tests and benchmarks.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace assay::kernels::cuda::harness {

/// Throws what a CUDA call says.
inline void must(cudaError_t error) {
    if (error != cudaSuccess)
        throw std::runtime_error(std::string(cudaGetErrorName(error)) + ": " +
                                 cudaGetErrorString(error));
}

template <class T>
class DeviceArray {
  public:
    DeviceArray() = default;
    explicit DeviceArray(std::size_t size) : size_(size) {
        if (size) must(cudaMalloc(reinterpret_cast<void**>(&data_), size * sizeof(T)));
    }
    explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) { put(values); }
    ~DeviceArray() { cudaFree(data_); }
    DeviceArray(DeviceArray&& other) noexcept { swap(other); }
    DeviceArray& operator=(DeviceArray&& other) noexcept {
        swap(other);
        return *this;
    }

    T* data() const { return data_; }
    std::size_t size() const { return size_; }
    std::size_t bytes() const { return size_ * sizeof(T); }
    /// Done when it returns, whatever stream reads it next: a copy from ordinary memory may return
    /// while the last of it is still on its way, and streams of a context's own do not wait for it.
    void put(const std::vector<T>& values) {
        must(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
        must(cudaStreamSynchronize(nullptr));
    }
    std::vector<T> get() const {
        std::vector<T> values(size_);
        must(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost));
        return values;
    }
    /// Every byte 0xff: NaN as floats. Done when it returns.
    void poison() {
        must(cudaMemset(data_, 0xff, bytes()));
        must(cudaStreamSynchronize(nullptr));
    }

  private:
    void swap(DeviceArray& other) {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
    }
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

/// A CUDA object and how it is destroyed.
template <class Handle, cudaError_t (*destroy)(Handle)>
class Owned {
  public:
    Owned() = default;
    ~Owned() {
        if (handle) destroy(handle);
    }
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    operator Handle() const { return handle; }
    Handle handle = nullptr;
};
struct Stream : Owned<cudaStream_t, cudaStreamDestroy> {
    Stream() { must(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking)); }
};
struct Event : Owned<cudaEvent_t, cudaEventDestroy> {
    Event() { must(cudaEventCreate(&handle)); }
};

/// What work() puts on the stream, recorded once to be replayed.
class Graph {
  public:
    template <class Work>
    Graph(cudaStream_t stream, const Work& work) : stream_(stream) {
        must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        work();
        must(cudaStreamEndCapture(stream, &graph_.handle));
        must(cudaGraphInstantiate(&executable_.handle, graph_, 0));
    }
    void replay() { must(cudaGraphLaunch(executable_, stream_)); }

  private:
    cudaStream_t stream_;
    Owned<cudaGraph_t, cudaGraphDestroy> graph_;
    Owned<cudaGraphExec_t, cudaGraphExecDestroy> executable_;
};

}  // namespace assay::kernels::cuda::harness
