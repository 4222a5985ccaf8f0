// The loss while nodes are lost: settings and what is measured, for x_loss.cpp, which declares, and
// x_loss_run.cpp, in the module of tensors.
#pragma once

#include <cstdint>
#include <filesystem>

#include "impls/tensors/part.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::lazarus {

enum class LossArm {
    fault_free,
    shrunk,
    shrunk_root_rate,
    shrunk_linear_rate,
    batch_kept,
    batch_kept_root_rate
};
ASSAY_NAMES(LossArm, fault_free, shrunk, shrunk_root_rate, shrunk_linear_rate, batch_kept,
            batch_kept_root_rate)

struct XLoss {
    int workers = 4, workers_left = 2, sequences = 4;
    std::int64_t steps = 300;
    double learning_rate = 2e-3;
    LossArm arm{};
    std::uint64_t seed = 1;
    std::filesystem::path shared, corpus;
};

inline const tensors::Part<void(const XLoss&, Recorder&)> train_x_loss{"lazarus/x_loss",
                                                                       tensors::Needs::text};

struct XLossFound : Metrics {
    using Metrics::Metrics;
    Metric held_out_loss = loss("held_out_loss", "after so many training sequences", {"samples"});
    Metric held_out_loss_by_step = loss("held_out_loss_by_step", "after so many updates", {"step"});
    Metric over_fault_free = loss(
        "over_fault_free", "held-out loss less that of fault_free with this seed", {"samples"});
    Metric over_fault_free_by_step =
        loss("over_fault_free_by_step", "the same after equally many updates", {"step"});
    Metric final_over_fault_free = loss("final_over_fault_free", "over_fault_free at the end", {});
    Metric updates = exact("updates", "count", "of the weights, over all sequences");
    Metric passes =
        exact("passes", "count",
              "the busiest worker's forward and backward passes of `sequences` sequences, one "
              "after another: time but for reductions and updates",
              lower);

  private:
    Metric loss(std::string_view name, std::string_view says, Labelled labels) {
        return exact(name, "nat/byte", says, lower, labels);
    }
};

}  // namespace assay::lazarus
