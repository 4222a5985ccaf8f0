#include "impls/decode/experiments/sample_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "impls/decode/experiments/modelled_gpu.hpp"
#include "impls/nn/files/tensor_file.hpp"
#include "suite/base/error.hpp"
#include "suite/data/catalog.hpp"

namespace assay::decode {
namespace {

constexpr const char* model_id = "smollm2-135m-instruct";
constexpr int drawn_ids = 32000;  // both models know them

}  // namespace

std::optional<std::string> smollm2_lacks() {
    if (data::locate(model_id)) return std::nullopt;
    return fmt::format("{0} is not here: scripts/models, then `assay data fetch {0} --from FILE`",
                       model_id);
}

std::string smollm2_path() {
    if (auto lacks = smollm2_lacks()) throw UserError(*lacks);
    return data::locate(model_id)->string();
}

std::vector<Input> smollm2_inputs() {
    if (auto weights = data::input_of(model_id, "weights")) return {*std::move(weights)};
    return {};
}

SmolLm2::SmolLm2()
    : file_(std::make_shared<nn::TensorFile>(smollm2_path())),
      config_(nn::read_decoder_config(*file_)) {}

BackEnds SmolLm2::back_ends(const BackEndOptions& options) const {
    return back_ends_of(file_, options);
}

SampleRuns sample_runs(const SampleClock& clock) {
    if (!clock.measured())
        return {.context = modelled_context,
                .options = on_modelled_gpu,
                .seconds = [](const BatchRun& run) { return run.step_s; }};
    const SmolLm2 model;
    const auto options = [model](int blocks) {
        BatchRunOptions of_run;
        of_run.back_ends = model.back_ends({.blocks = blocks});
        return of_run;
    };
    return {.context = model.config().context,
            .options = options,
            .seconds = [](const BatchRun& run) { return run.seconds; }};
}

std::vector<BatchJob> random_jobs(int count, int prompt, int shared, int max_tokens,
                                  std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto draw = [&] { return static_cast<int>(random() % drawn_ids); };
    std::vector<int> beginning(static_cast<std::size_t>(shared));
    for (int& id : beginning) id = draw();
    std::vector<BatchJob> jobs(static_cast<std::size_t>(count));
    for (BatchJob& job : jobs) {
        job.request.prompt = beginning;
        while (static_cast<int>(job.request.prompt.size()) < prompt)
            job.request.prompt.push_back(draw());
        job.request.max_tokens = max_tokens;
    }
    return jobs;
}

double tokens_made(const BatchRun& run) {
    std::size_t tokens = 0;
    for (const BatchAnswer& answer : run.answers) tokens += answer.ids.size();
    return static_cast<double>(tokens);
}

bool same_tokens(std::span<const BatchAnswer> a, std::span<const BatchAnswer> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const BatchAnswer& one, const BatchAnswer& other) {
                          return one.ids == other.ids &&
                                 one.log_probabilities == other.log_probabilities;
                      });
}

std::vector<ProfilePlan> simulated_and_measured(const SampleTimes& per_sample) {
    std::vector<ProfilePlan> plans = simulated_profiles(per_sample.simulated_s);
    for (ProfilePlan& plan : plans) {
        if (plan.profile == Profile::paper) continue;
        plan.provenances.push_back(Provenance::measured);
        plan.seconds_of = {{Provenance::measured, per_sample.measured_s}};
    }
    return plans;
}

nlohmann::json taken_for_granted(const SampleClock& clock) {
    return clock.measured() ? nlohmann::json() : modelled_gpu_calibration();
}

std::optional<std::string> lacks(const SampleClock& clock) {
    return clock.measured() ? smollm2_lacks() : std::nullopt;
}

std::vector<Input> inputs_of(const SampleClock& clock) {
    return clock.measured() ? smollm2_inputs() : std::vector<Input>();
}

}  // namespace assay::decode
