// The toy decode step on a driver: what an engine has that captures its step. The same launches
// run at once or are captured, whichever the stream does.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "impls/foundry/driver/driver_table.hpp"
#include "impls/foundry/toy/step_plan.hpp"

namespace assay::foundry::toy {

/// What the step asks of its surroundings, which own what they give.
class StepResources {
  public:
    virtual ~StepResources() = default;
    /// Asked in a fixed order: shared_buffers() by the constructor, then "activations/B" and
    /// "row_values/B" by the first launch of batch size B.
    virtual CUdeviceptr allocate(const std::string& name, std::uint64_t bytes) = 0;
    /// Where the ranks' heaps lie, this one's zeroed; asked by the constructor, behind the shared
    /// buffers, where there are several ranks. Throws std::logic_error: there is one.
    virtual RankHeaps heaps(std::uint64_t bytes);
    /// Of decode_image(); asked each time when something is launched.
    virtual CUfunction kernel(const std::string& name) = 0;
};

/// A sequence's part of a step.
struct Row {
    int token = 0;
    int position = 0;
    std::vector<int> blocks;  ///< of the cache: its positions', in order
};

/// Errors of the driver are DriverErrors. Needs a current context.
class DecodeStep {
  public:
    /// Allocates, clears all, and brings the weights there.
    DecodeStep(const Driver& driver, StepResources& resources, const DecodeSettings& settings);
    ~DecodeStep();
    DecodeStep(const DecodeStep&) = delete;
    DecodeStep& operator=(const DecodeStep&) = delete;

    /// What the next step decodes, whichever way it is launched. std::logic_error for more than
    /// the largest batch size, or more blocks than a sequence has.
    void set_inputs(std::span<const Row> rows, const RandomState& random);
    /// The step of a batch size. A stream that captures has to allow what the resources call when
    /// asked for memory or a kernel for the first time (CU_STREAM_CAPTURE_MODE_RELAXED).
    void launch(int batch, CUstream stream);
    /// The tokens that it sampled, of its first `rows` rows; whoever launched it has waited for it.
    std::vector<int> tokens(int rows) const;

    const DecodeSettings& settings() const { return settings_; }
    /// Those that batch sizes share.
    const StepBuffers& buffers() const { return buffers_; }

  private:
    struct Nothing {};  // yet: what a constructor that throws has made is destroyed
    DecodeStep(const Driver& driver, StepResources& resources, const DecodeSettings& settings,
               Nothing)
        : driver_(driver), resources_(resources), settings_(settings) {}
    void write(Address to, const void* from, std::uint64_t bytes);
    void write_weights(Address to, int tensor, int words);
    StepBuffers buffers_of(int batch);
    void launch(const StepNode& node, CUstream stream);

    const Driver& driver_;
    StepResources& resources_;
    DecodeSettings settings_;
    StepBuffers buffers_;
    std::map<int, std::pair<Address, Address>> of_batch_;  // activations, row values
    CUstream branch_ = nullptr;
    CUevent forks_ = nullptr, joins_ = nullptr;
};

}  // namespace assay::foundry::toy
