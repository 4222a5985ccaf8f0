#include "impls/rl/tasks/questions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>

namespace assay::rl {
namespace {

constexpr std::string_view open_brackets = "([{", closed_brackets = ")]}";
constexpr int letters = 8;  // a to h: few enough to be learnt in minutes

/// splitmix64 (Steele, Lea, Flood 2014), one draw after the other.
class Draws {
  public:
    explicit Draws(std::uint64_t state) : state_(state) {}
    std::uint64_t below(std::uint64_t bound) {
        std::uint64_t x = (state_ += 0x9e3779b97f4a7c15ULL);
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
        return (x ^ (x >> 31)) % bound;
    }

  private:
    std::uint64_t state_;
};

std::string random_word(Draws& draws, std::string_view alphabet, std::uint64_t shortest,
                        std::uint64_t longest) {
    std::string word(shortest + draws.below(longest - shortest + 1), ' ');
    for (char& letter : word) letter = alphabet[draws.below(alphabet.size())];
    return word;
}

/// What a task asks between its first word and '='. Tasks of one word each.
struct WordTask {
    std::string_view name, verb, alphabet;
    std::uint64_t shortest, longest;
    std::string (*answer)(std::string_view word);
};

std::string reversed(std::string_view word) { return {word.rbegin(), word.rend()}; }

std::string closed(std::string_view word) {
    std::string answer = reversed(word);
    for (char& bracket : answer) bracket = closed_brackets[open_brackets.find(bracket)];
    return answer;
}

std::string copied(std::string_view word) { return std::string(word); }

std::string sorted(std::string_view word) {
    std::string answer(word);
    std::sort(answer.begin(), answer.end());
    return answer;
}

std::string succeeded(std::string_view word) {
    std::string answer(word);
    for (char& letter : answer) letter = static_cast<char>('a' + (letter - 'a' + 1) % letters);
    return answer;
}

constexpr std::string_view alphabet = "abcdefgh";
constexpr WordTask word_tasks[] = {{"reverse", "rev ", alphabet, 3, 6, reversed},
                                   {"close", "close ", open_brackets, 2, 6, closed},
                                   {"copy", "copy ", alphabet, 3, 6, copied},
                                   {"sort", "sort ", alphabet, 3, 6, sorted},
                                   {"next", "next ", alphabet, 3, 6, succeeded}};

const WordTask* word_task(std::string_view name) {
    const auto* found = std::find_if(std::begin(word_tasks), std::end(word_tasks),
                                     [&](const WordTask& task) { return task.name == name; });
    return found == std::end(word_tasks) ? nullptr : found;
}

std::optional<int> number_in(std::string_view text) {
    int value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end || value < 0 || value > 99) return std::nullopt;
    return value;
}

[[noreturn]] void refuse_task(std::string_view name) {
    throw std::invalid_argument(
        fmt::format("no task {}; there are add, reverse, close, copy, "
                    "sort and next",
                    name));
}

}  // namespace

const std::vector<std::string>& task_names() {
    static const std::vector<std::string> names{"add", "reverse", "close", "copy", "sort", "next"};
    return names;
}

Question question(std::string_view task, std::uint64_t seed, std::uint64_t number) {
    std::uint64_t name = 0;
    for (const char letter : task) name = name * 257 + static_cast<unsigned char>(letter);
    Draws mixed(seed ^ name);
    Draws draws(mixed.below(~std::uint64_t{0}) ^ (number * 0xd1342543de82ef95ULL + 1));
    std::string prompt;
    if (task == "add") {
        const auto a = draws.below(100);
        const auto b = draws.below(100);
        prompt = fmt::format("{}+{}=", a, b);
    } else {
        const WordTask* const found = word_task(task);
        if (!found) refuse_task(task);
        prompt = fmt::format("{}{}=", found->verb,
                             random_word(draws, found->alphabet, found->shortest, found->longest));
    }
    return {prompt, answer_to(task, prompt)};
}

std::string answer_to(std::string_view task, std::string_view prompt) {
    const auto bad = [&] {
        return std::invalid_argument(fmt::format("\"{}\" is no question of task {}", prompt, task));
    };
    if (!prompt.ends_with('=')) throw bad();
    auto asked = prompt.substr(0, prompt.size() - 1);
    if (task == "add") {
        const auto plus = asked.find('+');
        if (plus == std::string_view::npos) throw bad();
        const auto a = number_in(asked.substr(0, plus)), b = number_in(asked.substr(plus + 1));
        if (!a || !b) throw bad();
        return fmt::format("{}\n", *a + *b);
    }
    const WordTask* const found = word_task(task);
    if (!found) refuse_task(task);
    if (!asked.starts_with(found->verb)) throw bad();
    asked.remove_prefix(found->verb.size());
    if (asked.empty() || asked.find_first_not_of(found->alphabet) != std::string_view::npos)
        throw bad();
    return found->answer(asked) + "\n";
}

double reward(const Question& question, std::string_view answer) {
    const auto end = answer.find('\n');
    if (end == std::string_view::npos) return 0;
    return answer.substr(0, end + 1) == question.answer ? 1 : 0;
}

}  // namespace assay::rl
