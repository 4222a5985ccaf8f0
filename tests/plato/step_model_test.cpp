#include "impls/plato/simulated/step_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "impls/plato/policy/reuse_order.hpp"

namespace assay::plato {
namespace {

// The example of the specification, all of it by hand.
PlanRecord example() {
    return {.id = "example",
            .question_tokens = 5,
            .static_plan_tokens = 20,
            .static_node_tokens = 10,
            .ar_tokens = 9,
            .nodes = {{3, 2, 4, {}}, {3, 2, 3, {1}}, {3, 2, 2, {1}}}};
}
constexpr StepCosts costs{.step_ms = 10, .sequence_ms = 1, .prefill_ms = 1};

TEST(StepModelTest, TheExampleByHand) {
    const auto plan = example();
    const Schedule plato = schedule(plan, costs, {});
    EXPECT_DOUBLE_EQ(plato.makespan_ms, 175);
    EXPECT_DOUBLE_EQ(plato.critical_path_ms, 155);
    EXPECT_DOUBLE_EQ(plato.ar_ms, 114);
    EXPECT_EQ(plato.nodes[0].recomputed_tokens, 17);
    EXPECT_EQ(plato.nodes[1].recomputed_tokens, 3);
    EXPECT_EQ(plato.nodes[2].recomputed_tokens, 2);
    EXPECT_DOUBLE_EQ(plato.nodes[0].start_ms, 58);
    EXPECT_DOUBLE_EQ(plato.nodes[1].ready_ms, 123);
    EXPECT_DOUBLE_EQ(plato.nodes[2].ready_ms, 150);
    EXPECT_DOUBLE_EQ(plato.nodes[2].end_ms, 175);
    EXPECT_EQ(plato.steps, 3 + 4 + 1 + 1 + 1 + 1);
    EXPECT_EQ(plato.answer_tokens, 9);
    EXPECT_EQ(plato.plan_tokens, 9);
    EXPECT_DOUBLE_EQ(schedule(plan, costs, {.reuse = KvReuse::none}).makespan_ms, 216);
    EXPECT_DOUBLE_EQ(schedule(plan, costs, {.mode = Mode::plato_nopipe}).makespan_ms, 225);
    const Schedule without = schedule(plan, costs, {.mode = Mode::ar});
    EXPECT_DOUBLE_EQ(without.makespan_ms, 114);
    EXPECT_EQ(without.prompt_tokens, 15);
    EXPECT_TRUE(without.nodes.empty());
}

TEST(StepModelTest, LevelsOfReuseByHand) {
    const auto plan = example();
    const auto recomputed = [&](KvReuse reuse, bool warm, Mode mode = Mode::plato) {
        std::vector<std::int64_t> tokens;
        for (const auto& node :
             schedule(plan, costs, {.mode = mode, .reuse = reuse, .warm = warm}).nodes)
            tokens.push_back(node.recomputed_tokens);
        return tokens;
    };
    using Tokens = std::vector<std::int64_t>;
    EXPECT_EQ(recomputed(KvReuse::none, false), (Tokens{17, 23, 23}));
    EXPECT_EQ(recomputed(KvReuse::none, true), (Tokens{17, 23, 23}));
    EXPECT_EQ(recomputed(KvReuse::shared, false), (Tokens{17, 8, 8}));
    EXPECT_EQ(recomputed(KvReuse::shared, true), (Tokens{7, 8, 8}));
    EXPECT_EQ(recomputed(KvReuse::prefix, true), (Tokens{7, 3, 2}));
    EXPECT_EQ(recomputed(KvReuse::linked, false), (Tokens{17, 3, 3}));
    // Skeleton-of-Thought: instruction, question, three lines of two tokens (those of its leads,
    // the plan says no others), the node's own lead.
    EXPECT_EQ(recomputed(KvReuse::shared, false, Mode::sot), (Tokens{23, 8, 8}));
    EXPECT_EQ(recomputed(KvReuse::prefix, false, Mode::sot), (Tokens{23, 2, 2}));
    EXPECT_EQ(recomputed(KvReuse::linked, false, Mode::sot), (Tokens{23, 2, 2}));
    EXPECT_DOUBLE_EQ(schedule(plan, costs, {.mode = Mode::ar, .warm = true}).makespan_ms, 104);
}

// Its request 4 and the question 5, 3 points of 1 token in steps of one sequence; then the first
// prompt, 6 + 5 + 3 + 1, of the others the point alone; 3 sequences of 4, 3, 2 tokens.
TEST(StepModelTest, SkeletonOfThoughtPaysForItsOwnPromptsAndLines) {
    PlanRecord plan = example();
    plan.static_skeleton_tokens = 4;
    plan.static_point_tokens = 6;
    for (NodeRecord& node : plan.nodes) node.point_tokens = 1;
    const Schedule sot = schedule(plan, costs, {.mode = Mode::sot});
    EXPECT_EQ(sot.plan_tokens, 3);
    EXPECT_EQ(sot.answer_tokens, 9);
    EXPECT_EQ(sot.prompt_tokens, 3 * (6 + 5 + 3 + 1));
    EXPECT_EQ(sot.recomputed_tokens, 15 + 1 + 1);
    EXPECT_DOUBLE_EQ(sot.makespan_ms, 9 + 3 * 11 + 17 + 2 * 13 + 12 + 11);
    EXPECT_DOUBLE_EQ(sot.ar_ms, 114) << "the answer without a plan is Plato's";
    for (const Mode mode : {Mode::ar, Mode::waves, Mode::plato_nopipe, Mode::plato})
        EXPECT_DOUBLE_EQ(schedule(plan, costs, {.mode = mode}).makespan_ms,
                         schedule(example(), costs, {.mode = mode}).makespan_ms);
    const PlanRecord skeleton = skeleton_of(with_closing_node(plan, 2, 5));
    EXPECT_EQ(skeleton.node(4).line_tokens, 0);
    EXPECT_DOUBLE_EQ(schedule(skeleton_of(plan), costs, {.mode = Mode::sot}).makespan_ms,
                     sot.makespan_ms);
}

// Its prompt: 15 + leads and answers, 6 + 5 + 4, + its lead; all but the longest common prefix, of
// node 2 behind node 1 (15 + 6, its lead, its answer but the last token), is new.
TEST(StepModelTest, AClosingNodeComesLastAndHasNoLine) {
    const auto plan = with_closing_node(example(), 1, 5);
    ASSERT_EQ(plan.size(), 4);
    EXPECT_EQ(plan.node(4).dependencies, (std::vector{1, 2, 3}));
    for (const Mode mode : {Mode::sot, Mode::waves, Mode::plato_nopipe, Mode::plato}) {
        const Schedule with = schedule(plan, costs, {.mode = mode});
        const Schedule without = schedule(example(), costs, {.mode = mode});
        EXPECT_EQ(with.plan_tokens, without.plan_tokens);
        EXPECT_EQ(with.answer_tokens, without.answer_tokens + 5);
        if (mode == Mode::sot) continue;  // nothing waits there
        EXPECT_DOUBLE_EQ(with.nodes[3].start_ms, without.makespan_ms);
        EXPECT_DOUBLE_EQ(with.ar_ms, without.ar_ms);
    }
    const Schedule plato = schedule(plan, costs, {});
    EXPECT_EQ(plato.nodes[3].prompt_tokens, 31);
    EXPECT_EQ(plato.nodes[3].recomputed_tokens, 31 - (15 + 6 + 2 + 3 - 1));
    EXPECT_DOUBLE_EQ(plato.makespan_ms, 175 + 6 + 5 * 11);
}

PlanRecord random_plan(std::mt19937_64& random) {
    const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
    PlanRecord plan{.id = "random",
                    .question_tokens = below(20),
                    .static_plan_tokens = below(30),
                    .static_node_tokens = below(20),
                    .ar_tokens = 1 + below(100),
                    .nodes = {}};
    if (below(2) == 0) plan.static_skeleton_tokens = below(30);
    if (below(2) == 0) plan.static_point_tokens = below(20);
    const auto nodes = 1 + below(9);
    for (int i = 1; i <= nodes; ++i) {
        NodeRecord node{1 + below(6), 1 + below(5), 1 + below(12), {}};
        for (int before = 1; before < i; ++before)
            if (below(3) == 0) node.dependencies.push_back(before);
        if (below(2) == 0) node.point_tokens = 1 + below(4);
        plan.nodes.push_back(node);
    }
    return plan;
}

/// What Skeleton-of-Thought has in place of the plan's counts, written out once more.
PlanRecord in_mode(PlanRecord plan, Mode mode) {
    if (mode != Mode::sot) return plan;
    if (plan.static_skeleton_tokens) plan.static_plan_tokens = *plan.static_skeleton_tokens;
    if (plan.static_point_tokens) plan.static_node_tokens = *plan.static_point_tokens;
    for (NodeRecord& node : plan.nodes)
        node.line_tokens = node.lead_tokens = node.point_tokens.value_or(node.lead_tokens);
    return plan;
}

// The same schedule once more, written as the specification says it: one step after the other,
// tokens as ids, prefixes compared token by token.
class OneStepAtATime {
  public:
    OneStepAtATime(const PlanRecord& plan, const ScheduleSettings& settings)
        : plan_(in_mode(plan, settings.mode)), settings_(settings) {}

    double makespan() {
        const int n = plan_.size();
        const bool warm = settings_.warm && settings_.reuse != KvReuse::none;
        double now = costs.prefill_ms * static_cast<double>(plan_.question_tokens +
                                                            (warm ? 0 : plan_.static_plan_tokens));
        std::vector<std::int64_t> left(static_cast<std::size_t>(n)), state(left.size(), 0);
        std::int64_t written = 0, all_lines = 0;
        for (int i = 1; i <= n; ++i) {
            left[at(i)] = plan_.node(i).out_tokens;
            all_lines += plan_.node(i).line_tokens;
        }
        if (warm) cached_.push_back(tokens(1, plan_.static_node_tokens));
        bool first = true;
        while (std::any_of(left.begin(), left.end(), [](auto l) { return l > 0; })) {
            std::int64_t running =
                std::count(state.begin(), state.end(), 1) + (written < all_lines);
            std::int64_t prefill = 0;
            for (; running < settings_.max_batch; ++running) {
                const int next = best(written, all_lines, state);
                if (next == 0) break;
                const auto prompt = prompt_of_node(next);
                prefill += static_cast<std::int64_t>(prompt.size()) - found(next, prompt, first);
                first = false;
                cached_.push_back(prompt);
                state[at(next)] = 1;
            }
            now += costs.prefill_ms * static_cast<double>(prefill) + costs.step_ms +
                   costs.sequence_ms * static_cast<double>(running);
            if (written < all_lines) ++written;
            for (int i = 1; i <= n; ++i) {
                if (state[at(i)] != 1 || --left[at(i)] > 0) continue;
                state[at(i)] = 2;
                auto sequence = prompt_of_node(i);
                const auto answer = tokens(1000 + i, plan_.node(i).out_tokens - 1);
                sequence.insert(sequence.end(), answer.begin(), answer.end());
                cached_.push_back(sequence);
            }
        }
        return now;
    }

  private:
    using Tokens = std::vector<std::pair<int, std::int64_t>>;  // of which text, which of it
    static std::size_t at(int node) { return static_cast<std::size_t>(node - 1); }
    static Tokens tokens(int text, std::int64_t count) {
        Tokens tokens;
        for (std::int64_t i = 0; i < count; ++i) tokens.emplace_back(text, i);
        return tokens;
    }
    Tokens prompt_of_node(int node) const {
        Tokens prompt;
        const auto add = [&](int text, std::int64_t count) {
            for (const auto& token : tokens(text, count)) prompt.push_back(token);
        };
        add(1, plan_.static_node_tokens);
        add(2, plan_.question_tokens);
        if (settings_.mode == Mode::sot)
            for (int line = 1; line <= plan_.size(); ++line)
                add(3000 + line, plan_.node(line).line_tokens);
        else
            for (const int before : plan_.node(node).dependencies) {
                add(2000 + before, plan_.node(before).lead_tokens);
                add(1000 + before, plan_.node(before).out_tokens);
            }
        add(2000 + node, plan_.node(node).lead_tokens);
        return prompt;
    }
    std::int64_t found(int node, const Tokens& prompt, bool first) const {
        const auto shared = plan_.static_node_tokens + plan_.question_tokens;
        const auto of_shared = first ? (settings_.warm ? plan_.static_node_tokens : 0) : shared;
        std::int64_t most = 0;
        for (const Tokens& sequence : cached_) {
            std::size_t common = 0;
            while (common < std::min(sequence.size(), prompt.size()) &&
                   sequence[common] == prompt[common])
                ++common;
            most = std::max(most, static_cast<std::int64_t>(common));
        }
        switch (settings_.reuse) {
            case KvReuse::none:
                return 0;
            case KvReuse::shared:
                return of_shared;
            case KvReuse::prefix:
                return most;
            case KvReuse::linked:
                break;
        }
        if (settings_.mode == Mode::sot) return most;
        const auto lead = plan_.node(node).lead_tokens;
        const auto links = static_cast<std::int64_t>(plan_.node(node).dependencies.size());
        return static_cast<std::int64_t>(prompt.size()) - lead - links - (shared - of_shared);
    }
    int depth(int node) const {
        int most = 0;
        for (const int before : plan_.node(node).dependencies)
            most = std::max(most, depth(before) + 1);
        return most;
    }
    std::int64_t path(int node, int announced) const {
        std::int64_t most = 0;
        for (int after = node + 1; after <= announced && settings_.mode != Mode::sot; ++after) {
            const auto& list = plan_.node(after).dependencies;
            if (std::find(list.begin(), list.end(), node) != list.end())
                most = std::max(most, path(after, announced));
        }
        return plan_.node(node).out_tokens + most;
    }
    int best(std::int64_t written, std::int64_t all_lines,
             const std::vector<std::int64_t>& state) const {
        int announced = 0;
        for (std::int64_t lines = 0; announced < plan_.size(); ++announced) {
            lines += plan_.node(announced + 1).line_tokens;
            if (lines > written) break;
        }
        if (settings_.mode != Mode::plato && written < all_lines) announced = 0;
        int best = 0;
        std::int64_t most = -1;
        for (int i = 1; i <= announced; ++i) {
            bool ready = state[at(i)] == 0;
            for (int other = 1; other <= plan_.size() && ready; ++other) {
                const auto& list = plan_.node(i).dependencies;
                const bool waits = settings_.mode == Mode::waves ? depth(other) < depth(i)
                                   : settings_.mode == Mode::sot
                                       ? false
                                       : std::find(list.begin(), list.end(), other) != list.end();
                if (waits && state[at(other)] != 2) ready = false;
            }
            if (!ready) continue;
            std::int64_t rank = 0;
            if (settings_.order == Order::path) rank = path(i, announced);
            if (settings_.order == Order::prefix)
                rank = found(i, prompt_of_node(i), cached_.size() <= (settings_.warm ? 1U : 0U));
            if (rank > most) {
                most = rank;
                best = i;
            }
        }
        return best;
    }

    const PlanRecord plan_;
    const ScheduleSettings settings_;
    std::vector<Tokens> cached_;
};

TEST(StepModelTest, DependenciesInTheOrderThatReusesMost) {
    PlanRecord plan = example();
    plan.nodes = {{3, 2, 4, {}}, {3, 2, 3, {}}, {3, 2, 2, {2}}, {3, 2, 1, {1, 2, 3}}};
    const PlanRecord ordered = ordered_for_reuse(plan);
    EXPECT_EQ(ordered.node(3).in_prompt(), std::vector{2});
    EXPECT_EQ(ordered.node(4).in_prompt(), (std::vector{2, 3, 1}));  // 3 had 2 before it
    EXPECT_EQ(ordered.node(4).dependencies, (std::vector{1, 2, 3}));
    // Ascending: 15 and node 1 but its answer's last token are found; else 15, node 2 and node 3.
    EXPECT_EQ(schedule(plan, costs, {}).nodes[3].recomputed_tokens, 15 + 6 + 5 + 4 + 2 - (15 + 5));
    EXPECT_EQ(schedule(ordered, costs, {}).nodes[3].recomputed_tokens,
              15 + 6 + 5 + 4 + 2 - (15 + 5 + 3));
    std::mt19937_64 random(2);
    for (int round = 0; round < 100; ++round)
        for (const NodeRecord& node : ordered_for_reuse(random_plan(random)).nodes) {
            std::vector<int> sorted = node.in_prompt();
            std::sort(sorted.begin(), sorted.end());
            EXPECT_EQ(sorted, node.dependencies);
        }
}

TEST(StepModelTest, AgreesWithOneStepAtATime) {
    std::mt19937_64 random(11);
    for (int round = 0; round < 600; ++round) {
        const PlanRecord plan = random_plan(random);
        ScheduleSettings settings;
        settings.mode =
            std::array{Mode::sot, Mode::waves, Mode::plato_nopipe, Mode::plato}[random() % 4];
        settings.reuse = std::array{KvReuse::none, KvReuse::shared, KvReuse::prefix,
                                    KvReuse::linked}[random() % 4];
        settings.order = std::array{Order::path, Order::index, Order::prefix}[random() % 3];
        settings.max_batch = 1 + static_cast<int>(random() % 6);
        settings.warm = random() % 2 == 0;
        const Schedule ours = schedule(plan, costs, settings);
        EXPECT_NEAR(ours.makespan_ms, OneStepAtATime(plan, settings).makespan(), 1e-6)
            << "round " << round;
        EXPECT_LE(ours.critical_path_ms, ours.makespan_ms + 1e-6) << "round " << round;
    }
}

TEST(StepModelTest, NobodyStartsTooEarlyAndPipeliningNeverCosts) {
    std::mt19937_64 random(5);
    for (int round = 0; round < 500; ++round) {
        const PlanRecord plan = random_plan(random);
        const Schedule piped = schedule(plan, costs, {});
        for (int i = 1; i <= plan.size(); ++i) {
            const NodeSchedule& node = piped.nodes[static_cast<std::size_t>(i - 1)];
            EXPECT_GE(node.start_ms, node.ready_ms);
            for (const int before : plan.node(i).dependencies)
                EXPECT_GE(node.start_ms, piped.nodes[static_cast<std::size_t>(before - 1)].end_ms);
        }
        // With room for all and nothing to recompute but for equal prompts.
        const auto at = [&](Mode mode) {
            return schedule(plan, costs, {.mode = mode, .reuse = KvReuse::none}).makespan_ms;
        };
        EXPECT_LE(at(Mode::plato), at(Mode::plato_nopipe) + 1e-6);
        EXPECT_LE(at(Mode::plato_nopipe), at(Mode::waves) + 1e-6);
    }
}

}  // namespace
}  // namespace assay::plato
