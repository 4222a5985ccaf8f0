#include "impls/rlboost/experiments/x_learns.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "impls/decode/service/engine_role.hpp"
#include "impls/rl/live/trainer.hpp"
#include "impls/rlboost/experiments/toy_training.hpp"
#include "suite/cluster/pacer.hpp"
#include "suite/drive/processes/process_driver.hpp"

namespace assay::rlboost {
namespace {

rl::TrainingRunSettings settings_of(const XLearns& learns) {
    rl::TrainingRunSettings settings =
        toy_training(learns.task, learns.difficulty, learns.seed, learns.scratch / "weights");
    settings.samples.samples = learns.samples;
    settings.trainer.shown_steps = 2000;
    settings.trainer.start_accuracy = learns.start;
    settings.trainer.learning_rate = learns.rate;
    if (learns.learner == Learner::dr_grpo) settings.trainer.estimator = rl::Estimator::dr_grpo;
    if (learns.learner == Learner::shuffled) settings.feedback = rl::Feedback::shuffled;
    if (learns.learner == Learner::sft) settings.feedback = rl::Feedback::answers;
    settings.engines = learns.workers;
    settings.updates = learns.updates;
    settings.prompts = learns.prompts;
    settings.tested_prompts = learns.tested_prompts;
    return settings;
}

void keep_responses(const rl::TrainingCourse& course, Recorder& recorder) {
    std::vector<std::vector<Value>> rows;
    const auto add = [&](const char* phase, const rl::Tested& tested) {
        for (const rl::SampleGroup& each : tested.answers)
            rows.push_back({std::string(phase), each.question.prompt, each.samples[0].response,
                            each.samples[0].reward});
    };
    add("before", course.before);
    add("after", course.after);
    recorder.table(
        "responses",
        std::vector<TableColumn>{{"phase", ""}, {"prompt", ""}, {"response", ""}, {"reward", ""}},
        rows);
}

void run(const XLearns& learns, Recorder& recorder) {
    const rl::TrainingRunSettings settings = settings_of(learns);
    drive::ProcessOptions options;
    options.faults = learns.faults;
    drive::ProcessDriver driver(
        {rl::trainer_role(), decode::engine_role(decode::models_of_files())}, options, recorder);
    const auto report = [&](const rl::TrainingRun::Now& now) {
        recorder.progress(static_cast<double>(now.update) / static_cast<double>(learns.updates),
                          "updates");
    };
    const double begun_s = cluster::monotonic_s();
    const rl::TrainingCourse course = rl::TrainingRun(driver, settings).run(report);
    const double seconds = cluster::monotonic_s() - begun_s;
    const LearnsFound found(recorder);
    found.gain(course.after.accuracy - course.before.accuracy);
    found.accuracy_before(course.before.accuracy);
    found.accuracy_after(course.after.accuracy);
    double tokens = 0, zero_variance = 0, mismatch = 0;
    for (std::size_t i = 0; i < course.updates.size(); ++i) {
        const rl::UpdateRecord& update = course.updates[i];
        found.reward(update.reward, {{"update", static_cast<std::int64_t>(i)}});
        tokens += update.length * learns.prompts * learns.samples;
        zero_variance += update.zero_variance / static_cast<double>(course.updates.size());
        mismatch = std::max(mismatch, update.weights.mismatch);
    }
    found.truncated(course.updates.back().truncated);
    found.zero_variance(zero_variance);
    found.mismatch(mismatch);
    found.tokens_per_s(tokens / seconds);
    keep_responses(course, recorder);
}

const tensors::Provided provided(train_x_learns, run);

}  // namespace
}  // namespace assay::rlboost
