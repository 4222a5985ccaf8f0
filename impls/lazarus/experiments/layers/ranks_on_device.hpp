// Fig. 10a's layer on one device of libtorch: logical ranks, one after another, their rows moved by
// the kernels' dispatch (kernels/dispatch).
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "impls/lazarus/experiments/layers/layer_times.hpp"
#include "impls/nn/parameter_block.hpp"
#include "kernels/plugin/timed_device.hpp"

namespace assay::lazarus {

/// Every rank has buffers of its own; ranks share the experts' weights, which they only read. Where
/// the rule is Lazarus', the schedule is the kernels', checked against Dispatcher::layout(); else
/// it comes from there, and takes no time. What the host of a rank must hear of the schedule before
/// it can receive is known beforehand. Copies in memory stand for the network.
class RanksOnDevice {
  public:
    /// `device` works on libtorch's current stream of where `place` is. Throws SampleError (failed)
    /// where the kernels' schedule is not the dispatcher's.
    RanksOnDevice(const kernels::TimedDevice& device, at::Device place, at::ScalarType type,
                  const SkewedLayer& layer);

    RanksOnDevice(const RanksOnDevice&) = delete;
    RanksOnDevice& operator=(const RanksOnDevice&) = delete;

    PhaseTimes forward() const;
    /// Of a rank: its rows, and what forward() made of them.
    const at::Tensor& rows(int rank) const { return ranks_[std::size_t(rank)].rows; }
    const at::Tensor& combined(int rank) const { return ranks_[std::size_t(rank)].combined; }
    const nn::ParameterBlock& expert(std::int64_t e) const { return experts_[std::size_t(e)]; }

  private:
    struct Copy {
        std::int64_t from = 0, to = 0, rows = 0;
    };
    struct Rank {
        at::Tensor rows, sent, received, by_expert, hidden, computed, returned, back, combined;
        at::Tensor choices, places, grouped;                 ///< int32
        at::Tensor send_first, receive_first, expert_first;  ///< int32
        std::vector<std::int64_t> begins;                    ///< [experts + 1] rows by expert
        std::vector<Copy> from;  ///< [source]: of what it sent, to what this one received
        /// Recorded where the device can.
        std::function<void()> schedule_and_shuffle, receive, group, compute, ungroup, return_rows,
            unshuffle;
    };

    Rank make_rank(const SkewedLayer& layer, const Dispatcher& dispatcher, int rank);
    void schedule(const Rank& rank, int number) const;
    void check_schedule(const Rank& rank, int number, const at::Tensor& places,
                        const at::Tensor& grouped) const;
    void move(const at::Tensor& places, const at::Tensor& from, const at::Tensor& to,
              bool back) const;
    void compute(const Rank& rank) const;
    void copy_rows(const at::Tensor& from, std::int64_t first, const at::Tensor& to,
                   std::int64_t first_there, std::int64_t rows) const;
    void record(Rank& rank, int number);

    const kernels::TimedDevice& device_;
    at::TensorOptions options_;
    bool own_schedule_;
    int width_;
    kernels::TimedDevice::Memory busy_;
    std::vector<nn::ParameterBlock> experts_;
    at::Tensor tokens_, replicas_;  ///< int32 [experts][ranks]
    std::vector<Rank> ranks_;
};

}  // namespace assay::lazarus
