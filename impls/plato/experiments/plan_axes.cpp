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

std::vector<std::string> simulated_models() { return {"llama2-7b", "llama2-13b"}; }
std::vector<std::string> simulated_devices() { return {"h200"}; }

// Claims are checked at values that are declared: the measured ones are among them.
Sweep<std::string> with(std::vector<std::string> simulated, const char* measured) {
    simulated.emplace_back(measured);
    return simulated;
}

bool is_file(const std::string& plans) {
    return plans.find('/') != std::string::npos || std::filesystem::exists(plans);
}

std::vector<PlanRecord> read_file(const std::filesystem::path& file) {
    InputFile plans("plans", file.string(), "a file of plans, a JSON object a line",
                    InputFile::Dash::a_name);
    return read_plans(plans.stream(), plans.name());
}

void check(const MachinePlans& settings) {
    for (const PlanRecord& plan : plans_of(settings, 1, settings.seed))
        if (settings.measured() && plan.question_tokens < 1)
            throw UserError(fmt::format(
                "plan \"{}\": without question_tokens there is nothing to decode from", plan.id));
}

void check(const Machine& machine) {
    if (machine.activations != decode::ActivationType::exact && !machine.measured())
        throw UserError("activations: only measured samples have them");
    if (!machine.measured() || machine.profile == Profile::gpu) {
        static_cast<void>(model::named_shape(machine.model));
        static_cast<void>(device_profile(machine.device));
        return;
    }
    if (machine.model != live_model || machine.device != live_device)
        throw UserError(fmt::format(
            "measured samples have model={} and device={}; for others give --mode simulated",
            live_model, live_device));
}

}  // namespace

Axes<LiveSample> live_sample() {
    Axes<LiveSample> axes;
    axes.given(&LiveSample::seed, &SampleSpec::seed);
    axes.given(&LiveSample::provenance, &SampleSpec::provenance);
    axes.given(&LiveSample::profile, &SampleSpec::profile);
    return axes;
}

std::optional<std::string> live_unsupported(const LiveSample& sample) {
    if (sample.profile == Profile::gpu)
        return "decoding many requests on a GPU is not supported here: the engine computes on this "
               "machine's cores alone (impls/decode)";
    if (!sample.measured() || data::locate(live_model)) return std::nullopt;
    return fmt::format("{0} is not here: scripts/models, then `assay data fetch {0} --from FILE`",
                       live_model);
}

std::vector<Input> live_inputs(const LiveSample& sample) {
    if (sample.measured())
        if (const auto weights = data::input_of(live_model, "weights")) return {*weights};
    return {};
}

Axes<Machine> machine_axes() {
    Axes<Machine> axes;
    axes.part(live_sample());
    axes.axis("model", &Machine::model,
              fmt::format("simulated: a shape, 16-bit weights; measured: {}", live_model),
              with(simulated_models(), live_model), or_others);
    axes.axis("device", &Machine::device,
              fmt::format("simulated: its profile; measured: {}, this machine's", live_device),
              with(simulated_devices(), live_device), or_others);
    axes.axis("activations", &Machine::activations,
              "measured: what products multiply: all 24 bits, or eight");
    axes.check(check);
    return axes;
}

nlohmann::json device_calibration(const Machine& machine) {
    return {{"device", to_json(device_profile(machine.device))}};
}

Axes<PlanSet> drawn_plans_axes() {
    Axes<PlanSet> axes;
    axes.axis("plans", &PlanSet::plans, "how nodes depend on each other; also density:P",
              {"flat", "mixed", "chain"}, or_others);
    axes.check([](const PlanSet& set) { static_cast<void>(plan_shape(set.plans)); });
    return axes;
}

std::vector<Input> plans_input(const PlanSet& set) {
    if (set.plans == recorded) return {{.name = "plans", .file = recorded_plans(), .sha256 = {}}};
    if (!is_file(set.plans)) return {};
    return {{.name = "plans", .file = set.plans, .sha256 = {}}};
}

std::vector<PlanRecord> plans_of(const PlanSet& set, int count, std::uint64_t seed) {
    for (const Input& input : plans_input(set)) return read_file(input.file);
    return draw_plans(set.plans.empty() ? PlanShape{.edge = set.density} : plan_shape(set.plans),
                      count, seed);
}

Axes<MachinePlans> plans_axes() {
    Axes<MachinePlans> axes;
    axes.axis(
        "plans", &PlanSet::plans,
        "how nodes depend on each other, drawn at random; also density:P, an edge from each of "
        "the four nodes before with probability P; recorded: datasets/plans; or a file of plans",
        {"flat", "mixed", "chain"}, or_others);
    axes.check(check);
    return axes;
}

std::vector<ProfilePlan> live_profiles(std::map<std::string, std::vector<Value>> toy_axes,
                                       double seconds_per_sample) {
    ProfilePlan toy;
    toy.provenances = {Provenance::measured, Provenance::simulated};
    toy_axes["model"] = {std::string(live_model)};
    toy_axes["device"] = {std::string(live_device)};
    toy.axes_of[Provenance::measured] = std::move(toy_axes);
    const std::map<std::string, std::vector<Value>> simulated{
        {"model", Sweep<std::string>(simulated_models()).values},
        {"device", Sweep<std::string>(simulated_devices()).values}};
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
