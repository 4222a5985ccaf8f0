// What samples of the figures on the paper's GPUs record of an arm.
#pragma once

#include "impls/hetermoe/simulated/arms.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::hetermoe {

struct ArmFound : Metrics {
    using Metrics::Metrics;
    Metric tokens_per_s =
        of_time("tokens_per_s", "1/s", "tokens of the batch per second of a step");
    Metric new_busy = of_time("new_busy", "share", "of the step in which a new GPU computes");
    Metric old_busy = of_time("old_busy", "share", "of the step in which an old GPU computes");
    Metric micro_batches =
        exact("micro_batches", "count", "of a step and new GPU: the best number");
    Metric moved = exact("moved", "share", "of all experts, those on new GPUs");
    Metric fits = exact("fits", "bool", "whether it fits into memory", higher);

    void record(const ArmResult& result) const {
        tokens_per_s(result.tokens_per_s);
        if (result.new_busy) new_busy(*result.new_busy);
        if (result.old_busy) old_busy(*result.old_busy);
        micro_batches(result.micro_batches);
        moved(result.moved);
    }

  private:
    Metric of_time(std::string name, std::string unit, std::string says) {
        return exact_unless({Provenance::emulated}, std::move(name), std::move(unit),
                            std::move(says), higher);
    }
};

}  // namespace assay::hetermoe
