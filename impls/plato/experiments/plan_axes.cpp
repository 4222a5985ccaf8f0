#include "impls/plato/experiments/plan_axes.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "impls/model/named_models.hpp"
#include "impls/nn/files/tensor_file.hpp"
#include "impls/plato/plans/plan_file.hpp"
#include "impls/plato/plans/plan_sets.hpp"
#include "suite/base/datasets.hpp"
#include "suite/base/error.hpp"
#include "suite/base/input_file.hpp"
#include "suite/data/catalog.hpp"
#include "suite/scenario/device_profile.hpp"

namespace assay::plato {
namespace {

constexpr const char* recorded = "recorded";

std::filesystem::path recorded_plans() {
    return datasets_dir() / "plans" / "smollm2-135m-instruct.jsonl";
}

std::vector<Value> simulated_models() {
    return {std::string("llama2-7b"), std::string("llama2-13b")};
}
std::vector<Value> simulated_devices() { return {std::string("h200")}; }

bool is_file(const std::string& plans) {
    return plans.find('/') != std::string::npos || std::filesystem::exists(plans);
}

std::vector<PlanRecord> read_file(const std::filesystem::path& file) {
    InputFile plans("plans", file.string(), "a file of plans, a JSON object a line",
                    InputFile::Dash::a_name);
    return read_plans(plans.stream(), plans.name());
}

}  // namespace

std::string word_axis(const SampleSpec& spec, const char* axis) {
    return assay::to_string(spec.axes.at(axis));
}

Axis plans_axis() {
    return {
        "plans",
        "how nodes depend on each other, drawn at random; also density:P, an edge from each of "
        "the four nodes before with probability P; recorded: datasets/plans; or a file of plans",
        {"flat", "mixed", "chain"},
        true};
}

Axis reuse_axis() {
    return {"kv", "what prompts take from the cache", {"L0", "L1", "L2", "L3"}, false};
}

std::vector<Axis> machine_axes() {
    // Claims are checked at values that are declared: the measured ones are among them.
    std::vector<Value> models = simulated_models(), devices = simulated_devices();
    models.emplace_back(std::string(live_model));
    devices.emplace_back(std::string(live_device));
    return {
        {"model", fmt::format("simulated: a shape, 16-bit weights; measured: {}", live_model),
         std::move(models), true},
        {"device", fmt::format("simulated: its profile; measured: {}, this machine's", live_device),
         std::move(devices), true},
        {"activations",
         "measured: what products multiply: all 24 bits, or eight",
         {"exact", "int8"},
         false}};
}

std::optional<Input> plans_input(const SampleSpec& spec) {
    if (!spec.axes.contains("plans")) return std::nullopt;
    const std::string plans = word_axis(spec, "plans");
    if (plans == recorded) return Input{.name = "plans", .file = recorded_plans(), .sha256 = {}};
    if (!is_file(plans)) return std::nullopt;
    return Input{.name = "plans", .file = plans, .sha256 = {}};
}

std::vector<PlanRecord> plans_of(const SampleSpec& spec, int count) {
    if (const auto input = plans_input(spec)) return read_file(input->file);
    const auto shape = spec.axes.contains("density")
                           ? plan_shape("density:" + word_axis(spec, "density"))
                           : plan_shape(word_axis(spec, "plans"));
    return draw_plans(shape, count, spec.seed);
}

std::vector<ProfilePlan> live_profiles(std::map<std::string, std::vector<Value>> toy_axes,
                                       double seconds_per_sample) {
    ProfilePlan toy;
    toy.provenances = {Provenance::measured, Provenance::simulated};
    toy_axes["model"] = {std::string(live_model)};
    toy_axes["device"] = {std::string(live_device)};
    toy.axes_of[Provenance::measured] = std::move(toy_axes);
    const std::map<std::string, std::vector<Value>> simulated{{"model", simulated_models()},
                                                              {"device", simulated_devices()}};
    toy.axes_of[Provenance::simulated] = simulated;
    toy.axes["activations"] = {};  // in cases only where they are not exact
    toy.rounds = 3;                // verdicts rest on intervals over seeds
    toy.seconds_per_sample = seconds_per_sample;
    toy.seconds_of = {{Provenance::simulated, 0.1}};
    ProfilePlan paper;
    paper.profile = Profile::paper;
    paper.provenances = {Provenance::simulated};
    paper.axes = simulated;
    paper.axes["activations"] = {};
    paper.rounds = 3;
    paper.seconds_per_sample = 0.1;
    ProfilePlan gpu;
    gpu.profile = Profile::gpu;
    gpu.provenances = {Provenance::measured};
    gpu.axes = simulated;
    gpu.axes["activations"] = {};
    return {toy, paper, gpu};
}

nlohmann::json device_calibration(const SampleSpec& spec) {
    return {{"device", to_json(device_profile(word_axis(spec, "device")))}};
}

std::optional<std::string> live_unsupported(const SampleSpec& spec) {
    if (spec.profile == Profile::gpu)
        return "decoding many requests on a GPU is not supported here: the engine computes on this "
               "machine's cores alone (impls/decode)";
    if (spec.provenance != Provenance::measured || data::locate(live_model)) return std::nullopt;
    return fmt::format("{0} is not here: scripts/models, then `assay data fetch {0} --from FILE`",
                       live_model);
}

std::vector<Input> live_inputs(const SampleSpec& spec) {
    std::vector<Input> inputs;
    if (auto plans = plans_input(spec)) inputs.push_back(*std::move(plans));
    if (spec.provenance != Provenance::measured) return inputs;
    if (auto weights = data::input_of(live_model, "weights")) inputs.push_back(*std::move(weights));
    return inputs;
}

void declare_live(Experiment& experiment) {
    experiment.unsupported = live_unsupported;
    experiment.inputs = live_inputs;
    experiment.calibration = device_calibration;
}

void validate_axes(const SampleSpec& spec) {
    if (spec.axes.contains("plans") || spec.axes.contains("density"))
        for (const PlanRecord& plan : plans_of(spec, 1))
            if (spec.provenance == Provenance::measured && plan.question_tokens < 1)
                throw UserError(fmt::format(
                    "plan \"{}\": without question_tokens there is nothing to decode from",
                    plan.id));
    if (spec.axes.contains("kv") && !of_word<KvReuse>(word_axis(spec, "kv")))
        throw UserError(fmt::format("kv {}: give L0, L1, L2 or L3", word_axis(spec, "kv")));
    if (spec.axes.contains("start") && word_axis(spec, "start") != "warm" &&
        word_axis(spec, "start") != "cold")
        throw UserError(fmt::format("start {}: give warm or cold", word_axis(spec, "start")));
    if (spec.axes.contains("engines")) {
        integer_axis(spec, "engines", 1, 16);
        if (spec.provenance != Provenance::measured)
            throw UserError("engines: only measured samples have processes");
    }
    if (spec.axes.contains("activations") && spec.provenance != Provenance::measured)
        throw UserError("activations: only measured samples have them");
    if (!spec.axes.contains("model")) return;
    if (spec.provenance != Provenance::measured || spec.profile == Profile::gpu) {
        static_cast<void>(model::named_shape(word_axis(spec, "model")));
        static_cast<void>(device_profile(word_axis(spec, "device")));
        return;
    }
    if (word_axis(spec, "model") != live_model || word_axis(spec, "device") != live_device)
        throw UserError(fmt::format(
            "measured samples have model={} and device={}; for others give --mode simulated",
            live_model, live_device));
}

std::vector<ProfilePlan> virtual_profiles() {
    std::vector<ProfilePlan> plans;
    for (const Profile profile : {Profile::toy, Profile::paper}) {
        ProfilePlan plan;
        plan.profile = profile;
        plan.provenances = {Provenance::simulated};
        plan.rounds = 3;
        plan.seconds_per_sample = 1;
        plans.push_back(plan);
    }
    return plans;
}

}  // namespace assay::plato
