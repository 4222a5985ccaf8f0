#include "impls/rlboost/experiments/x_exact.hpp"

#include <algorithm>
#include <filesystem>
#include <string>

#include "impls/decode/service/engine_role.hpp"
#include "impls/rl/live/trainer.hpp"
#include "impls/rlboost/experiments/toy_training.hpp"
#include "suite/cluster/pacer.hpp"
#include "suite/drive/processes/process_driver.hpp"

namespace assay::rlboost {
namespace {

rl::TrainingRunSettings settings_of(const XExact& exact, const std::filesystem::path& folder) {
    rl::TrainingRunSettings settings =
        toy_training(exact.task, exact.difficulty, exact.seed, folder);
    settings.samples.samples = exact.samples;
    settings.samples.loss =
        exact.lost == Lost::resume ? decode::Loss::resume : decode::Loss::restart;
    settings.trainer.shown_steps = 100;
    settings.engine.options.max_batch = 8;  // that samples wait when one is killed
    settings.engines = exact.workers;
    settings.updates = exact.updates;
    settings.prompts = exact.prompts;
    return settings;
}

class Training {
  public:
    Training(const XExact& exact, const char* name, bool disturbed)
        : exact_(exact), disturbed_(disturbed), folder_(exact.scratch / name) {}

    void run(Recorder& recorder) {
        drive::ProcessOptions options;
        if (disturbed_) options.faults = exact_.faults;
        drive::ProcessDriver driver(
            {rl::trainer_role(), decode::engine_role(decode::models_of_files())}, options,
            recorder);
        const double begun_s = cluster::monotonic_s();
        course = rl::TrainingRun(driver, settings_of(exact_, folder_))
                     .run([&](const rl::TrainingRun::Now& now) {
                         if (disturbed_) kill_one(driver, now);
                     });
        seconds = cluster::monotonic_s() - begun_s;
        faults_fired = driver.faults_struck() - killed_;
    }

    rl::TrainingCourse course;
    double seconds = 0;
    long faults_fired = 0;  ///< of the plan

  private:
    /// One that is at work, once an update.
    void kill_one(drive::Driver& driver, const rl::TrainingRun::Now& now) {
        const auto half = static_cast<std::size_t>(exact_.prompts * exact_.samples) / 2;
        if (killed_ == exact_.kills || now.update != killed_ + 1 || now.open == 0 ||
            now.open > half)
            return;
        for (const decode::EngineClient& engine : now.engines.engines()) {
            if (!engine.ready() || now.engines.pool().with(engine.seat()).empty()) continue;
            driver.strike({.kind = FaultKind::kill, .rank = engine.worker()});
            ++killed_;
            return;
        }
    }

    const XExact& exact_;
    bool disturbed_;
    std::filesystem::path folder_;
    long killed_ = 0;
};

void run(const XExact& exact, Recorder& recorder) {
    Training disturbed(exact, "disturbed", true), undisturbed(exact, "undisturbed", false);
    disturbed.run(recorder);
    undisturbed.run(recorder);
    const rl::TrainingCourse& course = disturbed.course;
    const ExactFound found(recorder);
    const auto equal = [](const rl::UpdateRecord& a, const rl::UpdateRecord& b) {
        return a.weights.digest == b.weights.digest;
    };
    found.weights_equal(std::ranges::equal(course.updates, undisturbed.course.updates, equal) ? 1
                                                                                              : 0);
    found.lost(std::max(0L, course.asked - course.answered));
    found.twice(std::max(0L, course.answered - course.asked));
    found.stale_tokens(course.stale_tokens);
    found.workers_killed(course.engines_lost);
    found.faults_fired(disturbed.faults_fired);
    found.continued(course.resumed);
    double mismatch = 0;
    for (std::size_t update = 0; update < course.updates.size(); ++update) {
        found.reward(course.updates[update].reward,
                     {{"update", static_cast<std::int64_t>(update)}});
        mismatch = std::max(mismatch, course.updates[update].weights.mismatch);
    }
    found.mismatch(mismatch);
    found.seconds(disturbed.seconds);
    found.seconds_undisturbed(undisturbed.seconds);
}

const tensors::Provided provided(train_x_exact, run);

}  // namespace
}  // namespace assay::rlboost
