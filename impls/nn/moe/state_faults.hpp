// What injected faults do to the state that a worker holds and writes down, and how it is noticed.
#pragma once

#include <deque>
#include <functional>
#include <stdexcept>
#include <string>

#include "impls/nn/moe/checkpoint.hpp"
#include "impls/nn/moe/state.hpp"
#include "suite/cluster/pacer.hpp"
#include "suite/scenario/fault_plan.hpp"

namespace assay::nn {

inline std::string changed_in_memory(const BlockKey& block) {
    return "the state of " + block_name(block) + " changed in memory";
}
/// Before state is given to others or written down. Throws std::runtime_error where a block is not
/// what it was when it was last written on purpose.
inline void require_sound(const MoeState& state) {
    if (const auto block = state.corrupted_block())
        throw std::runtime_error(changed_in_memory(*block));
}

/// Faults of kind torn and disk_full, which strike when a checkpoint is written.
class CheckpointFaults {
  public:
    /// `index`: in the fault plan.
    void add(const Fault& fault, std::size_t index) {
        const auto damage =
            fault.kind == FaultKind::torn ? CheckpointDamage::torn : CheckpointDamage::no_space;
        waiting_.push_back({damage, index, cluster::monotonic_s() + fault.for_s.value_or(0)});
    }
    /// What the checkpoint suffers that is about to be written. `struck`: told of a fault's index,
    /// the first time.
    CheckpointDamage next(const std::function<void(std::size_t)>& struck) {
        if (waiting_.empty()) return CheckpointDamage::none;
        auto& next = waiting_.front();
        const auto damage = next.damage;
        if (!next.struck) struck(next.index);
        next.struck = true;
        if (cluster::monotonic_s() >= next.until_s) waiting_.pop_front();
        return damage;
    }

  private:
    struct Waiting {
        CheckpointDamage damage;
        std::size_t index;
        double until_s;  // strikes once; until then again
        bool struck = false;
    };
    std::deque<Waiting> waiting_;
};

}  // namespace assay::nn
