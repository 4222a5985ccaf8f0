// The fake driver with a context, as its tests use it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "impls/foundry/driver/fake/control.hpp"

namespace assay::foundry::fake {

/// What layouts.cu's kernels do, on the host.
inline void run_mangled(const HostLaunch& launch) {
    const auto [out, value] = launch.parameters<double*, double>();
    *out = value;
}
struct Shape {
    float* data;
    int rows, columns;
    double scale;
};
inline void run_shaped(const HostLaunch& launch) {
    const auto [x, n, shape] = launch.parameters<float*, int, Shape>();
    x[n] = shape.data[shape.rows] * static_cast<float>(shape.scale);
}
inline void run_clustered(const HostLaunch& launch) {
    const auto [out] = launch.parameters<int*>();
    for (std::uint32_t block = 0; block < launch.grid[0]; ++block) out[block] = 1;
}
inline void run_no_params(const HostLaunch&) { throw std::runtime_error("a trap"); }
inline constexpr const char* mangled = "_Z7mangledIdEvPT_S0_";
inline constexpr HostKernel layouts_kernels[] = {{mangled, run_mangled},
                                                 {"shaped", run_shaped},
                                                 {"clustered", run_clustered},
                                                 {"no_params", run_no_params}};

inline std::string read_file(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}
inline std::string layouts_image() {
    return read_file(std::string(ASSAY_FOUNDRY_IMAGES) + "/layouts.fatbin");
}

/// Undoes in the order opposite to that of doing.
class Cleanup {
  public:
    ~Cleanup() { now(); }
    void now() {
        while (!undo_.empty()) {
            undo_.back()();
            undo_.pop_back();
        }
    }
    void operator()(std::function<void()> undo) { undo_.push_back(std::move(undo)); }

  private:
    std::vector<std::function<void()>> undo_;
};

#define OK(expression) ASSERT_EQ(expression, CUDA_SUCCESS)

class FakeDevice : public testing::Test {
  protected:
    FakeDevice() : driver_(open_driver(ASSAY_FOUNDRY_FAKE)), d(*driver_), fake(d) {
        fake.reset();
        fake.add_kernels(layouts_kernels);
    }
    void SetUp() override {
        OK(d.cuInit(0));
        OK(d.cuDevicePrimaryCtxRetain(&context, 0));
        OK(d.cuCtxSetCurrent(context));
    }
    /// Memory that the kernels may use.
    template <class Type>
    Type* device_memory(std::size_t count) {
        CUdeviceptr at = 0;
        EXPECT_EQ(d.cuMemAlloc(&at, count * sizeof(Type)), CUDA_SUCCESS);
        EXPECT_EQ(d.cuMemsetD8Async(at, 0, count * sizeof(Type), nullptr), CUDA_SUCCESS);
        return reinterpret_cast<Type*>(at);
    }
    CUlibrary load(const std::string& image) {
        CUlibrary library = nullptr;
        EXPECT_EQ(
            d.cuLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_SUCCESS);
        return library;
    }
    CUkernel kernel(CUlibrary library, const std::string& name) {
        unsigned count = 0;
        EXPECT_EQ(d.cuLibraryGetKernelCount(&count, library), CUDA_SUCCESS);
        std::vector<CUkernel> kernels(count);
        EXPECT_EQ(d.cuLibraryEnumerateKernels(kernels.data(), count, library), CUDA_SUCCESS);
        for (const CUkernel kernel : kernels) {
            const char* found = nullptr;
            EXPECT_EQ(d.cuKernelGetName(&found, kernel), CUDA_SUCCESS);
            if (found == name) return kernel;
        }
        ADD_FAILURE() << "no kernel " << name;
        return nullptr;
    }

  private:
    std::shared_ptr<const Driver> driver_;

  protected:
    const Driver& d;
    FakeControl fake;
    CUcontext context = nullptr;
};

}  // namespace assay::foundry::fake
