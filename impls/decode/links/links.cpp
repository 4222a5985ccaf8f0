#include "impls/decode/links/links.hpp"

#include <utility>

#include "suite/base/error.hpp"

namespace assay::decode {
namespace {

constexpr std::size_t before_linked = 3, of_linked = 4;  // numbers

[[noreturn]] void refuse() { throw UserError("links: the numbers of a state say none"); }

int whole(std::int64_t number) {
    if (!std::in_range<int>(number)) refuse();
    return static_cast<int>(number);
}

}  // namespace

std::vector<std::int64_t> to_numbers(const Links& links) {
    std::vector<std::int64_t> numbers{links.most_reused, links.keep ? 1 : 0,
                                      static_cast<std::int64_t>(links.linked.size())};
    for (const LinkedTokens& each : links.linked)
        numbers.insert(numbers.end(), {each.kept, each.first, each.count, each.at});
    numbers.insert(numbers.end(), links.rotations.begin(), links.rotations.end());
    return numbers;
}

Links links_from(const std::vector<std::int64_t>& numbers) {
    if (numbers.size() < before_linked || numbers[1] < 0 || numbers[1] > 1 || numbers[2] < 0 ||
        static_cast<std::uint64_t>(numbers[2]) > (numbers.size() - before_linked) / of_linked)
        refuse();
    Links links{
        .most_reused = whole(numbers[0]), .keep = numbers[1] == 1, .linked = {}, .rotations = {}};
    std::size_t at = before_linked;
    for (std::int64_t n = 0; n < numbers[2]; ++n, at += of_linked)
        links.linked.push_back(
            {numbers[at], whole(numbers[at + 1]), whole(numbers[at + 2]), whole(numbers[at + 3])});
    for (; at < numbers.size(); ++at) links.rotations.push_back(whole(numbers[at]));
    return links;
}

int rotation_of(const std::vector<int>& rotations, int token) {
    if (rotations.empty()) return token;
    const int prompt = static_cast<int>(rotations.size());
    return token < prompt ? rotations[static_cast<std::size_t>(token)]
                          : rotations.back() + 1 + token - prompt;
}

}  // namespace assay::decode
