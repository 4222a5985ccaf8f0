#include "impls/plato/campaign/live_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "impls/decode/campaign/served_models.hpp"
#include "impls/plato/campaign/drawn.hpp"
#include "impls/plato/campaign/engine_faults.hpp"
#include "impls/plato/campaign/served_answers.hpp"
#include "suite/data/catalog.hpp"

namespace assay::plato {
namespace {

constexpr const char* real_model = "smollm2-135m-instruct";
constexpr int real_vocabulary = 49152;

struct Schedule {
    ServedSetup setup;
    std::string says;
};

/// Sequences of at most 160 tokens, of which the small decoder has room for no more.
constexpr PlanBounds bounds{
    .question = 10, .instruction = 16, .nodes = 5, .line = 5, .lead = 3, .out = 16};

Fault draw_fault(Dice& dice, FaultKind kind, int engines, double horizon_s, double patience_s) {
    const double at_s = 0.05 + horizon_s * static_cast<double>(dice.below(1000)) / 1000;
    Fault fault =
        engine_fault(kind, at_s, static_cast<int>(dice.below(static_cast<std::uint64_t>(engines))));
    // Some come back before anybody has noticed.
    if (kind == FaultKind::hang) fault.for_s = dice.one_in(2) ? patience_s * 3 : patience_s / 5;
    if (kind == FaultKind::slow) {
        fault.factor = 2 + dice.seconds(3);
        fault.for_s = 0.5;
    }
    return fault;
}

Schedule draw(std::uint64_t seed, const std::string& mode) {
    constexpr std::array kinds{FaultKind::kill, FaultKind::hang, FaultKind::slow,
                               FaultKind::corrupt, FaultKind::wipe};
    constexpr std::array levels{KvReuse::none, KvReuse::shared, KvReuse::prefix, KvReuse::linked,
                                KvReuse::linked};
    Dice dice(seed);
    Schedule schedule;
    ServedSetup& setup = schedule.setup;
    setup.in_turn = dice.one_in(2);
    setup.engines = static_cast<int>(dice.between(2, 3));
    const auto weights = data::locate(real_model);
    const decode::ServedModel small = decode::served_decoder();
    std::vector<PlanRecord> plans;
    for (auto i = dice.between(1, 2); i > 0; --i)
        plans.push_back(draw_plan(dice, static_cast<int>(i), bounds));
    setup.questions = drawn_tokens(plans, weights ? real_vocabulary : small.vocabulary, seed);
    setup.answer.mode = draw_mode(dice, mode);
    setup.answer.reuse = levels[dice.below(levels.size())];
    setup.answer.order = std::array{Order::path, Order::index, Order::prefix}[dice.below(3)];
    if (dice.one_in(2)) setup.answer.positions = LinkPositions::reserved;
    setup.answer.warm = dice.one_in(2);
    setup.engine.options.max_batch = static_cast<int>(dice.between(2, 6));
    setup.engine.options.chunk = static_cast<int>(dice.between(20, 300));
    setup.engine.threads = 1;
    setup.engine.weights = weights ? weights->string() : "1";
    setup.model = weights ? decode::models_of_files() : small.model;
    // All that run, and all that are kept, may be on one engine.
    setup.engine.blocks = 2 * blocks_for(setup.questions, static_cast<int>(setup.questions.size()));
    if (!weights) setup.engine.pace = decode::StepCost{.fixed_s = 0.01, .token_s = 0.0005};
    const double horizon_s = weights ? 0.25 : 0.5;  // while it answers
    setup.patience_s = weights ? 2 : 1;
    std::string named;
    const auto plan = [&](FaultKind kind) {
        setup.faults.push_back(draw_fault(dice, kind, setup.engines, horizon_s, setup.patience_s));
        named += fmt::format(" {}", to_string(kind));
    };
    plan(kinds[seed % kinds.size()]);
    for (auto n = dice.between(1, 4); n > 0; --n) plan(kinds[dice.below(kinds.size())]);
    schedule.says = fmt::format(
        "{}, {} questions{}, {} engines, mode {}, L{}:{}", weights ? real_model : "a small decoder",
        plans.size(), setup.in_turn ? " in turn" : "", setup.engines, to_string(setup.answer.mode),
        static_cast<int>(setup.answer.reuse), named);
    return schedule;
}

/// One engine, in this process.
LiveRun undisturbed(const ServedSetup& setup) {
    decode::EngineSettings settings = setup.engine;
    settings.blocks = blocks_for(setup.questions, 1);
    return run_live(setup.questions, setup.model.back_end(settings, settings.weights),
                    {.answer = setup.answer});
}

}  // namespace

drive::SeedOutcome run_live_schedule(std::uint64_t seed, const std::string& mode, Misdeed misdeed) {
    Schedule schedule = draw(seed, mode);
    schedule.setup.misdeed = misdeed;
    drive::SeedOutcome outcome;
    outcome.says = schedule.says;
    try {
        const ServedOutcome found = answer_on_processes(schedule.setup);
        outcome.counts = found.counts;
        outcome.counts["questions"] = static_cast<long>(schedule.setup.questions.size());
        std::vector<std::vector<AnsweredPart>> parts;
        for (const ServedOutcome::Answer& answer : found.answers) parts.push_back(answer.parts);
        check_text(undisturbed(schedule.setup), schedule.setup.answer.mode, parts);
        outcome.ok = true;
    } catch (const std::exception& broken) {
        outcome.why = broken.what();
    }
    return outcome;
}

}  // namespace assay::plato
