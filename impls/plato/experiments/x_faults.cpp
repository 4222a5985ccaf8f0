// What faults cost: the campaign's engines, in virtual time or processes, and one kind of fault at
// a rate.
#include <fmt/format.h>

#include <array>
#include <map>
#include <random>

#include "impls/plato/campaign/engine_faults.hpp"
#include "impls/plato/campaign/virtual_answers.hpp"
#include "impls/plato/experiments/experiments.hpp"
#include "impls/plato/experiments/measured_plans.hpp"
#include "impls/plato/experiments/plan_axes.hpp"
#include "impls/plato/plans/plan_sets.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/scenario/fault_kinds.hpp"

namespace assay::plato {
namespace {

constexpr int questions = 12, engines = 3;
constexpr int vocabulary = 20000, context = 4096;
constexpr double most_late = 0.05;  // of the time of paced engines
constexpr int measured_questions = 2, measured_engines = 2;
constexpr std::array kinds{FaultKind::kill, FaultKind::hang, FaultKind::slow, FaultKind::corrupt,
                           FaultKind::wipe};
constexpr const char* given = "given";  // a variant: what --fault and --scenario say
// A step of 3.1 ms and 0.01 for a sequence or a prompt token: a 7B model on an H200, about.
constexpr double step_s = 3.1e-3, token_s = 1e-5;
constexpr double slowness = 3;
constexpr double measured_seconds = 60, emulated_seconds = 15;  // of a sample, about

/// Those given, or drawn over the time that it takes without any.
std::vector<Fault> faults_of(const SampleSpec& spec, double seconds, int of_engines) {
    if (spec.variant == given) return parse_fault_plan(spec.scenario).faults;
    std::mt19937_64 random(spec.seed);
    const auto share = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
    std::vector<Fault> faults;
    const auto count = integer_axis(spec, "faults");
    for (std::int64_t i = 0; i < count; ++i) {
        const double at_s = seconds * share();
        Fault fault = engine_fault(*of_word<FaultKind>(spec.variant), at_s,
                                   static_cast<int>(random() % static_cast<unsigned>(of_engines)));
        if (fault.kind == FaultKind::kill || fault.kind == FaultKind::hang)
            fault.for_s = seconds / 4;
        if (fault.kind == FaultKind::slow) fault.factor = slowness;
        faults.push_back(fault);
    }
    return faults;
}

void record(Recorder& recorder, double slowdown, const std::map<std::string, long>& counts,
            bool same_text) {
    recorder.metric("slowdown", slowdown);
    const auto counted = [&](const char* name) {
        const auto found = counts.find(name);
        return static_cast<double>(found == counts.end() ? 0 : found->second);
    };
    recorder.metric("resumed", counted("resumed"));
    recorder.metric("same_text", same_text ? 1 : 0);
}

VirtualSetup setup_of(const SampleSpec& spec) {
    VirtualSetup setup;
    setup.vocabulary = vocabulary;
    setup.context = context;
    setup.questions =
        drawn_tokens(draw_plans(plan_shape(word_axis(spec, "plans")), questions, spec.seed),
                     setup.vocabulary, spec.seed);
    setup.come_s.assign(questions, 0);
    setup.engines = engines;
    setup.max_batch = 64;
    for (const QuestionTokens& question : setup.questions)
        setup.blocks += static_cast<int>(token_need(question).all) / 16 + 40;
    setup.cost = {.fixed_s = step_s, .token_s = token_s};
    setup.patience_s = 50 * step_s;
    return setup;
}

void simulate(const SampleSpec& spec, Recorder& recorder) {
    VirtualSetup setup = setup_of(spec);
    const VirtualOutcome without = answer_virtually(setup);
    setup.faults = faults_of(spec, without.seconds, engines);
    setup.restart_s = without.seconds / 4;
    const VirtualOutcome with = answer_virtually(setup);
    record(recorder, with.seconds / without.seconds, with.counts, with.parts == without.parts);
    recorder.metric("computed_ratio", static_cast<double>(with.computed_tokens) /
                                          static_cast<double>(without.computed_tokens));
}

/// SmolLM2 on this machine's cores.
ServedSetup measured_setup(const SampleSpec& spec) {
    const LiveModel model(spec);
    const auto plans =
        draw_plans(plan_shape(word_axis(spec, "plans")), measured_questions, spec.seed);
    return model.served(drawn_tokens(plans, model.tokenizer(), spec.seed), measured_engines);
}

/// What is simulated, on processes whose steps end when modelled ones would.
ServedSetup emulated_setup(const SampleSpec& spec) {
    const VirtualSetup modelled = setup_of(spec);
    ServedSetup setup;
    setup.questions = modelled.questions;
    setup.engines = engines;
    setup.engine.options.max_batch = modelled.max_batch;
    setup.engine.options.chunk = 512;
    setup.engine.blocks = modelled.blocks;
    setup.engine.pace = modelled.cost;
    setup.make = [](const decode::EngineSettings& settings,
                    const std::string&) -> std::unique_ptr<decode::BackEnd> {
        return std::make_unique<decode::ModelledBackEnd>(decode::ModelledSettings{
            .vocabulary = vocabulary, .context = context, .blocks = settings.blocks});
    };
    return setup;
}

void run_on_processes(ServedSetup setup, const SampleSpec& spec, Recorder& recorder) {
    setup.in_turn = false;
    setup.seed = spec.seed;
    const ServedOutcome without = answer_on_processes(setup);
    setup.faults = faults_of(spec, without.seconds, setup.engines);
    // Long enough to be given up, whenever it begins.
    if (spec.variant != given)
        for (Fault& fault : setup.faults)
            if (fault.kind == FaultKind::hang) fault.for_s = 3 * setup.patience_s;
    const ServedOutcome with = answer_on_processes(setup);
    for (const ServedOutcome* const each : {&without, &with})
        if (each->late_s > most_late * each->seconds * setup.engines)
            throw SampleError(
                SampleStatus::invalid,
                fmt::format("{:.1f} % of a run is lateness, more than {:.0f} %: this machine is "
                            "too slow, or too busy",
                            100 * each->late_s / each->seconds / setup.engines, 100 * most_late));
    bool same = true;
    for (std::size_t i = 0; i < setup.questions.size(); ++i)
        same = same && with.answers[i].parts == without.answers[i].parts;
    long struck = 0;
    for (const auto& [what, count] : with.counts)
        if (what.starts_with("fault.")) struck += count;
    recorder.metric("struck", static_cast<double>(struck));
    if (const auto planned = static_cast<long>(setup.faults.size()); struck < planned)
        throw SampleError(SampleStatus::invalid,
                          fmt::format("{} of {} faults struck: the answers were complete before "
                                      "the others did",
                                      struck, planned));
    record(recorder, with.seconds / without.seconds, with.counts, same);
}

void check(const SampleSpec& spec) {
    integer_axis(spec, "faults", 0, 1000);
    static_cast<void>(plan_shape(word_axis(spec, "plans")));
    if (spec.variant != given) {
        if (!spec.scenario.empty())
            throw UserError("faults that are given stand for those of a kind; leave --variant out");
        return;
    }
    if (integer_axis(spec, "faults") != 0)
        throw UserError("faults: none of a kind beside those given; leave it out, or give 0");
    const FaultPlan plan = parse_fault_plan(spec.scenario);
    check_faults(plan.faults);
    // Who is killed or given up comes back.
    const int here = spec.provenance == Provenance::measured ? measured_engines : engines;
    for (const Fault& fault : plan.faults)
        if (*fault.rank >= here)
            throw UserError(fmt::format("fault '{}': there are engines 0 to {}",
                                        assay::to_string(fault), here - 1));
}

}  // namespace

Experiment x_faults() {
    Experiment experiment;
    experiment.id = "plato/x_faults";
    experiment.title = "What faults cost";
    experiment.source = "our own; no paper's";
    experiment.says = fmt::format(
        "The same without faults and with some of one kind, spread at random over the time. kill: "
        "an engine is gone (simulated: for a quarter of the time; on processes: until another "
        "has taken its place); hang: it stands still for a quarter of the time (on processes: it "
        "is "
        "given up after a second); slow: its steps take {} times as long from then on; corrupt: a "
        "report, or on processes the state of a part that moves, is damaged, and what ran there "
        "goes "
        "on from its tokens; wipe: a cache is emptied. given: what --fault and --scenario say, at "
        "seconds. Simulated: {} questions at once on {} engines ({} ms a step, {} more for each "
        "token). Emulated: the same on engines that are processes, whose steps end when the "
        "modelled ones "
        "would. Measured: {} questions at once on {} engines that are processes on this machine, "
        "with {}.",
        slowness, questions, engines, 1e3 * step_s, 1e3 * token_s, measured_questions,
        measured_engines, live_model);
    const auto whole = [](std::int64_t n) { return Value(n); };
    experiment.axes = {{"faults", "of the kind", {whole(1), whole(3), whole(10)}, true},
                       {"plans",
                        "how nodes depend on each other; also density:P",
                        {"flat", "mixed", "chain"},
                        true}};
    for (const FaultKind kind : kinds) experiment.variants.emplace_back(to_string(kind));
    const std::vector<std::string> drawn = experiment.variants;
    experiment.variants.emplace_back(given);
    experiment.takes_faults = true;
    experiment.given_faults = {.variant = given, .axes = {{"faults", whole(0)}}};
    using enum Direction;
    const std::vector<Provenance> live{Provenance::measured, Provenance::emulated};
    experiment.metrics = {
        {"slowdown", "ratio", "time over that without faults", lower, true, {}, {}, live},
        {"computed_ratio",
         "ratio",
         "tokens fed to engines over those without faults",
         lower,
         true,
         {},
         {Provenance::simulated}},
        {"struck",
         "count",
         "faults that struck: all, or the sample is invalid",
         none,
         true,
         {},
         live},
        {"resumed", "count", "parts of answers gone on with elsewhere", none, true, {}, {}, live},
        {"same_text", "bool", "ids and log-probabilities are those without faults", higher, true}};
    experiment.profiles = virtual_profiles();
    for (ProfilePlan& plan : experiment.profiles) plan.variants = drawn;
    ProfilePlan& toy = experiment.profiles.front();
    toy.provenances.push_back(Provenance::measured);
    toy.provenances.push_back(Provenance::emulated);
    toy.axes_of[Provenance::emulated] = {{"faults", {whole(3)}}};
    toy.seconds_of[Provenance::emulated] = emulated_seconds;
    toy.axes_of[Provenance::measured] = {{"faults", {whole(2)}}, {"plans", {std::string("mixed")}}};
    toy.seconds_of[Provenance::measured] = measured_seconds;
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "slowdown",
                         .x = "faults",
                         .panels = {"plans"},
                         .x_title = "faults",
                         .y_title = "time over that without faults"};
    experiment.validate = check;
    experiment.unsupported = live_unsupported;
    experiment.inputs = live_inputs;
    experiment.run = [](const SampleSpec& spec, Recorder& recorder) {
        if (spec.provenance == Provenance::simulated) return simulate(spec, recorder);
        run_on_processes(
            spec.provenance == Provenance::measured ? measured_setup(spec) : emulated_setup(spec),
            spec, recorder);
    };
    return experiment;
}

}  // namespace assay::plato
