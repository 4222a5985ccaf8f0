// A set of plans decoded, in virtual time or by the engine, as an experiment: what Plato's have in
// common.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "suite/experiment/experiment.hpp"

namespace assay::plato {

struct PlansExperiment {
    std::string id, title, source, says;
    std::vector<Axis> axes;  ///< beside model and device; "plans", "density" and "kv" are known
    std::vector<std::string> variants;
    Figure figure;
    /// At toy, which the engine measures: fewer values of axes, and variants; empty: all.
    std::map<std::string, std::vector<Value>> toy_axes = {};
    std::vector<std::string> toy_variants = {};
    bool simulated_first = false;  ///< at toy, where nobody says which
    /// What measured samples are compared with, in time: no plan; waiting for the whole plan.
    bool with_ar = true, with_waiting = false;
    double seconds_per_sample = 30;  ///< measured
};
Experiment plans_experiment(PlansExperiment declared);

}  // namespace assay::plato
