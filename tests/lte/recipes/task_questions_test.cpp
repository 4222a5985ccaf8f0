// Tasks of the user's: files as GLUE and MMLU give them out, small and made up.
#include "impls/lte/recipes/task_questions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "impls/lte/experiments/on_workbench.hpp"
#include "suite/base/error.hpp"
#include "tests/lte/recipes/small_bench.hpp"

namespace assay::lte {
namespace {

class TaskQuestions : public ::testing::Test {
  protected:
    std::string file(const char* name, const std::string& text) {
        std::ofstream(folder_ / name) << text;
        return (folder_ / name).string();
    }
    std::string refusal(const std::string& data, const std::string& form) {
        try {
            read_questions(data, form);
        } catch (const UserError& error) {
            return error.what();
        }
        return "accepted";
    }

  private:
    assay::testing::TemporaryFolder folder_;
};

constexpr const char* entailment =
    "answers: entailment = yes | not_entailment = no\n---\n{sentence1} So {sentence2}?\nAnswer:\n";

TEST_F(TaskQuestions, OfGlueNameTheirColumns) {
    const auto questions = read_questions(
        file("rte.tsv",
             "index\tsentence1\tsentence2\tlabel\n0\tIt rains.\tIt is wet\tentailment\r\n"
             "1\tIt rains.\tIt is \"dry\"\tnot_entailment\n"),
        file("form", entailment));
    ASSERT_EQ(questions.size(), 2u);
    EXPECT_EQ(questions[0].prompt, "It rains. So It is wet?\nAnswer:");
    EXPECT_EQ(questions[0].answers, (std::vector<std::string>{" yes", " no"}));
    EXPECT_EQ(questions[0].right, 0u);
    EXPECT_EQ(questions[1].right, 1u);
    EXPECT_NE(questions[1].prompt.find("\"dry\""), std::string::npos);
    // CoLA's has no head.
    const auto cola =
        read_questions(file("cola.tsv", "gj04\t1\t\tThey drank.\ngj04\t0\t*\tThey drank it the.\n"),
                       file("cola form",
                            "columns: source label star sentence\nanswers: 0 = bad | 1 = good\n"
                            "---\n{sentence} This is"));
    ASSERT_EQ(cola.size(), 2u);
    EXPECT_EQ(cola[0].prompt, "They drank. This is");
    EXPECT_EQ(cola[0].right, 1u);
}

TEST_F(TaskQuestions, OfMmluAreQuotedAndHaveNoHead) {
    const auto questions =
        read_questions(file("test.csv", "\"One, \"\"two\"\"\nand?\",1,2,3,4,C\nNext,a,b,c,d,A\n"),
                       file("form",
                            "label: answer\nanswers: A = A | B = B | C = C | D = D\n---\n"
                            "Shot. Answer: B\n\n{question} {A} {D}\nAnswer:"));
    ASSERT_EQ(questions.size(), 2u);
    EXPECT_EQ(questions[0].prompt, "Shot. Answer: B\n\nOne, \"two\"\nand? 1 4\nAnswer:");
    EXPECT_EQ(questions[0].right, 2u);
}

TEST_F(TaskQuestions, ThatCannotBeAskedAreRefusedWithTheirPlace) {
    using ::testing::HasSubstr;
    const auto form = file("form", entailment);
    const auto head = std::string("sentence1\tsentence2\tlabel\n");
    EXPECT_THAT(refusal(file("a", head + "x\ty\n"), form), HasSubstr("row 2: 2 columns"));
    EXPECT_THAT(refusal(file("a", head + "x\ty\tmaybe\n"), form),
                HasSubstr("\"maybe\" has no answer"));
    EXPECT_THAT(refusal(file("a", "sentence1\tlabel\nx\tentailment\n"), form),
                HasSubstr("{sentence2}, which is no column"));
    EXPECT_THAT(refusal(file("a", head), form), HasSubstr("no questions"));
    EXPECT_THAT(refusal("/nowhere", form), HasSubstr("cannot be read"));
    EXPECT_THAT(refusal(file("a", head), file("f", "answers: 0 = no\n---\nx")),
                HasSubstr("fewer than two answers"));
    EXPECT_THAT(refusal(file("a", head), file("f", "answers: 0 = no | 1 = yes\nx")),
                HasSubstr("three dashes"));
}

// A model that has learned sums goes on as its text does, whatever the label says. Answers are
// equally long: one that knows nothing finds both alike, takes the first and is right once in four.
TEST_F(TaskQuestions, AreAnsweredByASparseModel) {
    const SmallBench small("llama-tiny");
    auto task = small.training<Task>(10);
    task.sparsity = 0.25;
    task.recipe = Recipe::fast;
    task.task = file("sums.tsv", "sum\tlabel\n17 + 5\t1\n3 + 4\t1\n20 + 9\t0\n5 + 8\t1\n");
    task.prompt = file("form", "answers: 0 = q q | 1 = = 2\n---\n{sum}");
    MemoryRecorder recorder;
    run(task, recorder);
    EXPECT_EQ(recorder.value("questions"), 4);
    EXPECT_EQ(recorder.value("accuracy"), 0.75);
    EXPECT_EQ(recorder.value("matthews"), 0);  // one answer alone
    EXPECT_GT(recorder.value("ffn_sparsity"), 0);
}

}  // namespace
}  // namespace assay::lte
