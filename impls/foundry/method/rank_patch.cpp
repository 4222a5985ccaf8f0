#include "impls/foundry/method/rank_patch.hpp"

#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "suite/base/error.hpp"

namespace assay::foundry {
namespace {

/// The word of `Word`'s size at `offset`, replaced by what `change` makes of it. Returns how many
/// of its 32-bit words are other then.
template <class Word, class Change>
std::size_t replace(Launch& launch, std::uint32_t offset, Change change) {
    if (launch.params.size() < sizeof(Word) || offset > launch.params.size() - sizeof(Word))
        throw UserError(
            fmt::format("kernel {}: a rank's word at {} lies outside its {} bytes of parameters",
                        launch.name, offset, launch.params.size()));
    std::byte* const at = launch.params.data() + offset;
    Word word{};
    std::memcpy(&word, at, sizeof word);
    const Word changed = change(word);
    std::memcpy(at, &changed, sizeof changed);
    std::size_t words = 0;
    for (std::size_t i = 0; i < sizeof word; i += 4)
        words += std::memcmp(reinterpret_cast<const std::byte*>(&word) + i, at + i, 4) != 0;
    return words;
}

std::size_t patch(Launch& launch, const RankWord& tagged, const RankTags& tags, int rank) {
    const auto of_saved = static_cast<std::uint64_t>(tags.rank),
               of_this = static_cast<std::uint64_t>(rank);
    if (tagged.holds == RankWord::Holds::rank)
        return replace<std::int32_t>(launch, tagged.offset, [&](std::int32_t word) {
            if (word != tags.rank)
                throw UserError(
                    fmt::format("kernel {}: the word at {} is {}, and not the number of rank {}",
                                launch.name, tagged.offset, word, tags.rank));
            return static_cast<std::int32_t>(rank);
        });
    return replace<std::uint64_t>(launch, tagged.offset, [&](std::uint64_t word) {
        const std::uint64_t own = tags.heap + of_saved * tags.stride;
        if (word < own || word - own >= tags.stride)
            throw UserError(
                fmt::format("kernel {}: the word at {} is {:#x}, and not an address in rank {}'s "
                            "heap at {:#x}",
                            launch.name, tagged.offset, word, tags.rank, own));
        return word + (of_this - of_saved) * tags.stride;
    });
}

}  // namespace

std::string mistake(const RankTags& tags) {
    if (tags.ranks < 2) return "graphs of several ranks are of two or more";
    if (tags.rank < 0 || tags.rank >= tags.ranks)
        return fmt::format("there is no rank {} of {}", tags.rank, tags.ranks);
    if (tags.stride == 0 || (std::numeric_limits<std::uint64_t>::max() - tags.heap) / tags.stride <
                                static_cast<std::uint64_t>(tags.ranks))
        return "the ranks' heaps reach beyond all addresses";
    return {};
}

std::size_t patch_rank(Graph& graph, const RankTags& tags, int rank, int ranks) {
    if (ranks != tags.ranks)
        throw UserError(
            fmt::format("its graphs are of {} ranks, and not of {}", tags.ranks, ranks));
    if (rank < 0 || rank >= ranks)
        throw UserError(fmt::format("there is no rank {} of {}", rank, ranks));
    std::size_t words = 0;
    for (Node& node : graph.nodes)
        for (const RankWord& tagged : tags.words)
            if (node.type == NodeType::kernel && node.launch.name == tagged.kernel)
                words += patch(node.launch, tagged, tags, rank);
    return words;
}

}  // namespace assay::foundry
