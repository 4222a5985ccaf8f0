#include "impls/plato/campaign/virtual_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "impls/plato/campaign/drawn.hpp"
#include "impls/plato/campaign/engine_faults.hpp"

namespace assay::plato {
namespace {

Fault draw_fault(Dice& dice, int engines, double until_s) {
    constexpr std::array kinds{FaultKind::kill, FaultKind::hang, FaultKind::slow,
                               FaultKind::corrupt, FaultKind::wipe};
    const double at_s = dice.seconds(static_cast<std::uint64_t>(until_s));
    const FaultKind kind = kinds[dice.below(kinds.size())];
    Fault fault =
        engine_fault(kind, at_s, static_cast<int>(dice.below(static_cast<std::uint64_t>(engines))));
    fault.factor = 1 + dice.seconds(8);
    // Slow ones are so to the end, every other time.
    const double for_s = 1 + dice.seconds(90);
    if (fault.kind != FaultKind::slow || dice.one_in(2)) fault.for_s = for_s;
    return fault;
}

/// One engine that has room for all.
LiveRun undisturbed(const VirtualSetup& setup) {
    return run_live(setup.questions,
                    std::make_unique<decode::ModelledBackEnd>(
                        decode::ModelledSettings{.vocabulary = setup.vocabulary,
                                                 .context = setup.context,
                                                 .blocks = blocks_for(setup.questions, 1),
                                                 .cost = setup.cost}),
                    {.answer = setup.answer, .modelled_time = true});
}

}  // namespace

VirtualSetup draw_setup(std::uint64_t seed, const std::string& mode) {
    Dice dice(seed);
    VirtualSetup setup;
    std::vector<PlanRecord> plans;
    const auto questions = dice.between(1, 4);
    for (int i = 0; i < questions; ++i) plans.push_back(draw_plan(dice, i));
    setup.questions = drawn_tokens(plans, setup.vocabulary, seed);
    for (const auto& question : setup.questions) {
        setup.come_s.push_back(dice.seconds(30));
        setup.blocks =
            std::max(setup.blocks,
                     static_cast<int>(token_need(question).longest) / decode::block_positions + 2);
    }
    setup.blocks += static_cast<int>(dice.below(30));
    setup.answer.mode = draw_mode(dice, mode);
    setup.answer.reuse =
        std::array{KvReuse::none, KvReuse::shared, KvReuse::prefix, KvReuse::linked}[dice.below(4)];
    if (setup.answer.reuse == KvReuse::linked) {  // all that run, and all that are kept
        setup.blocks += 2 * blocks_for(setup.questions, static_cast<int>(setup.questions.size()));
        if (dice.one_in(2)) setup.answer.positions = LinkPositions::reserved;
    }
    setup.answer.order = std::array{Order::path, Order::index, Order::prefix}[dice.below(3)];
    setup.answer.warm = dice.one_in(2);
    setup.engines = static_cast<int>(dice.between(1, 3));
    setup.max_batch = static_cast<int>(dice.between(1, 6));
    setup.cost = {.fixed_s = 0.25, .weights_s = 1, .token_s = 0.0625, .position_s = 0};
    setup.checks = dice.one_in(2);
    setup.seed = seed;
    for (auto n = dice.between(1, 8); n > 0; --n)
        setup.faults.push_back(draw_fault(dice, setup.engines, 150));
    return setup;
}

drive::SeedOutcome run_virtual_schedule(std::uint64_t seed, const std::string& mode,
                                        Misdeed misdeed) {
    VirtualSetup setup = draw_setup(seed, mode);
    setup.misdeed = misdeed;
    drive::SeedOutcome outcome;
    outcome.says =
        fmt::format("{} questions, {} engines of {} blocks, {} faults, mode {}, L{}",
                    setup.questions.size(), setup.engines, setup.blocks, setup.faults.size(),
                    to_string(setup.answer.mode), static_cast<int>(setup.answer.reuse));
    try {
        const VirtualOutcome found = answer_virtually(setup);
        outcome.counts = found.counts;
        outcome.counts["questions"] = static_cast<long>(setup.questions.size());
        check_text(undisturbed(setup), setup.answer.mode, found.parts);
        outcome.ok = true;
    } catch (const std::exception& broken) {
        outcome.why = broken.what();  // an engine that refuses a request, too
    }
    return outcome;
}

}  // namespace assay::plato
