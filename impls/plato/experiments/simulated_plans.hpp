// A set of plans decoded in virtual time, as an experiment: what all of Plato's have in common.
#pragma once

#include <string>
#include <vector>

#include "suite/experiment/experiment.hpp"

namespace assay::plato {

struct PlansExperiment {
    std::string id, title, source, says;
    std::vector<Axis> axes;  ///< beside model and device; "plans", "density" and "kv" are known
    std::vector<std::string> variants;
    Figure figure;
};
Experiment plans_experiment(PlansExperiment declared);

}  // namespace assay::plato
