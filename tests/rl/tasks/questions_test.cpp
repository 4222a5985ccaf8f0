#include "impls/rl/tasks/questions.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

namespace assay::rl {
namespace {

TEST(Tasks, AnswersAreTheRightOnes) {
    EXPECT_EQ(answer_to("add", "37+5="), "42\n");
    EXPECT_EQ(answer_to("add", "99+99="), "198\n");
    EXPECT_EQ(answer_to("reverse", "rev abc="), "cba\n");
    EXPECT_EQ(answer_to("close", "close ([{="), "}])\n");
    EXPECT_EQ(answer_to("copy", "copy hag="), "hag\n");
    EXPECT_EQ(answer_to("sort", "sort cabb="), "abbc\n");
    EXPECT_EQ(answer_to("next", "next abh="), "bca\n");
}

TEST(Tasks, QuestionsAreFunctionsOfTheirNumberAndFitTheirTask) {
    for (const std::string& task : task_names()) {
        std::set<std::string> prompts;
        for (std::uint64_t number = 0; number < 300; ++number) {
            const Question asked = question(task, 5, number);
            EXPECT_EQ(asked.prompt, question(task, 5, number).prompt);
            EXPECT_EQ(asked.answer, answer_to(task, asked.prompt));
            prompts.insert(asked.prompt);
        }
        EXPECT_GT(prompts.size(), 150U) << task;  // they differ
        EXPECT_NE(question(task, 5, 1).prompt + question(task, 5, 2).prompt,
                  question(task, 6, 1).prompt + question(task, 6, 2).prompt);
    }
}

TEST(Tasks, OnlyTheRightAnswerIsRewarded) {
    const Question asked{"rev abc=", "cba\n"};
    EXPECT_EQ(reward(asked, "cba\n"), 1);
    EXPECT_EQ(reward(asked, "cba\nwhatever"), 1);
    EXPECT_EQ(reward(asked, "cba"), 0);  // never said that it is done
    EXPECT_EQ(reward(asked, "cb\n"), 0);
    EXPECT_EQ(reward(asked, ""), 0);
}

TEST(Tasks, OtherPromptsAreRefused) {
    for (const auto& [task, prompt] : {std::pair("add", "1+="),
                                       {"add", "1+2"},
                                       {"add", "100+2="},
                                       {"add", "-1+2="},
                                       {"reverse", "rev ="},
                                       {"reverse", "copy abc="},
                                       {"reverse", "rev abz="},
                                       {"close", "close (x="},
                                       {"nothing", "1+2="}})
        EXPECT_THROW(answer_to(task, prompt), std::invalid_argument) << prompt;
    EXPECT_THROW(question("nothing", 1, 1), std::invalid_argument);
}

}  // namespace
}  // namespace assay::rl
