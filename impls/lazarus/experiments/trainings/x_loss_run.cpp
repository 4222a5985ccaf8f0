#include "impls/lazarus/experiments/trainings/x_loss.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "impls/lazarus/experiments/trainings/loss_course.hpp"
#include "suite/base/durable_file.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {
namespace {

namespace fs = std::filesystem;

/// What an arm does while fewer than all workers train; of fault_free, who loses none, anything.
BatchRule rule_of(LossArm arm, int workers) {
    const bool keeps = arm == LossArm::batch_kept || arm == LossArm::batch_kept_root_rate;
    const bool root = arm == LossArm::shrunk_root_rate || arm == LossArm::batch_kept_root_rate;
    const bool linear = arm == LossArm::shrunk_linear_rate;
    return {.batch = keeps ? BatchRule::Batch::keep : BatchRule::Batch::shrink,
            .rate = root     ? BatchRule::Rate::root
                    : linear ? BatchRule::Rate::linear
                             : BatchRule::Rate::keep,
            .full_workers = workers};
}

LossCourseOptions options_of(const XLoss& loss) {
    LossCourseOptions options;
    auto& training = options.training;
    training.model = {
        .layers = 2, .width = 48, .heads = 4, .experts = 4, .hidden = 96, .context = 32};
    training.adam.learning_rate = loss.learning_rate;
    training.sequences = loss.sequences;
    training.batch = rule_of(loss.arm, loss.workers);
    training.seed = loss.seed;
    training.corpus = loss.corpus.string();
    options.steps = loss.steps;
    options.samples = options.steps * training.sequences * loss.workers;
    options.workers = [all_workers = loss.workers, left = loss.workers_left,
                       lost = loss.arm != LossArm::fault_free,
                       all = options.samples](std::int64_t samples) {
        const std::int64_t tenth = samples * 10 / all;
        if (!lost || tenth < 4) return all_workers;
        return tenth >= 5 && tenth < 8 ? left : (all_workers + left) / 2;
    };
    return options;
}

/// Of this seed; trained once in a session.
LossCourse fault_free_course(XLoss loss) {
    loss.arm = LossArm::fault_free;
    const auto options = options_of(loss);
    if (loss.shared.empty()) return follow_loss(options);
    const fs::path file =
        loss.shared / fmt::format("x_loss-{}-{}-{}-{}-{}.json", loss.seed, loss.steps, loss.workers,
                                  loss.sequences, loss.learning_rate);
    if (fs::exists(file)) return loss_course_from(nlohmann::json::parse(std::ifstream(file)));
    const auto course = follow_loss(options);
    fs::create_directories(loss.shared);
    const fs::path aside = file.string() + ".new";
    std::ofstream(aside) << to_json(course);
    publish(aside, file);
    return course;
}

/// At the end of each part of `whole`, under the label.
void record_points(const Metric& metric, const std::vector<double>& values, const char* label,
                   std::int64_t whole) {
    const auto parts = static_cast<std::int64_t>(values.size());
    for (std::int64_t i = 0; i < parts; ++i)
        metric(values[static_cast<std::size_t>(i)], {{label, whole * (i + 1) / parts}});
}

std::vector<double> differences(std::vector<double> values, const std::vector<double>& from) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] -= from.at(i);
    return values;
}

void train(const XLoss& loss, Recorder& recorder) {
    auto options = options_of(loss);
    options.progress = [&](double share) { recorder.progress(share, "sequences"); };
    const auto fault_free = fault_free_course(loss);
    const bool is_reference = loss.arm == LossArm::fault_free;
    const auto course = is_reference ? fault_free : follow_loss(options);

    const XLossFound found(recorder);
    record_points(found.held_out_loss, course.by_samples, "samples", options.samples);
    record_points(found.held_out_loss_by_step, course.by_steps, "step", options.steps);
    found.updates(course.training_loss.size());
    found.passes(course.passes);
    recorder.time_series("training_loss", "nat/byte", course.samples, course.training_loss);
    if (is_reference) return;
    const auto excess = differences(course.by_samples, fault_free.by_samples);
    record_points(found.over_fault_free, excess, "samples", options.samples);
    record_points(found.over_fault_free_by_step, differences(course.by_steps, fault_free.by_steps),
                  "step", options.steps);
    found.final_over_fault_free(excess.back());
}

const tensors::Provided provided(train_x_loss, train);

}  // namespace
}  // namespace assay::lazarus
