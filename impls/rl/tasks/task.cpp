#include "impls/rl/tasks/task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_set>

#include "suite/base/error.hpp"
#include "suite/base/sha256.hpp"
#include "suite/measure/statistics/counter_draws.hpp"

namespace assay::rl::tasks {
namespace {

using statistics::CounterDraws;
using statistics::scramble;

constexpr int most_draws = 4096;  // misses a split of an eighth once in 10^237 times
constexpr std::string_view digits = "0123456789", letters = "abcdefghijklmnopqrstuvwxyz",
                           counted_letters = letters.substr(0, 5), open_brackets = "([{",
                           closed_brackets = ")]}";

/// What a prompt begins with.
std::string_view verb_of(Task task) {
    switch (task) {
        case Task::add:
            return "";
        case Task::tag:
            return "tag ";
        case Task::sort:
            return "sort ";
        case Task::reverse:
            return "rev ";
        case Task::close:
            return "close ";
        case Task::count:
            break;
    }
    return "count ";
}

/// What a task asks about, of tasks that ask about one word.
std::string_view alphabet_of(Task task) {
    switch (task) {
        case Task::sort:
            return digits;
        case Task::reverse:
            return letters;
        case Task::close:
            return open_brackets;
        default:
            return counted_letters;
    }
}

bool adds(Task task) { return task == Task::add || task == Task::tag; }

void expect_difficulty(int difficulty) {
    if (difficulty < least_difficulty || difficulty > most_difficulty)
        throw UserError(fmt::format("difficulty {}: give one from {} to {}", difficulty,
                                    least_difficulty, most_difficulty));
}

std::string word(CounterDraws& draws, std::string_view alphabet, int length) {
    std::string drawn(static_cast<std::size_t>(length), ' ');
    for (char& letter : drawn)
        letter = alphabet[draws.index(static_cast<std::uint32_t>(alphabet.size()))];
    return drawn;
}

std::string number_of(CounterDraws& draws, int length) {
    if (length == 1) return word(draws, digits, 1);
    return word(draws, digits.substr(1), 1) + word(draws, digits, length - 1);
}

std::string prompt_of(Task task, int difficulty, CounterDraws draws) {
    std::string prompt(verb_of(task));
    if (adds(task)) {
        prompt += number_of(draws, difficulty) + '+';
        prompt += number_of(draws, difficulty);
    } else {
        if (task == Task::count) prompt += word(draws, counted_letters, 1) + " in ";
        prompt += word(draws, alphabet_of(task), difficulty);
    }
    return prompt + '=';
}

/// The same for one draw, whatever else is drawn.
CounterDraws draws_for(Task task, int difficulty, std::uint64_t seed, std::uint64_t number,
                       int attempt) {
    std::uint64_t key = scramble(seed);
    for (const char letter : to_string(task))
        key = scramble(key + static_cast<unsigned char>(letter));
    key = scramble(key + static_cast<std::uint64_t>(difficulty));
    key = scramble(key + number);
    return CounterDraws(key + static_cast<std::uint64_t>(attempt));
}

std::optional<std::int64_t> number_in(std::string_view text, std::size_t length) {
    if (text.size() != length || text.find_first_not_of(digits) != text.npos) return std::nullopt;
    if (length > 1 && text.front() == '0') return std::nullopt;
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::optional<std::string> sum_of(std::string_view asked, std::size_t length) {
    const auto plus = asked.find('+');
    if (plus == asked.npos) return std::nullopt;
    const auto a = number_in(asked.substr(0, plus), length),
               b = number_in(asked.substr(plus + 1), length);
    if (!a || !b) return std::nullopt;
    return std::to_string(*a + *b);
}

/// The answer to what stands between the verb and '='; nullopt: that is no question.
std::optional<std::string> answer_of(Task task, std::size_t length, std::string_view asked) {
    if (adds(task)) {
        const auto sum = sum_of(asked, length);
        return sum && task == Task::tag ? "<a>" + *sum + "</a>" : sum;
    }
    char counted = 0;
    if (task == Task::count) {
        if (asked.empty() || counted_letters.find(asked.front()) == counted_letters.npos ||
            !asked.substr(1).starts_with(" in "))
            return std::nullopt;
        counted = asked.front();
        asked.remove_prefix(std::string_view("a in ").size());
    }
    if (asked.size() != length || asked.find_first_not_of(alphabet_of(task)) != asked.npos)
        return std::nullopt;
    if (task == Task::count) return std::to_string(std::count(asked.begin(), asked.end(), counted));
    std::string answer(asked);
    if (task == Task::sort)
        std::sort(answer.begin(), answer.end());
    else
        std::reverse(answer.begin(), answer.end());
    if (task == Task::close)
        for (char& bracket : answer) bracket = closed_brackets[open_brackets.find(bracket)];
    return answer;
}

std::string_view shortened(std::string_view prompt) { return prompt.substr(0, 60); }

}  // namespace

bool is_held_out(std::string_view prompt) {
    const char last = sha256_hex(prompt).back();  // the digest mod 16, in hexadecimal
    return last == '0' || last == '8';
}

Question question(Task task, int difficulty, std::uint64_t seed, std::uint64_t number,
                  Split split) {
    expect_difficulty(difficulty);
    for (int attempt = 0; attempt < most_draws; ++attempt) {
        std::string prompt =
            prompt_of(task, difficulty, draws_for(task, difficulty, seed, number, attempt));
        if (split != Split::any && is_held_out(prompt) != (split == Split::held_out)) continue;
        std::string answer = answer_to(task, difficulty, prompt);
        return {std::move(prompt), std::move(answer)};
    }
    throw UserError(fmt::format(
        "task {} at difficulty {} has no prompts that are {}; take a larger difficulty",
        to_string(task), difficulty, split == Split::held_out ? "held out" : "to be trained on"));
}

std::vector<Question> distinct_questions(Task task, int difficulty, std::uint64_t seed,
                                         std::size_t count, Split split) {
    std::vector<Question> found;
    std::unordered_set<std::string> prompts;
    int in_vain = 0;
    for (std::uint64_t number = 0; found.size() < count && in_vain < most_draws; ++number) {
        Question next = question(task, difficulty, seed, number, split);
        const bool is_new = prompts.insert(next.prompt).second;
        in_vain = is_new ? 0 : in_vain + 1;
        if (is_new) found.push_back(std::move(next));
    }
    found.reserve(count);
    for (std::size_t i = 0; found.size() < count; ++i) found.push_back(found[i]);
    return found;
}

std::string answer_to(Task task, int difficulty, std::string_view prompt) {
    expect_difficulty(difficulty);
    const std::string_view verb = verb_of(task);
    if (prompt.starts_with(verb) && prompt.ends_with('=')) {
        const std::string_view asked = prompt.substr(verb.size(), prompt.size() - verb.size() - 1);
        if (auto answer = answer_of(task, static_cast<std::size_t>(difficulty), asked))
            return *std::move(answer);
    }
    throw UserError(
        fmt::format("\"{}\" is no prompt of task {} at difficulty {}; give one like "
                    "\"{}\"",
                    shortened(prompt), to_string(task), difficulty,
                    prompt_of(task, difficulty, CounterDraws(0))));
}

double reward(Task task, std::string_view answer, std::string_view response) {
    if (response == answer) return 1;
    constexpr std::string_view begin = "<a>", end = "</a>";
    if (task != Task::tag || response.size() <= begin.size() + end.size() ||
        !response.starts_with(begin) || !response.ends_with(end))
        return 0;
    response = response.substr(begin.size(), response.size() - begin.size() - end.size());
    return response.find_first_not_of(digits) == response.npos ? 0.2 : 0;
}

int length_limit(Task task, int difficulty) {
    expect_difficulty(difficulty);
    constexpr int newline_and_one_more = 2;
    int answer = difficulty;
    if (adds(task)) answer = difficulty + 1;  // the sum may carry
    if (task == Task::tag) answer += static_cast<int>(std::string_view("<a></a>").size());
    if (task == Task::count) answer = static_cast<int>(std::to_string(difficulty).size());
    return answer + newline_and_one_more;
}

}  // namespace assay::rl::tasks
