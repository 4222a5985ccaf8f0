// Prompts, answers and rewards of the tasks, against answers worked out in another way.
#include "impls/rl/tasks/task.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "suite/base/error.hpp"

namespace assay::rl::tasks {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

std::string pattern_of(Task task, int difficulty) {
    const std::string d = std::to_string(difficulty), rest = std::to_string(difficulty - 1);
    const std::string number = difficulty == 1 ? "[0-9]" : "[1-9][0-9]{" + rest + "}";
    const std::map<Task, std::string> patterns{{Task::add, number + "\\+" + number + "="},
                                               {Task::tag, "tag " + number + "\\+" + number + "="},
                                               {Task::sort, "sort [0-9]{" + d + "}="},
                                               {Task::reverse, "rev [a-z]{" + d + "}="},
                                               {Task::close, "close [([{]{" + d + "}="},
                                               {Task::count, "count [a-e] in [a-e]{" + d + "}="}};
    return patterns.at(task);
}

/// Column by column, as on paper.
std::string sum_on_paper(const std::string& a, const std::string& b) {
    std::string sum;
    int carry = 0;
    for (std::size_t i = a.size(); i-- > 0;) {
        const int column = (a[i] - '0') + (b[i] - '0') + carry;
        sum.insert(sum.begin(), static_cast<char>('0' + column % 10));
        carry = column / 10;
    }
    return carry > 0 ? "1" + sum : sum;
}

void expect_right(Task task, const Question& asked) {
    const std::string word = asked.prompt.substr(asked.prompt.rfind(' ') + 1,
                                                 asked.prompt.size() - asked.prompt.rfind(' ') - 2);
    const std::size_t half = word.size() / 2;
    if (task == Task::add || task == Task::tag) {
        const std::string sum = sum_on_paper(word.substr(0, half), word.substr(half + 1));
        EXPECT_EQ(asked.answer, task == Task::add ? sum : "<a>" + sum + "</a>") << asked.prompt;
    } else if (task == Task::sort) {
        EXPECT_TRUE(std::is_sorted(asked.answer.begin(), asked.answer.end())) << asked.answer;
        EXPECT_TRUE(std::is_permutation(word.begin(), word.end(), asked.answer.begin(),
                                        asked.answer.end()));
    } else if (task == Task::count) {
        int times = 0;
        for (const char letter : word) times += letter == asked.prompt[6];
        EXPECT_EQ(asked.answer, std::to_string(times)) << asked.prompt;
    } else {
        ASSERT_EQ(asked.answer.size(), word.size());
        for (std::size_t i = 0; i < word.size(); ++i) {
            const char there = word[word.size() - 1 - i];
            const std::map<char, char> closing{{'(', ')'}, {'[', ']'}, {'{', '}'}};
            EXPECT_EQ(asked.answer[i], task == Task::close ? closing.at(there) : there);
        }
    }
}

TEST(VerifiableTasks, AnswersAreTheRightOnes) {
    EXPECT_EQ(answer_to(Task::add, 2, "37+58="), "95");
    EXPECT_EQ(answer_to(Task::add, 1, "0+0="), "0");
    EXPECT_EQ(answer_to(Task::add, 12, "999999999999+999999999999="), "1999999999998");
    EXPECT_EQ(answer_to(Task::tag, 2, "tag 37+58="), "<a>95</a>");
    EXPECT_EQ(answer_to(Task::sort, 5, "sort 31415="), "11345");
    EXPECT_EQ(answer_to(Task::sort, 3, "sort 010="), "001");
    EXPECT_EQ(answer_to(Task::reverse, 3, "rev abc="), "cba");
    EXPECT_EQ(answer_to(Task::close, 3, "close ([{="), "}])");
    EXPECT_EQ(answer_to(Task::count, 4, "count a in abca="), "2");
    EXPECT_EQ(answer_to(Task::count, 12, "count e in eeeeeeeeeeee="), "12");
    EXPECT_EQ(answer_to(Task::count, 1, "count e in a="), "0");
}

TEST(VerifiableTasks, QuestionsFitTheirTaskAndDifficulty) {
    for (const Task task : values_of<Task>)
        for (int difficulty = least_difficulty; difficulty <= most_difficulty; ++difficulty) {
            const std::string pattern = pattern_of(task, difficulty);
            for (std::uint64_t number = 0; number < 40; ++number) {
                const Question asked = question(task, difficulty, 5, number);
                EXPECT_THAT(asked.prompt, MatchesRegex(pattern));
                EXPECT_EQ(asked.answer, answer_to(task, difficulty, asked.prompt));
                EXPECT_LT(asked.answer.size() + 1,
                          static_cast<std::size_t>(length_limit(task, difficulty)));
                expect_right(task, asked);
            }
        }
}

TEST(VerifiableTasks, QuestionsAreDrawnFromAllThereAre) {
    std::set<std::string> sums, words;
    for (std::uint64_t number = 0; number < 2000; ++number) {
        sums.insert(question(Task::add, 1, 3, number).prompt);
        words.insert(question(Task::close, 3, 3, number).prompt);
    }
    EXPECT_EQ(sums.size(), 100U);
    EXPECT_EQ(words.size(), 27U);
}

TEST(VerifiableTasks, AQuestionIsAFunctionOfSeedAndNumber) {
    EXPECT_EQ(question(Task::sort, 9, 4, 7).prompt, question(Task::sort, 9, 4, 7).prompt);
    std::set<std::string> prompts;
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        for (std::uint64_t number = 0; number < 20; ++number)
            prompts.insert(question(Task::reverse, 12, seed, number).prompt);
    EXPECT_EQ(prompts.size(), 400U);
}

/// Bits that experiments and keys of results hang on: these are for ever.
TEST(VerifiableTasks, QuestionsAreTheSameEverywhere) {
    EXPECT_EQ(question(Task::add, 3, 1, 0).prompt, "776+199=");
    EXPECT_EQ(question(Task::count, 5, 2, 9).prompt, "count d in edacd=");
    EXPECT_EQ(question(Task::reverse, 6, 18446744073709551615U, 3).prompt, "rev liydxc=");
}

TEST(VerifiableTasks, AnEighthOfAllPromptsIsHeldOut) {
    // Of SHA-256: printf 'sort 682=' | sha256sum.
    EXPECT_TRUE(is_held_out("sort 682="));
    EXPECT_FALSE(is_held_out("sort 036="));
    for (const Task task : values_of<Task>) {
        int held_out = 0;
        for (std::uint64_t number = 0; number < 2000; ++number)
            held_out += is_held_out(question(task, 12, 1, number).prompt);
        EXPECT_NEAR(held_out, 250, 60) << to_string(task);  // four standard deviations
    }
}

TEST(VerifiableTasks, TrainingNeverDrawsWhatIsHeldOut) {
    std::set<std::string> trained, measured;
    for (std::uint64_t seed = 0; seed < 5; ++seed)
        for (std::uint64_t number = 0; number < 300; ++number) {
            trained.insert(question(Task::sort, 3, seed, number, Split::train).prompt);
            measured.insert(question(Task::sort, 3, seed + 50, number, Split::held_out).prompt);
        }
    EXPECT_GT(trained.size(), 400U);
    EXPECT_GT(measured.size(), 80U);
    for (const std::string& prompt : measured) EXPECT_EQ(trained.count(prompt), 0U) << prompt;
    for (const std::string& prompt : measured) EXPECT_TRUE(is_held_out(prompt)) << prompt;
}

TEST(VerifiableTasks, ATaskOfFewPromptsMayHaveNoneHeldOut) {
    bool any = false;
    for (const char* prompt : {"close (=", "close [=", "close {="})
        any = any || is_held_out(prompt);
    ASSERT_FALSE(any);
    try {
        question(Task::close, 1, 1, 0, Split::held_out);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const UserError& error) {
        EXPECT_THAT(error.what(), HasSubstr("take a larger difficulty"));
    }
}

TEST(VerifiableTasks, DistinctQuestionsComeOnceAndFewerAreAPrefix) {
    const auto some = distinct_questions(Task::add, 2, 6, 60, Split::train);
    // Most of the 8100 that there are: far more draws are repeats.
    const auto more = distinct_questions(Task::add, 2, 6, 6500, Split::train);
    std::set<std::string> prompts;
    for (const Question& each : more) {
        prompts.insert(each.prompt);
        EXPECT_FALSE(is_held_out(each.prompt));
    }
    EXPECT_EQ(prompts.size(), 6500U);
    for (std::size_t i = 0; i < some.size(); ++i) EXPECT_EQ(some[i].prompt, more[i].prompt);
    EXPECT_EQ(more[0].prompt, question(Task::add, 2, 6, 0, Split::train).prompt);
    EXPECT_TRUE(distinct_questions(Task::add, 2, 6, 0).empty());
}

TEST(VerifiableTasks, WhereThereAreFewTheyComeAgain) {
    const auto brackets = distinct_questions(Task::close, 2, 1, 25);
    std::set<std::string> prompts;
    for (std::size_t i = 0; i < 9; ++i) prompts.insert(brackets.at(i).prompt);
    EXPECT_EQ(prompts.size(), 9U);  // all there are
    ASSERT_EQ(brackets.size(), 25U);
    for (std::size_t i = 9; i < 25; ++i) EXPECT_EQ(brackets[i].prompt, brackets[i - 9].prompt);
}

TEST(VerifiableTasks, OnlyExactlyTheAnswerEarnsAll) {
    EXPECT_EQ(reward(Task::add, "95", "95"), 1);
    for (const char* other : {"", "9", "950", " 95", "95 ", "95\n", "\n95", "095", "<a>95</a>"})
        EXPECT_EQ(reward(Task::add, "95", other), 0) << other;
    EXPECT_EQ(reward(Task::reverse, "cba", "CBA"), 0);
}

TEST(VerifiableTasks, AnotherNumberInTheTagEarnsAFifth) {
    EXPECT_EQ(reward(Task::tag, "<a>95</a>", "<a>95</a>"), 1);
    for (const char* form : {"<a>96</a>", "<a>0</a>", "<a>095</a>", "<a>123456789012345678901</a>"})
        EXPECT_EQ(reward(Task::tag, "<a>95</a>", form), 0.2) << form;
    for (const char* other : {"95", "<a></a>", "<a>", "</a>", "<a>9", "<a>-95</a>", "<a>9 5</a>",
                              "<a>95</a>\n", "<a>96\n</a>", "<a>96</a>x", "x<a>96</a>", "<a>/a>",
                              "<a>9.5</a>", "<A>96</A>", "<a><a>96</a></a>"})
        EXPECT_EQ(reward(Task::tag, "<a>95</a>", other), 0) << other;
}

TEST(VerifiableTasks, TheLimitExceedsTheLongestAnswerAndItsNewline) {
    const auto longest = [](Task task, int difficulty, const std::string& prompt) {
        EXPECT_EQ(length_limit(task, difficulty),
                  static_cast<int>(answer_to(task, difficulty, prompt).size()) + 2);
    };
    longest(Task::add, 1, "9+9=");
    longest(Task::tag, 2, "tag 99+99=");
    longest(Task::sort, 4, "sort 9999=");
    longest(Task::reverse, 2, "rev zz=");
    longest(Task::close, 1, "close {=");
    longest(Task::count, 9, "count a in aaaaaaaaa=");
    longest(Task::count, 10, "count a in aaaaaaaaaa=");
}

TEST(VerifiableTasks, ForeignPromptsAreRefused) {
    const std::tuple<Task, int, const char*> foreign[] = {{Task::add, 2, "37+58"},
                                                          {Task::add, 2, "37+58=="},
                                                          {Task::add, 2, "37+58=\n"},
                                                          {Task::add, 2, "7+58="},
                                                          {Task::add, 2, "37+581="},
                                                          {Task::add, 2, "07+58="},
                                                          {Task::add, 2, "37+08="},
                                                          {Task::add, 2, "-7+58="},
                                                          {Task::add, 2, "37+5a="},
                                                          {Task::add, 2, "3758="},
                                                          {Task::add, 1, "1+2+3="},
                                                          {Task::add, 2, "tag 37+58="},
                                                          {Task::add, 2, ""},
                                                          {Task::add, 2, "="},
                                                          {Task::tag, 2, "37+58="},
                                                          {Task::tag, 2, "tag  37+58="},
                                                          {Task::sort, 2, "sort 314="},
                                                          {Task::sort, 3, "sort 3a4="},
                                                          {Task::sort, 1, "sort ="},
                                                          {Task::sort, 1, "sort "},
                                                          {Task::reverse, 3, "rev aBc="},
                                                          {Task::reverse, 3, "rev ab="},
                                                          {Task::reverse, 3, "rev ab\xc3="},
                                                          {Task::close, 2, "close ()="},
                                                          {Task::close, 2, "close (["},
                                                          {Task::count, 2, "count f in ab="},
                                                          {Task::count, 2, "count a in af="},
                                                          {Task::count, 2, "count a ab="},
                                                          {Task::count, 2, "count  in ab="},
                                                          {Task::count, 2, "count ="},
                                                          {Task::count, 2, "count aa in ab="}};
    for (const auto& [task, difficulty, prompt] : foreign)
        EXPECT_THROW(answer_to(task, difficulty, prompt), UserError) << prompt;
    try {
        answer_to(Task::count, 3, "1+1=");
        ADD_FAILURE() << "nothing was thrown";
    } catch (const UserError& error) {
        EXPECT_THAT(error.what(), HasSubstr("no prompt of task count at difficulty 3"));
        const std::string text = error.what(), like = text.substr(text.find("like \"") + 6);
        EXPECT_NO_THROW(answer_to(Task::count, 3, like.substr(0, like.size() - 1))) << text;
    }
}

TEST(VerifiableTasks, DifficultiesAreOneToTwelve) {
    for (const int difficulty : {-1, 0, 13}) {
        EXPECT_THROW(question(Task::add, difficulty, 1, 1), UserError);
        EXPECT_THROW(answer_to(Task::add, difficulty, "1+1="), UserError);
        EXPECT_THROW(length_limit(Task::add, difficulty), UserError);
    }
}

}  // namespace
}  // namespace assay::rl::tasks
