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
#include "suite/experiment/metrics.hpp"
#include "suite/scenario/fault_kinds.hpp"
#include "suite/scenario/training_faults.hpp"

namespace assay::plato {
namespace {

constexpr int questions = 12, engines = 3;
constexpr int vocabulary = 20000, context = 4096;
constexpr double most_late = 0.05;  // of the time of paced engines, at the worst
constexpr int measured_questions = 2, measured_engines = 2;
constexpr std::array kinds{FaultKind::kill, FaultKind::hang, FaultKind::slow, FaultKind::corrupt,
                           FaultKind::wipe};
// A step of 3.1 ms and 0.01 for a sequence or a prompt token: a 7B model on an H200, about.
constexpr double step_s = 3.1e-3, token_s = 1e-5;
constexpr double slowness = 3;
constexpr double measured_seconds = 60, emulated_seconds = 15;  // of a sample, about

struct XFaults : LiveSample, PlanSet {
    int faults = 0;
    std::optional<FaultKind> kind;  ///< none: those that are given
    FaultPlan given;
};

struct Found : Metrics {
    using Metrics::Metrics;
    const std::vector<Provenance> live{Provenance::measured, Provenance::emulated};
    Metric slowdown =
        exact_unless(live, "slowdown", "ratio", "time over that without faults", lower);
    Metric computed_ratio = metric({.name = "computed_ratio",
                                    .unit = "ratio",
                                    .says = "tokens fed to engines over those without faults",
                                    .better = lower,
                                    .deterministic = true,
                                    .only = {Provenance::simulated}});
    Metric struck = metric({.name = "struck",
                            .unit = "count",
                            .says = "faults that struck: all, or the sample is invalid",
                            .deterministic = true,
                            .only = live});
    Metric resumed =
        exact_unless(live, "resumed", "count", "parts of answers gone on with elsewhere");
    Metric same_text =
        exact("same_text", "bool", "ids and log-probabilities are those without faults", higher);
};

/// Those given, or drawn over the time that it takes without any.
std::vector<Fault> faults_of(const XFaults& settings, double seconds, int of_engines) {
    if (!settings.kind) return settings.given.faults;
    std::mt19937_64 random(settings.seed);
    const auto share = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
    std::vector<Fault> faults;
    for (int i = 0; i < settings.faults; ++i) {
        const double at_s = seconds * share();
        Fault fault = engine_fault(*settings.kind, at_s,
                                   static_cast<int>(random() % static_cast<unsigned>(of_engines)));
        if (fault.kind == FaultKind::kill || fault.kind == FaultKind::hang)
            fault.for_s = seconds / 4;
        if (fault.kind == FaultKind::slow) fault.factor = slowness;
        faults.push_back(fault);
    }
    return faults;
}

void record(const Found& found, double slowdown, const std::map<std::string, long>& counts,
            bool same_text) {
    const auto resumed = counts.find("resumed");
    found.slowdown(slowdown);
    found.resumed(resumed == counts.end() ? 0 : resumed->second);
    found.same_text(same_text);
}

VirtualSetup setup_of(const XFaults& settings) {
    VirtualSetup setup;
    setup.vocabulary = vocabulary;
    setup.context = context;
    setup.questions = drawn_tokens(draw_plans(plan_shape(settings.plans), questions, settings.seed),
                                   setup.vocabulary, settings.seed);
    setup.come_s.assign(questions, 0);
    setup.engines = engines;
    setup.max_batch = 64;
    for (const QuestionTokens& question : setup.questions)
        setup.blocks += static_cast<int>(token_need(question).all) / 16 + 40;
    setup.cost = {.fixed_s = step_s, .token_s = token_s};
    setup.patience_s = 50 * step_s;
    return setup;
}

void simulate(const XFaults& settings, const Found& found) {
    VirtualSetup setup = setup_of(settings);
    const VirtualOutcome without = answer_virtually(setup);
    setup.faults = faults_of(settings, without.seconds, engines);
    setup.restart_s = without.seconds / 4;
    const VirtualOutcome with = answer_virtually(setup);
    record(found, with.seconds / without.seconds, with.counts, with.parts == without.parts);
    found.computed_ratio(static_cast<double>(with.computed_tokens) /
                         static_cast<double>(without.computed_tokens));
}

/// SmolLM2 on this machine's cores.
ServedSetup measured_setup(const XFaults& settings) {
    const LiveModel model;
    const auto plans = draw_plans(plan_shape(settings.plans), measured_questions, settings.seed);
    return model.served(drawn_tokens(plans, model.tokenizer(), settings.seed), measured_engines);
}

/// What is simulated, on processes whose steps end when modelled ones would.
ServedSetup emulated_setup(const XFaults& settings) {
    const VirtualSetup modelled = setup_of(settings);
    ServedSetup setup;
    setup.questions = modelled.questions;
    setup.engines = engines;
    setup.engine.options.max_batch = modelled.max_batch;
    setup.engine.options.chunk = 512;
    setup.engine.blocks = modelled.blocks;
    setup.engine.pace = modelled.cost;
    setup.engine.weights = "1";
    setup.model = decode::modelled_models({.vocabulary = vocabulary, .context = context});
    return setup;
}

void run_on_processes(ServedSetup setup, const XFaults& settings, const Found& found) {
    setup.in_turn = false;
    const ServedOutcome without = answer_on_processes(setup);
    setup.faults = faults_of(settings, without.seconds, setup.engines);
    // Long enough to be given up, whenever it begins.
    if (settings.kind)
        for (Fault& fault : setup.faults)
            if (fault.kind == FaultKind::hang) fault.for_s = 3 * setup.patience_s;
    const ServedOutcome with = answer_on_processes(setup);
    for (const ServedOutcome* const each : {&without, &with})
        if (each->late_s > most_late * each->seconds)
            throw SampleError(
                SampleStatus::invalid,
                fmt::format("something was told {:.1f} % of a run too late, more than {:.0f} %: "
                            "this machine is too slow, or too busy",
                            100 * each->late_s / each->seconds, 100 * most_late));
    bool same = true;
    for (std::size_t i = 0; i < setup.questions.size(); ++i)
        same = same && with.answers[i].parts == without.answers[i].parts;
    long struck = 0;
    for (const auto& [what, count] : with.counts)
        if (what.starts_with("fault.")) struck += count;
    found.struck(struck);
    if (const auto planned = static_cast<long>(setup.faults.size()); struck < planned)
        throw SampleError(SampleStatus::invalid,
                          fmt::format("{} of {} faults struck: the answers were complete before "
                                      "the others did",
                                      struck, planned));
    record(found, with.seconds / without.seconds, with.counts, same);
}

void check(const XFaults& settings) {
    if (settings.kind) {
        if (!settings.given.empty())
            throw UserError("faults that are given stand for those of a kind; leave --variant out");
        return;
    }
    if (settings.faults != 0)
        throw UserError("faults: none of a kind beside those given; leave it out, or give 0");
    check_faults(settings.given.faults);
    // Who is killed or given up comes back.
    const int here = settings.measured() ? measured_engines : engines;
    for (const Fault& fault : settings.given.faults)
        if (*fault.rank >= here)
            throw UserError(fmt::format("fault '{}': there are engines 0 to {}",
                                        assay::to_string(fault), here - 1));
}

void run(const XFaults& settings, Recorder& recorder) {
    const Found found(recorder);
    if (settings.provenance == Provenance::simulated) return simulate(settings, found);
    run_on_processes(settings.measured() ? measured_setup(settings) : emulated_setup(settings),
                     settings, found);
}

std::vector<ProfilePlan> profiles() {
    std::vector<ProfilePlan> plans = virtual_profiles();
    for (ProfilePlan& plan : plans)
        for (const FaultKind kind : kinds) plan.variants.emplace_back(to_string(kind));
    ProfilePlan& toy = plans.front();
    toy.provenances.push_back(Provenance::measured);
    toy.provenances.push_back(Provenance::emulated);
    toy.axes_of[Provenance::emulated] = {{"faults", Sweep<int>{3}.values}};
    toy.seconds_of[Provenance::emulated] = emulated_seconds;
    toy.axes_of[Provenance::measured] = {{"faults", Sweep<int>{2}.values},
                                         {"plans", Sweep<std::string>{"mixed"}.values}};
    toy.seconds_of[Provenance::measured] = measured_seconds;
    return plans;
}

}  // namespace

Experiment x_faults() {
    Declaration<XFaults> faults(
        {.id = "plato/x_faults",
         .title = "What faults cost",
         .source = "our own; no paper's",
         .says = fmt::format(
             "The same without faults and with some of one kind, spread at random over the time. "
             "kill: an engine is gone (simulated: for a quarter of the time; on processes: until "
             "another has taken its place); hang: it stands still for a quarter of the time (on "
             "processes: it is given up after a second); slow: its steps take {} times as long "
             "from then on; corrupt: a report, or on processes the state of a part that moves, is "
             "damaged, and what ran there goes on from its tokens; wipe: a cache is emptied. "
             "given: what --fault and --scenario say, at seconds. Simulated: {} questions at once "
             "on {} engines ({} ms a step, {} more for each token). Emulated: the same on engines "
             "that are processes, whose steps end when the modelled ones would. Measured: {} "
             "questions at once on {} engines that are processes on this machine, with {}.",
             slowness, questions, engines, 1e3 * step_s, 1e3 * token_s, measured_questions,
             measured_engines, live_model),
         .metrics = declared<Found>(),
         .profiles = profiles(),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "slowdown",
                    .x = "faults",
                    .panels = {"plans"},
                    .x_title = "faults",
                    .y_title = "time over that without faults"},
         .takes_faults = true,
         .given_faults = {.variant = "given", .axes = {{"faults", std::int64_t{0}}}}});
    faults.axis("faults", &XFaults::faults, "of the kind", {1, 3, 10}, between(0, 1000));
    faults.part(drawn_plans_axes());
    faults.part(live_sample());
    faults.rest.variants = faults.rest.profiles.front().variants;
    faults.rest.variants.emplace_back("given");
    faults.given(&XFaults::kind,
                 [](const SampleSpec& spec) { return of_word<FaultKind>(spec.variant); });
    faults.given(&XFaults::given, fault_plan_with({}));
    faults.check(check);
    faults.unsupported(live_unsupported);
    faults.inputs(live_inputs);
    return faults.runs(run);
}

}  // namespace assay::plato
