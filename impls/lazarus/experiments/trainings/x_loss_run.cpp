#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "impls/lazarus/experiments/trainings/loss_course.hpp"
#include "impls/lazarus/tensor_functions.hpp"
#include "suite/base/durable_file.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {
namespace {

namespace fs = std::filesystem;

constexpr const char* reference = "fault_free";

/// What an arm does while fewer than all workers train; of fault_free, who loses none, anything.
BatchRule rule_of(const std::string& variant, int workers) {
    using Batch = BatchRule::Batch;
    using Rate = BatchRule::Rate;
    static const std::map<std::string, std::pair<Batch, Rate>> rules{
        {reference, {Batch::shrink, Rate::keep}},
        {"shrunk", {Batch::shrink, Rate::keep}},
        {"shrunk_root_rate", {Batch::shrink, Rate::root}},
        {"shrunk_linear_rate", {Batch::shrink, Rate::linear}},
        {"batch_kept", {Batch::keep, Rate::keep}},
        {"batch_kept_root_rate", {Batch::keep, Rate::root}}};
    const auto [batch, rate] = rules.at(variant);
    return {.batch = batch, .rate = rate, .full_workers = workers};
}

LossCourseOptions options_of(const SampleSpec& spec, const std::string& variant,
                             const fs::path& corpus) {
    LossCourseOptions options;
    auto& training = options.training;
    training.model = {
        .layers = 2, .width = 48, .heads = 4, .experts = 4, .hidden = 96, .context = 32};
    const int all_workers = static_cast<int>(integer_axis(spec, "workers"));
    training.adam.learning_rate = number_axis(spec, "learning_rate");
    training.sequences = static_cast<int>(integer_axis(spec, "sequences"));
    training.batch = rule_of(variant, all_workers);
    training.seed = spec.seed;
    training.corpus = corpus.string();
    options.steps = integer_axis(spec, "steps");
    options.samples = options.steps * training.sequences * all_workers;
    const int left = static_cast<int>(integer_axis(spec, "workers_left"));
    options.workers = [=, lost = variant != reference,
                       all = options.samples](std::int64_t samples) {
        const std::int64_t tenth = samples * 10 / all;
        if (!lost || tenth < 4) return all_workers;
        return tenth >= 5 && tenth < 8 ? left : (all_workers + left) / 2;
    };
    return options;
}

/// Of this seed; trained once in a session.
LossCourse fault_free_course(const SampleSpec& spec, const fs::path& corpus) {
    const auto options = options_of(spec, reference, corpus);
    if (spec.shared.empty()) return follow_loss(options);
    const fs::path file =
        fs::path(spec.shared) / fmt::format("x_loss-{}-{}-{}-{}-{}.json", spec.seed, options.steps,
                                            options.training.batch.full_workers,
                                            options.training.sequences,
                                            options.training.adam.learning_rate);
    if (fs::exists(file)) return loss_course_from(nlohmann::json::parse(std::ifstream(file)));
    const auto course = follow_loss(options);
    fs::create_directories(spec.shared);
    const fs::path aside = file.string() + ".new";
    std::ofstream(aside) << to_json(course);
    publish(aside, file);
    return course;
}

/// `name` at the end of each part of `whole`, under the label.
void record_points(Recorder& recorder, const char* name, const std::vector<double>& values,
                   const char* label, std::int64_t whole) {
    const auto parts = static_cast<std::int64_t>(values.size());
    for (std::int64_t i = 0; i < parts; ++i)
        recorder.metric(name, values[static_cast<std::size_t>(i)],
                        {{label, whole * (i + 1) / parts}});
}

std::vector<double> differences(std::vector<double> values, const std::vector<double>& from) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] -= from.at(i);
    return values;
}

}  // namespace

void run_x_loss(const SampleSpec& spec, const fs::path& corpus, Recorder& recorder) {
    auto options = options_of(spec, spec.variant, corpus);
    options.progress = [&](double share) { recorder.progress(share, "sequences"); };
    const auto fault_free = fault_free_course(spec, corpus);
    const auto course = spec.variant == reference ? fault_free : follow_loss(options);

    record_points(recorder, "held_out_loss", course.by_samples, "samples", options.samples);
    record_points(recorder, "held_out_loss_by_step", course.by_steps, "step", options.steps);
    recorder.metric("updates", static_cast<double>(course.training_loss.size()));
    recorder.metric("passes", course.passes);
    recorder.time_series("training_loss", "nat/byte", course.samples, course.training_loss);
    if (spec.variant == reference) return;
    const auto excess = differences(course.by_samples, fault_free.by_samples);
    record_points(recorder, "over_fault_free", excess, "samples", options.samples);
    record_points(recorder, "over_fault_free_by_step",
                  differences(course.by_steps, fault_free.by_steps), "step", options.steps);
    recorder.metric("final_over_fault_free", excess.back());
}

}  // namespace assay::lazarus
