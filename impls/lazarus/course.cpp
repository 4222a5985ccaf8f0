#include "impls/lazarus/course.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace assay::lazarus {

void record_group(const NewGroup& group, TrainingCourse& course, Recorder& recorder) {
    if (group.restored && group.after_death && group.reason != RestartReason::planned)
        course.restarts.push_back(group.since_s);
    course.workers.emplace_back(group.ready_s, group.training);
    const bool restart = group.restored && group.epoch > 1;
    nlohmann::json detail{{"epoch", group.epoch},
                          {"step", group.step},
                          {"why", group.why},
                          {"members", group.members},
                          // The training's time begins when its first group is ready.
                          {"seconds", std::max(0.0, group.ready_s - group.since_s)}};
    if (restart) detail["reason"] = to_string(group.reason);
    recorder.event(restart ? "restart" : "regroup", group.since_s, -1, detail);
}

}  // namespace assay::lazarus
