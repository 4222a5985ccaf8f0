// A training on spot instances: settings and what is measured, for fig9 and x_clocks and for
// fig9_run.cpp, in the module of tensors.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "impls/lazarus/experiments/trainings/training_experiment.hpp"
#include "impls/tensors/part.hpp"
#include "suite/experiment/metrics.hpp"
#include "suite/scenario/traces/spot_axes.hpp"

namespace assay::lazarus {

/// What exchanges cost: in closed form, or as flows that share links.
enum class Exchanges { closed, flows };
ASSAY_NAMES(Exchanges, closed, flows)

struct Fig9 : TrainingOnTheClock {
    SpotNodes spot;
    int compression = 60;
    Exchanges network{};
    Provenance provenance{};
    bool with_ends = false;  ///< simulated at those as well
    std::filesystem::path scratch, corpus;
    FaultPlan faults;  ///< of the nodes

    bool is_simulated() const { return provenance == Provenance::simulated; }
};

// What x_clocks has in common with it.
Axes<Fig9> fig9_axes();
void check_fig9(const Fig9& fig9);
std::optional<std::string> fig9_lacks(const Fig9& fig9);
std::vector<Input> fig9_inputs(const Fig9& fig9);

/// Sets what no axis says but the corpus.
void train_on(const MappedTrace& nodes, Fig9& fig9);

/// Emulated or measured.
inline const tensors::Part<void(const Fig9&, Recorder&)> train_fig9{"lazarus/fig9",
                                                                    tensors::Needs::text};

/// Beside CourseFound.
struct Fig9Found : Metrics {
    using Metrics::Metrics;
    Metric state_equal = metric(
        {.name = "state_equal_to_oracle",
         .unit = "bool",
         .says = "1: weights and moments equal bit for bit the fault-free replay of the membership",
         .better = higher,
         .deterministic = true,
         .only = {Provenance::emulated, Provenance::measured}});
    Metric overrun = of({Provenance::emulated}, "overrun", "fraction",
                        "by how much real work was late, of the modelled time", lower);
    Metric speed = of({Provenance::emulated}, "speed", "ratio",
                      "scenario seconds per real second, median", none);
    Metric flows_over_closed_form =
        of({Provenance::simulated}, "flows_over_closed_form", "ratio",
           "network flows: seconds of all exchanges simulated as flows, over those that the closed "
           "form gives",
           none);
    Metric real_detect_s = of({Provenance::emulated, Provenance::measured}, "real_detect_s", "s",
                              "real time from kills to the supervisor knowing, median", lower);
    Metric real_regroup_s = of({Provenance::emulated, Provenance::measured}, "real_regroup_s", "s",
                               "real time of a regroup with its transfers, median", lower);

  private:
    Metric of(std::vector<Provenance> only, std::string name, std::string unit, std::string says,
              Direction better) {
        return metric({.name = std::move(name),
                       .unit = std::move(unit),
                       .says = std::move(says),
                       .better = better,
                       .only = std::move(only)});
    }
};

/// Fig. 9's training under one of two plans of faults.
enum class ClockFaults { spot, controlled };
ASSAY_NAMES(ClockFaults, spot, controlled)

struct XClocks : Fig9 {
    ClockFaults kind{};
};

inline const tensors::Part<void(const XClocks&, Recorder&)> train_x_clocks{"lazarus/x_clocks",
                                                                           tensors::Needs::text};

struct XClocksFound : Metrics {
    using Metrics::Metrics;
    Metric samples_total =
        varying("samples_total", "count", "sequences trained in steps that were not lost again",
                none, {"clock"});
    Metric restarts = varying("restarts", "count", "returns to a checkpoint after nodes were lost",
                              none, {"clock"});
    Metric error = varying(
        "error", "fraction",
        "by how much the simulation is off, whichever way. Of samples_total, mean_nodes_used and "
        "step_s: of what the processes have. Of samples_lost: of their samples_total. Of "
        "restarts: of their restarts, or of 1. Of the shares of the time: of the time",
        lower, {"of"});
    Metric median_error = varying("median_error", "fraction", "the median of these errors", lower);
    Metric speedup =
        varying("speedup", "ratio", "real seconds of the paced training over the simulated one's");
    Metric decides_the_same_again = exact(
        "decides_the_same_again", "bool",
        "1: told of the simulation's recorded events alone, the controller takes the same actions",
        higher);
};

}  // namespace assay::lazarus
