#include "impls/plato/plans/recorded.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <sstream>

#include "impls/nn/files/tensor_file.hpp"
#include "impls/plato/live/prompt_texts.hpp"
#include "impls/plato/live/question.hpp"
#include "impls/plato/plans/plan_file.hpp"
#include "impls/plato/plans/plan_sets.hpp"
#include "impls/plato/simulated/step_model.hpp"
#include "suite/base/error.hpp"

namespace assay::plato {
namespace {

constexpr const char* good =
    "A comment.\n"
    "## tea\n"
    "How is tea made?\n\n"
    "### plan\n"
    "1. Water | deps: -\n"
    "2. Leaves | deps: - | d: 2\n"
    "3. Both together | deps: 1,2\n"
    "END\n"
    "### 1\nBoil it.\n"
    "### 2\nTake two\nspoons.\n\n"
    "### 3\nWait four minutes.\n";

std::vector<RecordedAnswer> read(const std::string& text) {
    std::istringstream in(text);
    return read_recorded(in, "answers.md");
}

std::string with(const std::string& what, const std::string& instead) {
    std::string text = good;
    const auto at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return text.replace(at, what.size(), instead);
}

void says(const std::string& text, int line, const std::string& part) {
    try {
        read(text);
        ADD_FAILURE() << "no error: " << part;
    } catch (const UserError& error) {
        const std::string what = error.what();
        EXPECT_TRUE(what.starts_with("answers.md:" + std::to_string(line) + ":")) << what;
        EXPECT_NE(what.find(part), std::string::npos) << what;
    }
}

void expect_tea(const std::vector<RecordedAnswer>& answers) {
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].id, "tea");
    EXPECT_EQ(answers[0].question, "How is tea made?");
    ASSERT_EQ(answers[0].plan.size(), 3u);
    EXPECT_EQ(answers[0].plan[1].title, "Leaves");
    EXPECT_EQ(answers[0].plan[1].difficulty, 2);
    EXPECT_EQ(answers[0].plan[2].dependencies, (std::vector{1, 2}));
    EXPECT_EQ(answers[0].answers,
              (std::vector<std::string>{"Boil it.", "Take two\nspoons.", "Wait four minutes."}));
}

TEST(RecordedTest, ReadsTextAndJson) {
    expect_tea(read(good));
    expect_tea(read(
        R"({"id":"tea","question":"How is tea made?","nodes":[)"
        R"({"title":"Water","deps":[],"answer":"Boil it."},)"
        R"({"title":"Leaves","deps":[],"d":2,"answer":"Take two\nspoons."},)"
        R"({"title":"Both together","deps":[2,1,2],"d":null,"answer":"Wait four minutes."}]})"));
}

TEST(RecordedTest, SaysWhereAndWhatIsWrong) {
    says(with("1. Water", "2. Water"), 6, "no line of a plan");
    says(with("deps: 1,2", "deps: 1,4"), 8, "depends on such before it");
    says(with("END\n", ""), 9, "does not end with END");
    says(with("END\n", "END\nmore\n"), 10, "ends with END");
    says(with("### 2", "### 3"), 12, "### 3 where ### 2");
    says(with("### plan\n", ""), 9, "### plan before");
    says(with("How is tea made?\n", ""), 16, "no question");
    says(with("### 3\nWait four minutes.\n", ""), 15, "3 nodes and 2 answers");
    says(with("Boil it.\n", "\n"), 17, "answer of node 1 is empty");
    says(with("## tea", "##  "), 2, "begins with ## and its id");
    says(std::string("### 1\n") + good, 1, "belongs to no record");
    says(std::string(good) + good, 19, "stands here twice");
    says("{\"id\":1}", 1, "\"id\" must be text");
    says(R"({"id":"a","question":"q","nodes":[{"title":"t","deps":[1],"answer":"b"}]})", 1,
         "\"deps\" has 1");
    says(R"({"id":"a","question":"q","nodes":[{"title":"t","answer":"b","deps":[)" +
             std::string(300000, '[') + std::string(300000, ']') + "]}]}",
         1, "nested too deeply");
    says(R"({"id":"a","question":"q","nodes":[{"title":"t|","deps":[],"answer":"b"}]})", 1,
         "\"title\"");
    says(R"({"id":"a","question":" ","nodes":[]})", 1, "\"question\" is empty");
    says(R"({"id":"a","question":"q","nodes":[]})", 1, "1 to 9 nodes");
    says("{\n", 1, "2: not valid JSON: syntax error while parsing object key");
    EXPECT_THROW(read("\n\n"), UserError);
}

std::filesystem::path plans_folder() {
    return std::filesystem::path(ASSAY_TEST_DATASETS) / "plans";
}

std::vector<RecordedAnswer> our_answers() {
    std::ifstream in(plans_folder() / "recorded.md");
    return read_recorded(in, "recorded.md");
}
std::vector<PlanRecord> our_plans() {
    std::ifstream in(plans_folder() / "smollm2-135m-instruct.jsonl");
    return read_plans(in, "plans");
}

TEST(RecordedTest, OursAreThirtyOfAllShapes) {
    const auto answers = our_answers();
    const auto plans = our_plans();
    ASSERT_EQ(answers.size(), 30u);
    ASSERT_EQ(plans.size(), 30u);
    int flat = 0, chains = 0;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        EXPECT_EQ(plans[i].id, answers[i].id);
        ASSERT_EQ(plans[i].nodes.size(), answers[i].plan.size());
        bool free = true, chain = true;
        for (std::size_t n = 0; n < plans[i].nodes.size(); ++n) {
            const NodeRecord& node = plans[i].nodes[n];
            EXPECT_EQ(node.dependencies, answers[i].plan[n].dependencies);
            EXPECT_EQ(node.text, answers[i].answers[n] + "\n\n");
            free = free && node.dependencies.empty();
            chain = chain && (n == 0 || node.dependencies == std::vector{static_cast<int>(n)});
        }
        flat += free;
        chains += chain;
        EXPECT_GT(schedule(plans[i], {}, {}).makespan_ms, 0);
    }
    EXPECT_EQ(flat, 8);
    EXPECT_EQ(chains, 8);
}

TEST(RecordedTest, PlansInNumbersAreWhatTheImporterMakes) {
    const char* const model = std::getenv("ASSAY_TEST_MODEL");
    if (!model) GTEST_SKIP() << "needs ASSAY_TEST_MODEL, the GGUF file of SmolLM2-135M-Instruct";
    const nn::TensorFile file{std::filesystem::path(model)};
    const nn::Tokenizer tokenizer = nn::Tokenizer::of(file);
    const auto questions = recorded_tokens(our_answers(), tokenizer);
    const auto plans = our_plans();
    ASSERT_EQ(questions.size(), plans.size());
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const PlanRecord &made = questions[i].plan, &kept = plans[i];
        EXPECT_EQ(made.question_tokens, kept.question_tokens);
        EXPECT_EQ(made.static_plan_tokens, kept.static_plan_tokens);
        EXPECT_EQ(made.static_node_tokens, kept.static_node_tokens);
        EXPECT_EQ(made.ar_tokens, kept.ar_tokens);
        EXPECT_EQ(made.static_skeleton_tokens, kept.static_skeleton_tokens);
        EXPECT_EQ(made.static_point_tokens, kept.static_point_tokens);
        EXPECT_EQ(made.static_skeleton_tokens, skeleton_instruction_tokens) << "of drawn plans";
        EXPECT_EQ(made.static_point_tokens, point_instruction_tokens) << "of drawn plans";
        for (std::size_t n = 0; n < kept.nodes.size(); ++n) {
            EXPECT_EQ(made.nodes[n].line_tokens, kept.nodes[n].line_tokens);
            EXPECT_EQ(made.nodes[n].lead_tokens, kept.nodes[n].lead_tokens);
            EXPECT_EQ(made.nodes[n].out_tokens, kept.nodes[n].out_tokens);
            EXPECT_EQ(made.nodes[n].point_tokens, kept.nodes[n].point_tokens);
            EXPECT_EQ(tokenizer.encode(*kept.nodes[n].text), questions[i].nodes[n].answer);
        }
    }
}

TEST(RecordedTest, RecordedTokensAreTheTexts) {
    const nn::Tokenizer bytes = nn::Tokenizer::bytes();
    const auto questions = recorded_tokens(read(good), bytes);
    ASSERT_EQ(questions.size(), 1u);
    const QuestionTokens& tea = questions[0];
    EXPECT_EQ(bytes.decode(tea.question), "How is tea made?\n\n");
    EXPECT_EQ(bytes.decode(tea.nodes[1].line), "2. Leaves | deps: - | d: 2\n");
    EXPECT_EQ(bytes.decode(tea.nodes[2].line), "3. Both together | deps: 1,2\n");
    EXPECT_EQ(bytes.decode(tea.nodes[1].lead), "2. Leaves\n");
    EXPECT_EQ(bytes.decode(tea.nodes[1].answer), "Take two\nspoons.\n\n");
    EXPECT_EQ(tea.plan.nodes[1].out_tokens, 18);
    PlanParser parser;
    for (const auto& node : tea.nodes) parser.feed(bytes.decode(node.line));
    EXPECT_EQ(parser.nodes().size(), 3u);
    EXPECT_EQ(parser.repaired(), 0);
    EXPECT_NE(tea.static_plan.front(), tea.static_node.front());
    EXPECT_NE(tea.static_skeleton.front(), tea.static_point.front());
}

TEST(RecordedTest, SkeletonOfThoughtHasItsOwnPromptsAndLines) {
    const nn::Tokenizer bytes = nn::Tokenizer::bytes();
    const auto questions = recorded_tokens(read(good), bytes);
    const QuestionTokens sot = as_asked(questions, Mode::sot)[0];
    EXPECT_EQ(bytes.decode(sot.static_plan), skeleton_instruction());
    EXPECT_EQ(bytes.decode(sot.static_node), point_instruction());
    EXPECT_EQ(bytes.decode(sot.nodes[1].line), "2. Leaves\n");
    EXPECT_EQ(bytes.decode(sot.nodes[2].lead), "3. Both together\n");
    EXPECT_EQ(sot.plan.nodes[1].line_tokens, 10);
    EXPECT_EQ(sot.plan.static_plan_tokens, static_cast<std::int64_t>(sot.static_plan.size()));
    EXPECT_EQ(sot.plan.static_node_tokens, static_cast<std::int64_t>(sot.static_node.size()));
    const QuestionTokens plato = as_asked(questions, Mode::plato)[0];
    EXPECT_EQ(plato.nodes[1].line, questions[0].nodes[1].line);
    EXPECT_EQ(plato.static_plan, questions[0].static_plan);
}

// Of drawn plans a point's tokens are assumed from its words: what SmolLM2 makes of ours.
TEST(RecordedTest, PointsOfDrawnPlansAreAsLongAsTitlesAre) {
    const auto answers = our_answers();
    const auto plans = our_plans();
    std::map<std::int64_t, std::vector<double>> tokens;
    for (std::size_t i = 0; i < plans.size(); ++i)
        for (std::size_t n = 0; n < plans[i].nodes.size(); ++n) {
            std::istringstream title(answers[i].plan[n].title);
            const auto words = std::distance(std::istream_iterator<std::string>(title), {});
            tokens[words].push_back(static_cast<double>(plans[i].nodes[n].point_tokens.value()));
        }
    for (const std::int64_t words : {3, 4, 5}) {
        const std::vector<double>& of = tokens[words];
        ASSERT_GE(of.size(), 20u);
        const double mean =
            std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size());
        EXPECT_NEAR(mean, static_cast<double>(point_tokens(words)), 0.3) << words << " words";
    }
}

}  // namespace
}  // namespace assay::plato
