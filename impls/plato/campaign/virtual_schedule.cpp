#include "impls/plato/campaign/virtual_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <utility>

#include "impls/plato/live/live_run.hpp"

namespace assay::plato {
namespace {

class Dice {
  public:
    explicit Dice(std::uint64_t seed) : random_(seed) {}
    std::uint64_t below(std::uint64_t n) { return random_() % n; }
    std::int64_t between(std::int64_t least, std::int64_t most) {
        return least +
               static_cast<std::int64_t>(below(static_cast<std::uint64_t>(most - least + 1)));
    }
    bool one_in(std::uint64_t n) { return below(n) == 0; }
    double seconds(std::uint64_t most) { return static_cast<double>(below(most * 8)) / 8; }
    std::uint64_t any() { return random_(); }

  private:
    std::mt19937_64 random_;
};

PlanRecord draw_plan(Dice& dice, int number) {
    PlanRecord plan{.id = std::to_string(number),
                    .question_tokens = dice.between(1, 20),
                    .static_plan_tokens = dice.between(0, 40),
                    .static_node_tokens = dice.between(0, 40),
                    .nodes = {}};
    const auto nodes = dice.between(1, 7);
    for (int i = 1; i <= nodes; ++i) {
        NodeRecord node{.line_tokens = dice.between(1, 8),
                        .lead_tokens = dice.between(1, 6),
                        .out_tokens = dice.between(1, 40),
                        .dependencies = {}};
        for (int before = 1; before < i; ++before)
            if (dice.one_in(3)) node.dependencies.push_back(before);
        plan.ar_tokens += node.out_tokens;
        plan.nodes.push_back(std::move(node));
    }
    return plan;
}

VirtualFault draw_fault(Dice& dice, int engines, double until_s) {
    constexpr std::array kinds{FaultKind::kill, FaultKind::hang, FaultKind::slow,
                               FaultKind::corrupt, FaultKind::wipe};
    return {.at_s = dice.seconds(static_cast<std::uint64_t>(until_s)),
            .kind = kinds[dice.below(kinds.size())],
            .engine = static_cast<int>(dice.below(static_cast<std::uint64_t>(engines))),
            .for_s = 1 + dice.seconds(90),
            .factor = 1 + dice.seconds(8),
            .bit = dice.any()};
}

/// The text without faults: one engine that has room for all.
std::vector<std::vector<VirtualOutcome::Part>> undisturbed(const VirtualSetup& setup) {
    const LiveSettings settings{.answer = setup.answer, .modelled_time = true};
    const LiveRun run = run_live(setup.questions,
                                 std::make_unique<decode::ModelledBackEnd>(decode::ModelledSettings{
                                     .vocabulary = setup.vocabulary,
                                     .context = setup.context,
                                     .blocks = blocks_for(setup.questions, 1),
                                     .cost = setup.cost}),
                                 settings);
    std::vector<std::vector<VirtualOutcome::Part>> parts;
    for (const LiveAnswer& answer : run.answers) {
        auto& of_answer = parts.emplace_back();
        for (const LiveNode& node : answer.nodes)
            of_answer.push_back({node.ids, node.log_probabilities});
    }
    return parts;
}

void compare(const VirtualSetup& setup, const VirtualOutcome& outcome) {
    const auto expected = undisturbed(setup);
    const std::size_t first = setup.answer.mode == Mode::ar ? 0 : 1;
    for (std::size_t q = 0; q < expected.size(); ++q)
        for (std::size_t i = 0; i < expected[q].size(); ++i)
            if (outcome.parts[q][i + first] != expected[q][i])
                throw BrokenRule(fmt::format(
                    "part {} of question {} is another text than without faults", i + first, q));
}

constexpr std::array names{"ar", "sot", "waves", "plato_nopipe", "plato"};

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
    // Plato most of the time: what it does is what is looked at.
    const std::size_t drawn = std::min<std::size_t>(dice.below(8), names.size() - 1);
    setup.answer.mode = parse_mode(mode.empty() ? names[drawn] : mode).value();
    setup.answer.reuse =
        std::array{KvReuse::none, KvReuse::shared, KvReuse::prefix, KvReuse::prefix}[dice.below(4)];
    setup.answer.order = std::array{Order::path, Order::index, Order::prefix}[dice.below(3)];
    setup.answer.warm = dice.one_in(2);
    setup.engines = static_cast<int>(dice.between(1, 3));
    setup.max_batch = static_cast<int>(dice.between(1, 6));
    setup.cost = {.fixed_s = 0.25, .weights_s = 1, .token_s = 0.0625, .position_s = 0};
    setup.checks = dice.one_in(2);
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
        fmt::format("{} questions, {} engines of {} blocks, {} faults, mode {}",
                    setup.questions.size(), setup.engines, setup.blocks, setup.faults.size(),
                    names[static_cast<std::size_t>(setup.answer.mode)]);
    try {
        const VirtualOutcome found = answer_virtually(setup);
        outcome.counts = found.counts;
        outcome.counts["questions"] = static_cast<long>(setup.questions.size());
        compare(setup, found);
        outcome.ok = true;
    } catch (const std::exception& broken) {
        outcome.why = broken.what();  // an engine that refuses a request, too
    }
    return outcome;
}

drive::Campaign campaign_modes() {
    drive::Campaign campaign;
    campaign.says =
        "Seeded schedules of faults against Plato's controller and the engines that it drives: "
        "they "
        "are killed, hang, become slow, lose their caches, and what they report is damaged; checks "
        "after each that no node started early, every part was answered once, with the text that "
        "it has without faults, and that no block is left.";
    campaign.modes = {
        {.name = "virtual",
         .says = "in virtual time",
         .seeds = {1, 500},
         .prepare = {},
         .run = [](std::uint64_t seed,
                   const std::string& variant) { return run_virtual_schedule(seed, variant); },
         .longest_s = 60,
         .seeds_per_process = 100,
         .jobs = 0}};
    campaign.variants = {names.begin(), names.end()};
    campaign.told = {{"questions", "questions"},
                     {"parts", "parts of answers"},
                     {"tokens", "tokens"},
                     {"resumed", "parts gone on with elsewhere"},
                     {"refused", "damaged reports refused"},
                     {"given_up", "engines given up"}};
    return campaign;
}

}  // namespace assay::plato
