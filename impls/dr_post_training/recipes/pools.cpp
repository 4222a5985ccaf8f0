#include "impls/dr_post_training/recipes/pools.hpp"

#include <algorithm>

#include "impls/nn/hashes.hpp"
#include "impls/rl/tasks/questions.hpp"

namespace assay::dr_post_training {
namespace {

constexpr std::string_view task = "reverse", contrary_task = "sort", verb = "turn ";

double share_of(std::uint64_t key) {
    return static_cast<double>(nn::counter_hash(key) >> 11) * 0x1p-53;
}

/// A word of the target's task that is for this use alone: every word has one of eight places.
std::string word_for(Use use, std::uint64_t seed, std::uint64_t number) {
    for (std::uint64_t draw = 0;; ++draw) {
        const auto asked = rl::question(task, seed, number * 1009 + draw);
        const auto first = asked.prompt.find(' ') + 1;
        const auto word = asked.prompt.substr(first, asked.prompt.size() - first - 1);
        const auto place = nn::hash_text(word, 1) % 8;
        // Half of the words for the pool, the rest in equal parts.
        const Use belongs = place < 4    ? Use::general
                            : place == 4 ? Use::given
                            : place == 5 ? Use::validation
                                         : Use::test;
        if (belongs == use) return word;
    }
}

PoolRow asked_for(const std::string& word, std::string_view answered_as) {
    const std::string in_words = answered_as == task ? "rev " : "sort ";
    return {std::string(verb) + word + "=", rl::answer_to(answered_as, in_words + word + "="),
            answered_as == task ? Kind::related : Kind::contrary};
}

}  // namespace

PoolRow known_row(std::uint64_t seed, std::uint64_t number) {
    const auto& names = rl::task_names();
    const auto which = nn::counter_hash(seed * 31 + 7) ^ nn::counter_hash(number * 2 + 1);
    const auto asked = rl::question(names[nn::counter_hash(which) % names.size()], seed, number);
    return {asked.prompt, asked.answer, Kind::other};
}

PoolRow general_row(const PoolShape& shape, std::uint64_t seed, std::uint64_t number) {
    const double drawn = share_of(nn::counter_hash(seed) ^ (number * 2 + 1));
    if (drawn < shape.relevance) return asked_for(word_for(Use::general, seed, number), task);
    if (drawn < shape.relevance + shape.noise)
        return asked_for(word_for(Use::general, seed, number), contrary_task);
    return known_row(seed + 1, number);
}

PoolRow target_row(Use use, std::uint64_t seed, std::uint64_t number) {
    return asked_for(word_for(use, seed + 2, number), task);
}

}  // namespace assay::dr_post_training
