// What became of a training, however it was driven: in real processes, paced, or simulated.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "impls/lazarus/policy/controller/controller.hpp"
#include "suite/base/describe.hpp"
#include "suite/drive/pauses.hpp"
#include "suite/experiment/recorder.hpp"

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
ASSAY_NAMES(Pause, checkpoint, reconfiguration, restart)

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

/// A group whose first step is about to begin.
struct NewGroup {
    Epoch epoch = 0;
    Step step = 0;          ///< the first one
    bool restored = false;  ///< from a checkpoint or, in epoch 1, from the seed
    bool after_death = false;
    RestartReason reason{};   ///< where it is restored
    std::string why;          ///< of its Reconfigure
    std::size_t members = 0;  ///< leavers included
    int training = 0;
    double since_s = 0;  ///< when the group before it came to an end
    double ready_s = 0;
};

/// The group as the course keeps it and as the timeline tells it ("restart" or "regroup", at
/// since_s). A return is what loses steps: a planned restart that a death interrupted is none.
void record_group(const NewGroup& group, TrainingCourse& course, Recorder& recorder);

}  // namespace assay::lazarus
