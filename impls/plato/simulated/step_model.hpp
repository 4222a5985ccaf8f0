// A plan decoded in virtual time, by the controller that live engines have: steps of one length for
// all sequences beside each other.
#pragma once

#include <cstdint>
#include <vector>

#include "impls/plato/policy/controller.hpp"
#include "impls/plato/policy/plan_record.hpp"
#include "impls/plato/policy/prompts.hpp"

namespace assay::plato {

/// What a step takes: prefill_ms for each prompt token computed in it, step_ms, and sequence_ms for
/// each sequence that gets a token. Milliseconds.
struct StepCosts {
    double step_ms = 1;
    double sequence_ms = 0;
    double prefill_ms = 0;
};

struct ScheduleSettings {
    Mode mode = Mode::plato;
    KvReuse reuse = KvReuse::prefix;
    Order order = Order::path;
    int max_batch = 64;  ///< sequences side by side, an unfinished plan among them
    bool warm = false;   ///< instructions are cached before (not at KvReuse::none)
};

struct NodeSchedule {
    std::int64_t prompt_tokens = 0;
    std::int64_t recomputed_tokens = 0;  ///< of them, those not found in the cache
    double ready_ms = 0;                 ///< announced, and what it waits for is finished
    double start_ms = 0;                 ///< of the step that computes its prompt
    double end_ms = 0;                   ///< its last token is out
};

struct Schedule {
    double ar_ms = 0;  ///< the same question without a plan
    double makespan_ms = 0;
    /// The longest chain of nodes, each alone in its steps: no batch makes it shorter.
    double critical_path_ms = 0;
    std::int64_t answer_tokens = 0, plan_tokens = 0, steps = 0;
    std::int64_t prompt_tokens = 0, recomputed_tokens = 0;  ///< of nodes; of the answer without
    std::vector<NodeSchedule> nodes;                        ///< [number - 1]; none without a plan

    double speedup() const { return ar_ms / makespan_ms; }
};

/// Mode::sot decodes skeleton_of(plan); ar_ms is that of `plan`.
Schedule schedule(const PlanRecord& plan, const StepCosts& costs, const ScheduleSettings& settings);

}  // namespace assay::plato
