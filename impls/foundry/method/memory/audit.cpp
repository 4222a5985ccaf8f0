#include "impls/foundry/method/memory/audit.hpp"

#include <algorithm>

namespace assay::foundry {
namespace {

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

std::uint64_t little_endian(std::span<const std::byte> word) {
    std::uint64_t value = 0;
    for (std::size_t i = word_bytes; i-- > 0;)
        value = value << 8 | std::to_integer<std::uint64_t>(word[i]);
    return value;
}

std::optional<Range> range_of(std::uint64_t address, std::span<const Range> live) {
    const auto above =
        std::upper_bound(live.begin(), live.end(), address,
                         [](std::uint64_t value, const Range& range) { return value < range.lo; });
    if (above == live.begin() || !std::prev(above)->holds(address)) return std::nullopt;
    return *std::prev(above);
}

}  // namespace

std::vector<AuditItem> audit(const Graph& graph, const Range& region, std::span<const Range> live) {
    std::vector<AuditItem> items;
    for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
        const std::span<const std::byte> params = graph.nodes[node].launch.params;
        for (std::size_t offset = 0; params.size() - offset >= word_bytes; offset += word_bytes) {
            const std::uint64_t word = little_endian(params.subspan(offset, word_bytes));
            if (!region.holds(word)) continue;
            items.push_back({.batch = graph.batch,
                             .node = node,
                             .offset = offset,
                             .address = word,
                             .range = range_of(word, live)});
        }
    }
    return items;
}

}  // namespace assay::foundry
