#include "impls/lazarus/experiments/trainings/loss_course.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "impls/lazarus/policy/plan/placement.hpp"
#include "suite/drive/messages.hpp"

namespace assay::lazarus {
namespace {

constexpr int held_out_batches = 8, held_out_sequences = 16;

std::string read(const std::filesystem::path& file) {
    nn::ByteCorpus checked(file);  // refuses what cannot be read or is too short
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<at::Tensor> held_out_windows(const std::string& text, int context) {
    const auto rest = nn::ByteCorpus::from_text(text.substr(training_part(text).size()));
    std::vector<at::Tensor> windows;
    for (int i = 0; i < held_out_batches; ++i)
        windows.push_back(rest.batch(/*seed=*/0, i, 0, held_out_sequences, context));
    return windows;
}

/// Who trains each step and holds what.
class Members {
  public:
    explicit Members(const LossCourseOptions& options) : options_(options) { next_.step = -1; }
    const CommittedStep& step_of(int workers, const std::vector<Loads>& loads) {
        ++next_.step;
        auto& training = next_.training;
        if (static_cast<int>(training.size()) == workers) return next_;
        ++next_.epoch;
        // Those that came last are lost first; who comes back is somebody new.
        if (static_cast<int>(training.size()) > workers) training.resize(std::size_t(workers));
        while (static_cast<int>(training.size()) < workers) training.push_back(newcomer_++);
        next_.holders = make_model_plan(loads, workers, options_.slots, /*min_replicas=*/2,
                                        PlacementPolicy::mro)
                            .placement;
        return next_;
    }

  private:
    const LossCourseOptions& options_;
    CommittedStep next_{};
    Worker newcomer_ = 0;
};

// Of the busiest worker, which is the last one.
double passes_of_step(const TrainingConfig& config, int workers) {
    std::int64_t sequences = 0;
    for (const auto& part : micro_batches(config.batch, config.sequences, workers, workers - 1))
        sequences += part.sequences;
    return static_cast<double>(sequences) / config.sequences;
}

}  // namespace

std::string training_part(const std::string& text) {
    return text.substr(0, text.size() - text.size() / 10);
}

LossCourse follow_loss(const LossCourseOptions& options) {
    at::set_num_threads(1);  // sums do not depend on how many processors there are
    const auto& config = options.training;
    const std::string text = read(config.corpus);
    const auto corpus = nn::ByteCorpus::from_text(training_part(text));
    const auto held_out = held_out_windows(text, config.model.context);
    PlannedTraining training(config, corpus);
    Members members(options);
    auto loads = uniform_loads(config.model.layers, config.model.experts);
    LossCourse course;
    // Whether `done` of `all` completes another part.
    const auto completes = [&](std::int64_t done, std::int64_t all, std::size_t parts) {
        return parts < std::size_t(options.points) &&
               done * options.points >= all * static_cast<std::int64_t>(parts + 1);
    };
    for (std::int64_t samples = 0, step = 0; samples < options.samples;) {
        const int workers = options.workers(samples);
        const auto result = training.train(members.step_of(workers, loads));
        loads = result.loads;
        samples += global_sequences(config.batch, config.sequences, workers);
        ++step;
        course.training_loss.push_back(result.loss);
        course.samples.push_back(static_cast<double>(samples));
        course.workers.push_back(workers);
        course.passes += passes_of_step(config, workers);
        const bool by_samples = completes(samples, options.samples, course.by_samples.size());
        const bool by_steps = completes(step, options.steps, course.by_steps.size());
        if (!by_samples && !by_steps) continue;
        const double loss = training.loss_on(held_out);
        if (by_samples) course.by_samples.push_back(loss);
        if (by_steps) course.by_steps.push_back(loss);
        if (options.progress)
            options.progress(static_cast<double>(samples) / static_cast<double>(options.samples));
    }
    return course;
}

ASSAY_FIELDS(LossCourse, by_samples, by_steps, training_loss, samples, workers, passes)

nlohmann::json to_json(const LossCourse& course) { return drive::to_json(course); }
LossCourse loss_course_from(const nlohmann::json& object) {
    return drive::from_json<LossCourse>(object);
}

}  // namespace assay::lazarus
