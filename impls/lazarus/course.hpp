// What became of a training, however it was driven: in real processes, paced, or simulated.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "impls/lazarus/policy/controller/controller.hpp"
#include "suite/drive/pauses.hpp"

namespace assay::lazarus {

/// One step that was committed, whether or not a fallback undid it later.
struct StepRecord {
    Step step = 0;
    double start_s = 0, end_s = 0;
    int workers = 0;
    double loss = 0;  ///< mean nats per token; 0 where nothing is computed
};

/// What the modelled cluster does while it does not train (paced and simulated trainings).
enum class Pause { checkpoint, reconfiguration, restart };

struct TrainingCourse {
    bool ok = false;
    std::string why;  ///< how it ended
    Controller::Counts counts;
    std::vector<CommittedStep> lineage;
    std::vector<StepRecord> steps;                ///< in the order in which they were committed
    std::vector<std::pair<double, int>> workers;  ///< (time, how many train) at each change
    bool gave_up = false;          ///< too few workers were left, and none would join
    std::vector<double> restarts;  ///< when a loss sent everyone back to a checkpoint
    drive::Pauses<Pause> pauses;
};

}  // namespace assay::lazarus
