// What injected faults do to the state that a worker holds and writes down, and how it is noticed.
#pragma once

#include <cstdint>
#include <string>

#include "impls/nn/moe/checkpoint.hpp"
#include "impls/nn/moe/state.hpp"
#include "suite/cluster/pacer.hpp"
#include "suite/drive/worker.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::elastic {

/// Where a block is not what it was when it was last written on purpose; empty: all are.
inline std::string changed_in_memory(const nn::MoeState& state) {
    const auto block = state.corrupted_block();
    return block ? "the state of " + nn::block_name(*block) + " changed in memory" : "";
}
/// Why a step is not to be applied whose numbers are not finite; empty: they are.
inline std::string not_finite(const std::string& which) {
    return which.empty() ? "" : which + " is not a finite number";
}

/// Faults inside a worker, on its state and on what it writes of it.
class StateFaults {
  public:
    explicit StateFaults(std::uint64_t seed) : seed_(seed) {}

    /// nan: a step to come has numbers that are none. corrupt: a bit of the state flips.
    template <class Trainer>
    void suffer(Trainer& trainer, const drive::Strike& strike) {
        while (strike(FaultKind::nan)) trainer.poison_next_step();
        while (strike(FaultKind::corrupt)) trainer.flip_bit_of_state(seed_ + flipped_++);
    }

    /// What the checkpoint suffers that is about to be written. disk_full lasts.
    nn::CheckpointDamage damage(const drive::Strike& strike) {
        if (cluster::monotonic_s() < full_until_s_) return nn::CheckpointDamage::no_space;
        if (strike(FaultKind::torn)) return nn::CheckpointDamage::torn;
        const auto full = strike(FaultKind::disk_full);
        if (!full) return nn::CheckpointDamage::none;
        full_until_s_ = cluster::monotonic_s() + full->for_s.value_or(0);
        return nn::CheckpointDamage::no_space;
    }

  private:
    std::uint64_t seed_, flipped_ = 0;
    double full_until_s_ = 0;
};

}  // namespace assay::elastic
