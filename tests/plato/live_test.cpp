// Plans on the engine, with a toy model: equal bits at all exact levels of reuse, the counters of
// `assay plan plato`, nobody too early, no block left.
#include "impls/plato/live/live_run.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "impls/decode/cpu/back_end.hpp"
#include "impls/plato/simulated/step_model.hpp"
#include "suite/base/error.hpp"
#include "tests/decode/toy_networks.hpp"

namespace assay::plato {
namespace {

constexpr int context = 400;

const nn::TensorFile& toy() {
    static const nn::TensorFile file = [] {
        nn::DecoderConfig config = nn::toy_llama_config();
        config.vocabulary = 256;
        config.context = context;
        return decode::toy_file(nn::toy_model(config));
    }();
    return file;
}

PlanRecord random_plan(std::mt19937_64& random, const std::string& id) {
    const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
    PlanRecord plan{.id = id,
                    .question_tokens = 1 + below(20),
                    .static_plan_tokens = below(30),
                    .static_node_tokens = below(40),
                    .ar_tokens = 0,
                    .nodes = {}};
    const auto nodes = 1 + below(6);
    for (int i = 1; i <= nodes; ++i) {
        NodeRecord node{1 + below(6), 1 + below(5), 1 + below(20), {}};
        for (int before = 1; before < i; ++before)
            if (below(3) == 0) node.dependencies.push_back(before);
        if (below(3) == 0) node.text = "so it is";
        if (below(2) == 0) node.point_tokens = 1 + below(4);
        plan.ar_tokens += node.out_tokens;
        plan.nodes.push_back(node);
    }
    if (below(2) == 0) plan.static_skeleton_tokens = below(30);
    if (below(2) == 0) plan.static_point_tokens = below(40);
    if (below(3) == 0) plan = with_closing_node(std::move(plan), 1 + below(3), 1 + below(9));
    return plan;
}

std::vector<QuestionTokens> random_questions(std::uint64_t seed, int count) {
    std::mt19937_64 random(seed);
    std::vector<PlanRecord> plans;
    for (int i = 0; i < count; ++i) plans.push_back(random_plan(random, std::to_string(i)));
    return drawn_tokens(plans, nn::Tokenizer::bytes(), seed);
}

LiveRun live(const std::vector<QuestionTokens>& questions, const LiveSettings& settings,
             int more_blocks = 0) {
    return run_live(
        questions,
        std::make_unique<decode::CpuBackEnd>(
            decode::load_model(toy(), {}),
            decode::PassOptions{.blocks = blocks_for(questions, settings.concurrency) + more_blocks,
                                .threads = 1}),
        settings);
}

Schedule planned(const PlanRecord& plan, const LiveSettings& settings) {
    return schedule(plan, {},
                    {.mode = settings.answer.mode,
                     .reuse = settings.answer.reuse,
                     .order = settings.answer.order,
                     .max_batch = settings.max_batch,
                     .warm = settings.answer.warm});
}

constexpr std::array modes{Mode::ar, Mode::sot, Mode::waves, Mode::plato_nopipe, Mode::plato};

TEST(PlatoLive, LevelsOfReuseHaveEqualBitsAndThePlansCounters) {
    for (int round = 0; round < 6; ++round) {
        const auto questions = random_questions(static_cast<std::uint64_t>(round), 2);
        for (const Mode mode : modes) {
            std::optional<std::uint32_t> crc;
            for (const KvReuse reuse :
                 {KvReuse::none, KvReuse::shared, KvReuse::prefix, KvReuse::linked}) {
                LiveSettings settings{
                    .answer = {.mode = mode,
                               .reuse = reuse,
                               .order = round % 2 == 0 ? Order::path : Order::prefix},
                    .max_batch = round % 3 == 0 ? 2 : 64};
                if (reuse == KvReuse::linked && round % 2 == 0)
                    settings.answer.positions = LinkPositions::reserved;
                settings.answer.warm = round != 1;
                const LiveRun run = live(questions, settings);
                EXPECT_EQ(run.held_blocks, 0);
                if (!crc) crc = run.answers_crc32;
                if (reuse != KvReuse::linked || mode == Mode::sot || mode == Mode::ar) {
                    EXPECT_EQ(run.answers_crc32, *crc);
                }
                for (std::size_t q = 0; q < questions.size(); ++q) {
                    const Schedule plan = planned(questions[q].plan, settings);
                    const LiveAnswer& answer = run.answers[q];
                    EXPECT_EQ(answer.prompt_tokens, plan.prompt_tokens);
                    EXPECT_EQ(answer.recomputed_tokens, plan.recomputed_tokens)
                        << "round " << round << " mode " << static_cast<int>(mode) << " reuse "
                        << static_cast<int>(reuse);
                    EXPECT_EQ(answer.plan_tokens, plan.plan_tokens);
                    EXPECT_EQ(answer.answer_tokens, plan.answer_tokens);
                }
            }
        }
    }
}

TEST(PlatoLive, AnswersAreForcedWhereTheyWereRecordedAndElseTheModels) {
    const auto questions = random_questions(3, 3);
    const LiveRun run = live(questions, {});
    const nn::Tokenizer bytes = nn::Tokenizer::bytes();
    int forced = 0, free = 0;
    for (std::size_t q = 0; q < questions.size(); ++q)
        for (std::size_t i = 0; i < questions[q].nodes.size(); ++i) {
            const auto& ids = run.answers[q].nodes[i].ids;
            EXPECT_EQ(static_cast<std::int64_t>(ids.size()), questions[q].plan.nodes[i].out_tokens);
            if (!questions[q].plan.nodes[i].text) {
                ++free;
                continue;
            }
            ++forced;
            std::string text;
            while (text.size() < ids.size()) text += "so it is";
            EXPECT_EQ(bytes.decode(ids), text.substr(0, ids.size()));
        }
    EXPECT_GT(forced, 0);
    EXPECT_GT(free, 0);
}

TEST(PlatoLive, NobodyStartsBeforeWhatItWaitsForHasEnded) {
    for (const Mode mode : {Mode::sot, Mode::waves, Mode::plato_nopipe, Mode::plato})
        for (const LiveAnswer& answer :
             live(random_questions(8, 4), {.answer = {.mode = mode}}).answers)
            for (const LiveNode& node : answer.nodes) {
                EXPECT_LE(node.ready_s, node.start_s);
                EXPECT_LT(node.start_s, node.end_s);
                EXPECT_LE(node.end_s, answer.seconds);
            }
}

TEST(PlatoLive, QuestionsSideBySideHaveTheSameTokens) {
    const auto questions = random_questions(21, 6);
    for (const KvReuse reuse : {KvReuse::none, KvReuse::prefix, KvReuse::linked}) {
        LiveSettings settings{.answer = {.reuse = reuse}};
        const LiveRun alone = live(questions, settings);
        for (const int concurrency : {2, 6}) {
            settings.concurrency = concurrency;
            const LiveRun together = live(questions, settings);
            EXPECT_EQ(together.answers_crc32, alone.answers_crc32);
            EXPECT_EQ(together.held_blocks, 0);
            for (std::size_t q = 0; q < questions.size(); ++q)
                EXPECT_EQ(together.answers[q].recomputed_tokens,
                          alone.answers[q].recomputed_tokens);
            EXPECT_LT(together.steps.size(), alone.steps.size());
        }
    }
}

TEST(PlatoLive, StepsTellWhatWasPrefilled) {
    const auto questions = random_questions(5, 2);
    for (const Mode mode : modes) {
        const LiveRun run = live(questions, {.answer = {.mode = mode, .reuse = KvReuse::none}});
        std::int64_t prefilled = 0, tokens = 0, expected = 0, all = 0;
        for (const LiveStep& step : run.steps) {
            prefilled += step.prefilled;
            tokens += step.sequences;
        }
        for (std::size_t q = 0; q < questions.size(); ++q) {
            expected += run.answers[q].recomputed_tokens;
            if (mode != Mode::ar)
                expected += static_cast<std::int64_t>(questions[q].static_plan.size() +
                                                      questions[q].question.size());
            all += run.answers[q].answer_tokens + run.answers[q].plan_tokens;
        }
        EXPECT_EQ(prefilled, expected);
        EXPECT_EQ(tokens, all);
    }
}

TEST(PlatoLive, RefusesPlansThatCannotBeDecoded) {
    std::mt19937_64 random(1);
    PlanRecord plan = random_plan(random, "a");
    plan.question_tokens = 0;
    EXPECT_THROW(drawn_tokens({plan}, nn::Tokenizer::bytes(), 1), UserError);
    plan.question_tokens = 1;
    plan.nodes[0].text = "";
    EXPECT_THROW(drawn_tokens({plan}, nn::Tokenizer::bytes(), 1), UserError);
    plan.nodes[0].text.reset();
    plan.nodes[0].out_tokens = context;
    const auto questions = drawn_tokens({plan}, nn::Tokenizer::bytes(), 1);
    EXPECT_THROW(live(questions, {}, 100), UserError);
}

TEST(PlatoLive, Crc32) {
    const std::string_view text = "123456789";
    EXPECT_EQ(crc32(std::as_bytes(std::span(text.data(), text.size()))), 0xCBF43926U);
    EXPECT_EQ(crc32(std::as_bytes(std::span(text.data() + 4, 5)),
                    crc32(std::as_bytes(std::span(text.data(), 4)))),
              0xCBF43926U);
}

}  // namespace
}  // namespace assay::plato
