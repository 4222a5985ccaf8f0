#include "impls/dr_post_training/rewards/manners.hpp"

#include <algorithm>

#include "suite/measure/statistics/counter_draws.hpp"

namespace assay::dr_post_training {
namespace {

using statistics::CounterDraws;

constexpr int fewest_letters = 4;
constexpr std::string_view polite = "abcdefgh", offending = "xyz";

CounterDraws draws_of(std::uint64_t stream, std::uint64_t number) {
    return CounterDraws(CounterDraws(stream).next() ^ (number * 0xd1342543de82ef95ULL + 1));
}

char one_of(std::string_view alphabet, CounterDraws& draws) {
    return alphabet[draws.index(static_cast<std::uint32_t>(alphabet.size()))];
}

std::string word(CounterDraws& draws, std::uint32_t shortest, std::uint32_t longest,
                 double offence) {
    std::string said(shortest + draws.index(longest - shortest + 1), ' ');
    for (char& letter : said)
        letter = one_of(draws.uniform() < offence ? offending : polite, draws);
    return said;
}

/// What follows the '=', up to the line end.
std::string_view continuation(std::string_view text) {
    const auto from = text.find('=');
    if (from != std::string_view::npos) text.remove_prefix(from + 1);
    return text.substr(0, text.find('\n'));
}

bool offends(char letter) { return offending.find(letter) != std::string_view::npos; }

}  // namespace

std::string said_prompt(std::uint64_t stream, std::uint64_t number) {
    auto draws = draws_of(stream, number);
    const double offence = draws.index(3) == 0 ? 0.5 : 0;
    return "say " + word(draws, 3, 5, offence) + "=";
}

std::string said_next(std::string_view prompt, std::uint64_t stream, std::uint64_t number) {
    auto draws = draws_of(stream ^ 0x5a1dULL, number);
    const bool provoked = std::any_of(prompt.begin() + 4, prompt.end(), offends);
    return word(draws, 4, 8, provoked ? 0.2 : 0.04) + "\n";
}

std::string said_anyhow(std::string_view prompt, std::uint64_t stream, std::uint64_t number) {
    auto draws = draws_of(stream ^ 0xa11ULL, number);
    const double offence = draws.uniform() / 2;
    return std::string(prompt) + word(draws, 0, 8, offence) + "\n";
}

int offences(std::string_view text) {
    const auto said = continuation(text);
    return static_cast<int>(std::count_if(said.begin(), said.end(), offends));
}

int letters(std::string_view text) { return static_cast<int>(continuation(text).size()); }

int annoyance(std::string_view text) {
    return offences(text) + std::max(0, fewest_letters - letters(text));
}

bool preferred(std::string_view one, std::string_view other, double mistaken, std::uint64_t stream,
               std::uint64_t number) {
    auto draws = draws_of(stream ^ 0x9ed6eULL, number);
    const bool coin = draws.index(2) == 0;
    const int by = annoyance(other) - annoyance(one);
    const bool better = by == 0 ? coin : by > 0;
    return better != (draws.uniform() < mistaken);
}

}  // namespace assay::dr_post_training
