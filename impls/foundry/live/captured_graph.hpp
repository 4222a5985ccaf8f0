// A graph as the driver captured it.
#pragma once

#include <exception>
#include <utility>

#include "impls/foundry/driver/driver_table.hpp"

namespace assay::foundry {

/// Destroyed with this.
class CapturedGraph {
  public:
    CapturedGraph(const Driver& driver, CUgraph graph) : driver_(&driver), graph_(graph) {}
    ~CapturedGraph() {
        if (graph_ != nullptr) driver_->cuGraphDestroy(graph_);
    }
    CapturedGraph(CapturedGraph&& other) noexcept
        : driver_(other.driver_), graph_(std::exchange(other.graph_, nullptr)) {}
    CapturedGraph& operator=(CapturedGraph&&) = delete;
    CUgraph get() const { return graph_; }

  private:
    const Driver* driver_;
    CUgraph graph_;
};

/// What `work` launches into the stream; it may allocate and load kernels. Throws DriverError, and
/// what `work` throws, with the capture ended.
template <class Work>
CapturedGraph capture(const Driver& driver, CUstream stream, Work work) {
    check(driver, driver.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED),
          "cuStreamBeginCapture");
    std::exception_ptr failure;
    try {
        work();
    } catch (...) {
        failure = std::current_exception();
    }
    CUgraph graph = nullptr;
    const CUresult result = driver.cuStreamEndCapture(stream, &graph);
    CapturedGraph captured(driver, graph);
    if (failure) std::rethrow_exception(failure);
    check(driver, result, "cuStreamEndCapture");
    return captured;
}

}  // namespace assay::foundry
