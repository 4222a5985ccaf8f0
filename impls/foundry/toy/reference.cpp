#include "impls/foundry/toy/reference.hpp"

#include <array>

namespace assay::foundry::toy {
namespace {

constexpr std::size_t width = 32;
using Row = std::array<std::uint64_t, width>;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t product = (a ^ (b + 0x9e3779b97f4a7c15ULL)) * 0xbf58476d1ce4e5b9ULL;
    return product ^ (product >> 29);
}

Row mix(const Row& a, const Row& b) {
    Row mixed;
    for (std::size_t i = 0; i < width; ++i) mixed[i] = mix(a[i], b[i]);
    return mixed;
}

Row plus(const Row& a, const Row& b) {
    Row sum;
    for (std::size_t i = 0; i < width; ++i) sum[i] = a[i] + b[i];
    return sum;
}

Row all_of(std::uint64_t word) {
    Row row;
    row.fill(word);
    return row;
}

std::uint64_t folded(std::uint64_t hash, const Row& row, const Row& weights) {
    for (std::size_t i = 0; i < width; ++i) hash = mix(hash + row[i], weights[i]);
    return hash;
}

}  // namespace

ReferenceSequence::ReferenceSequence(DecodeSettings settings)
    : settings_(std::move(settings)), layers_(static_cast<std::size_t>(settings_.layers)) {}

int ReferenceSequence::next(int token, const RandomState& random) {
    const auto tensor = [&](int number, int row) {
        Row weights;
        for (std::size_t i = 0; i < width; ++i)
            weights[i] =
                weight(settings_, number, row * static_cast<int>(width) + static_cast<int>(i));
        return weights;
    };
    Row hidden;
    for (std::size_t i = 0; i < width; ++i)
        hidden[i] = mix(weight(settings_, embedding_tensor, token) +
                            static_cast<std::uint64_t>(settings_.vocabulary),
                        i);

    const auto blocks = static_cast<std::uint64_t>(settings_.cache_blocks);
    const std::uint64_t sizes = static_cast<std::uint64_t>(settings_.context / 16) << 32 | blocks;
    std::uint64_t residual = 0;
    for (int layer = 0; layer < settings_.layers; ++layer) {
        const auto weights = [&](int row) { return tensor(first_layer_tensor + layer, row); };
        std::uint64_t all = 0;
        for (const std::uint64_t word : hidden) all = 31 * all + word;
        const Row normed = mix(plus(hidden, all_of(all)), weights(0));
        const Row query = mix(normed, weights(1));

        auto& positions = layers_[static_cast<std::size_t>(layer)];
        const std::uint64_t history = positions.empty() ? 0 : positions.back().value;
        positions.push_back(
            {folded(0, normed, weights(2)), mix(history, folded(blocks, normed, weights(3)))});

        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < positions.size(); ++i)
            sum += mix(positions[i].key ^ query[i % width], positions[i].value + i + sizes);
        const Row attended = mix(all_of(sum), query);

        Row neighbours;
        for (std::size_t i = 0; i < width; ++i) neighbours[i] = attended[(i + 1) % width];
        hidden = mix(plus(hidden, attended), plus(weights(4), neighbours));
        residual += mix(attended[0], static_cast<std::uint64_t>(layer));
    }

    const auto position = layers_.front().size() - 1;
    const Row descriptor = tensor(descriptor_tensor, 0), head = tensor(head_tensor, 0);
    std::uint64_t hash = mix(random.seed, random.offset + position);
    for (std::size_t i = 0; i < width; ++i)
        hash = mix(hash, mix(hidden[i] + head[i], residual ^ descriptor[i % 8]));
    return static_cast<int>((hash >> 32) * static_cast<std::uint64_t>(settings_.vocabulary) >> 32);
}

}  // namespace assay::foundry::toy
