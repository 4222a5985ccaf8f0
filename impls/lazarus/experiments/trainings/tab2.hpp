// Several nodes lost at once: settings and what is measured, for tab2.cpp, which declares and
// counts, and tab2_run.cpp, in the module of tensors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "impls/tensors/part.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::lazarus {

struct Tab2 {
    std::string model, trace;
    std::int64_t step = 0;  ///< whose loads are planned for
    Provenance provenance{};
    std::uint64_t seed = 1;
    std::filesystem::path scratch;

    bool is_large() const { return model == "gpt-l"; }
    int experts() const { return is_large() ? 16 : 8; }
    int lost() const { return (is_large() ? 4 : 2) + (step == 4000 ? 1 : 0); }
};

/// The emulated half: kills so many of ten paced workers at once, after they have planned for the
/// loads of the step. `routing`: "synthetic" or the file of a routing trace.
inline const tensors::Part<void(const Tab2&, const std::string& routing,
                                const std::filesystem::path& corpus, Recorder&)>
    lose_workers{"lazarus/tab2", tensors::Needs::text};

struct Tab2Found : Metrics {
    using Metrics::Metrics;
    // Over every set of victims.
    Metric transfers =
        counted("transfers", "expert states moved: least, median, most over the sets of victims",
                lower, "over_sets");
    Metric victim_sets =
        counted("victim_sets", "recoverable sets of victims, by the expert states that then travel",
                none, "transfers");
    Metric loss_sets =
        counted("loss_sets", "sets of victims after which training recovers from peers, or not",
                none, "kind");
    // Of one set of real kills.
    Metric recovered =
        emulated("recovered", "bool", "1: from peers; 0: from a checkpoint", higher, true);
    Metric states_moved =
        emulated("states_moved", "count", "expert states that travelled", lower, true);
    Metric reconfiguration_s = emulated(
        "reconfiguration_s", "s", "modelled: detection, regrouping and transfers", lower, true);
    Metric transfer_s = emulated("transfer_s", "s", "modelled: transfers alone", lower, true);
    Metric real_detect_s =
        emulated("real_detect_s", "s",
                 "the machine's own: from the kills to the supervisor knowing", lower, false);
    Metric real_regroup_s = emulated(
        "real_regroup_s", "s", "the machine's own: plan, new group and transfers", lower, false);

  private:
    Metric counted(std::string name, std::string says, Direction better, std::string label) {
        return metric({std::move(name),
                       "count",
                       std::move(says),
                       better,
                       true,
                       {std::move(label)},
                       {Provenance::exact}});
    }
    Metric emulated(std::string name, std::string unit, std::string says, Direction better,
                    bool deterministic) {
        return metric({std::move(name),
                       std::move(unit),
                       std::move(says),
                       better,
                       deterministic,
                       {},
                       {Provenance::emulated}});
    }
};

}  // namespace assay::lazarus
