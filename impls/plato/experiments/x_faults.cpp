// What faults cost: the campaign's engines in virtual time, one kind of fault at a rate.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>

#include "impls/plato/campaign/virtual_answers.hpp"
#include "impls/plato/experiments/experiments.hpp"
#include "impls/plato/experiments/plan_axes.hpp"
#include "impls/plato/plans/plan_sets.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::plato {
namespace {

constexpr int questions = 12, engines = 3;
constexpr std::array kinds{FaultKind::kill, FaultKind::hang, FaultKind::slow, FaultKind::corrupt,
                           FaultKind::wipe};
// A step of 3.1 ms and 0.01 for a sequence or a prompt token: a 7B model on an H200, about.
constexpr double step_s = 3.1e-3, token_s = 1e-5;

VirtualSetup setup_of(const SampleSpec& spec) {
    VirtualSetup setup;
    setup.vocabulary = 20000;
    setup.context = 4096;
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

void run(const SampleSpec& spec, Recorder& recorder) {
    VirtualSetup setup = setup_of(spec);
    const VirtualOutcome without = answer_virtually(setup);
    const auto kind = *std::find_if(kinds.begin(), kinds.end(), [&](FaultKind each) {
        return to_string(each) == spec.variant;
    });
    std::mt19937_64 random(spec.seed);
    const auto share = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
    const auto count = integer_axis(spec, "faults");
    for (std::int64_t i = 0; i < count; ++i)
        setup.faults.push_back({.at_s = without.seconds * share(),
                                .kind = kind,
                                .engine = static_cast<int>(random() % engines),
                                .for_s = without.seconds / 4,
                                .factor = 3,
                                .bit = random()});
    const VirtualOutcome with = answer_virtually(setup);
    recorder.metric("slowdown", with.seconds / without.seconds);
    recorder.metric("computed_ratio", static_cast<double>(with.computed_tokens) /
                                          static_cast<double>(without.computed_tokens));
    const auto counted = [&](const char* name) {
        const auto found = with.counts.find(name);
        return static_cast<double>(found == with.counts.end() ? 0 : found->second);
    };
    recorder.metric("resumed", counted("resumed"));
    recorder.metric("same_text", with.parts == without.parts ? 1 : 0);
}

}  // namespace

Experiment x_faults() {
    Experiment experiment;
    experiment.id = "plato/x_faults";
    experiment.title = "What faults cost";
    experiment.source = "our own; no paper's";
    experiment.says = fmt::format(
        "{} questions at once on {} engines in virtual time ({} ms a step, {} more for each "
        "token), "
        "as in `assay campaign plato`: the same without faults and with some of one kind, spread "
        "at "
        "random over the time. kill: an engine is gone for a quarter of the time; hang: it stands "
        "still as long; slow: its steps take three times as long from then on; corrupt: a report "
        "is "
        "damaged, and what ran there goes on elsewhere; wipe: a cache is emptied.",
        questions, engines, 1e3 * step_s, 1e3 * token_s);
    const auto whole = [](std::int64_t n) { return Value(n); };
    experiment.axes = {{"faults", "of the kind", {whole(1), whole(3), whole(10)}, true},
                       {"plans",
                        "how nodes depend on each other; also density:P",
                        {"flat", "mixed", "chain"},
                        true}};
    for (const FaultKind kind : kinds) experiment.variants.emplace_back(to_string(kind));
    using enum Direction;
    experiment.metrics = {
        {"slowdown", "ratio", "time over that without faults", lower, true},
        {"computed_ratio", "ratio", "tokens fed to engines over those without faults", lower, true},
        {"resumed", "count", "parts of answers gone on with elsewhere", none, true},
        {"same_text", "bool", "ids and log-probabilities are those without faults", higher, true}};
    experiment.profiles = virtual_profiles();
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "slowdown",
                         .x = "faults",
                         .panels = {"plans"},
                         .x_title = "faults",
                         .y_title = "time over that without faults"};
    experiment.validate = [](const SampleSpec& spec) {
        integer_axis(spec, "faults", 0, 1000);
        static_cast<void>(plan_shape(word_axis(spec, "plans")));
    };
    experiment.run = run;
    return experiment;
}

}  // namespace assay::plato
