#include "impls/foundry/toy/step_plan.hpp"

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "impls/foundry/toy/device/rank_kernels.hpp"

namespace assay::foundry::toy {
namespace {

constexpr std::uint64_t word_bytes = 8, number_bytes = 4;

std::uint64_t unsigned_of(int count) { return static_cast<std::uint64_t>(count); }

/// [rows][32] words of a batch size's activations, counted.
enum Activation : int { hidden, normed, query, attended, logits, activations };

/// Of the kernel's own parameter types, so that a wrong one does not compile.
template <class... Parameters, class... Values>
std::vector<std::vector<std::byte>> packed(void (*)(Parameters...), const Values&... values) {
    static_assert((std::has_unique_object_representations_v<Parameters> && ...),
                  "padding would make the same launch differ from itself");
    std::vector<std::vector<std::byte>> params;
    const auto add = [&](const auto& value) {
        params.emplace_back(sizeof value);
        std::memcpy(params.back().data(), &value, sizeof value);
    };
    (add(static_cast<Parameters>(values)), ...);
    return params;
}

template <class... Values>
StepNode kernel_node(const char* name, int blocks, auto* kernel, const Values&... values) {
    StepNode node;
    node.kernel = name;
    node.grid[0] = static_cast<std::uint32_t>(blocks);
    node.block[0] = row_words;
    node.params = packed(kernel, values...);
    return node;
}
// Never called here: only its type is asked for.
#define ASSAY_TOY_NODE(kernel, blocks, ...) \
    kernel_node(#kernel, blocks, static_cast<decltype(&kernel)>(nullptr), __VA_ARGS__)

StepNode memory_node(NodeType type, Address to, Address from, std::uint64_t bytes) {
    StepNode node;
    node.type = type;
    node.to = to;
    node.from = from;
    node.bytes = bytes;
    return node;
}

}  // namespace

int table_blocks(const DecodeSettings& settings) { return settings.context / block_positions; }
std::uint64_t activation_bytes(int batch) {
    return activations * unsigned_of(batch) * row_words * word_bytes;
}
/// A residual, two slots and a token of each row.
std::uint64_t row_value_bytes(int batch) {
    return unsigned_of(batch) * (word_bytes + 3 * number_bytes);
}

std::uint64_t heap_bytes(const DecodeSettings& settings) {
    return heap_words(settings.most_rows) * word_bytes;
}
std::vector<RankWord> rank_words() {
    return {{"toy_share", offsetof(ShareJob, own), RankWord::Holds::own_address},
            {"toy_share", offsetof(ShareJob, rank), RankWord::Holds::rank},
            {"toy_sum", offsetof(SumJob, own), RankWord::Holds::own_address}};
}

std::vector<SharedBuffer> shared_buffers(const DecodeSettings& settings, StepBuffers& buffers) {
    const std::uint64_t rows = unsigned_of(settings.most_rows);
    std::vector<SharedBuffer> all{
        {"tokens", rows * number_bytes, &buffers.tokens},
        {"positions", rows * number_bytes, &buffers.positions},
        {"block_table", rows * unsigned_of(table_blocks(settings)) * number_bytes,
         &buffers.block_table},
        {"batch", number_bytes, &buffers.batch},
        {"random", sizeof(RandomState), &buffers.random},
        {"output", rows * number_bytes, &buffers.output},
        {"embedding", unsigned_of(settings.vocabulary) * word_bytes, &buffers.embedding},
        {"head", row_words * word_bytes, &buffers.head},
        {"partials", rows * splits * word_bytes, &buffers.partials},
        {"counters", rows * number_bytes, &buffers.counters},
    };
    buffers.weights.resize(static_cast<std::size_t>(settings.layers));
    buffers.cache.resize(buffers.weights.size());
    const std::uint64_t cache_words = 2 * block_positions * unsigned_of(settings.cache_blocks);
    for (std::size_t layer = 0; layer < buffers.weights.size(); ++layer) {
        const std::string of = "layer" + std::to_string(layer);
        all.push_back({of + ".weights", layer_words * word_bytes, &buffers.weights[layer]});
        all.push_back({of + ".cache", cache_words * word_bytes, &buffers.cache[layer]});
    }
    return all;
}

std::vector<StepNode> step_nodes(const DecodeSettings& settings, int batch,
                                 const StepBuffers& buffers) {
    const StepShape shape = shape_of(settings, batch);
    const Address rows = buffers.batch;
    const auto activation = [&](Activation number) {
        return buffers.activations.word(unsigned_of(number * batch * row_words));
    };
    const Address residual = buffers.row_values;
    const Address slots = residual.word(unsigned_of(batch)),
                  sampled = slots.word(unsigned_of(batch));
    const Places places{buffers.positions, buffers.block_table, table_blocks(settings),
                        settings.cache_blocks};
    std::vector<StepNode> nodes;

    nodes.push_back(memory_node(NodeType::memset, residual, {}, unsigned_of(batch) * word_bytes));
    nodes.push_back(ASSAY_TOY_NODE(toy_slots, batch, slots, places, rows));
    nodes.back().branches = true;
    nodes.push_back(ASSAY_TOY_NODE(toy_embed, batch, activation(hidden), buffers.tokens,
                                   buffers.embedding, settings.vocabulary, rows));
    for (int layer = 0; layer < settings.layers; ++layer) {
        const auto of = static_cast<std::size_t>(layer);
        const Address weights = buffers.weights[of], cache = buffers.cache[of];
        nodes.push_back(
            ASSAY_TOY_NODE(toy_norm, batch, activation(normed), activation(hidden), weights, rows));
        nodes.push_back(ASSAY_TOY_NODE(toy_keys, batch, activation(query), cache,
                                       activation(normed), weights.word(row_words), slots,
                                       settings.cache_blocks, rows));
        nodes.back().joins = layer == 0;
        if (shape.split) {
            nodes.push_back(ASSAY_TOY_NODE(toy_attend_split, batch, buffers.partials,
                                           buffers.counters, activation(query), cache, places,
                                           rows));
            nodes.back().grid[1] = splits;
            nodes.back().shared_bytes = attention_shared_bytes;
            nodes.push_back(ASSAY_TOY_NODE(toy_attend_reduce, batch, activation(attended),
                                           buffers.partials, buffers.counters, activation(query),
                                           rows));
        } else {
            nodes.push_back(ASSAY_TOY_NODE(toy_attend, batch, activation(attended),
                                           activation(query), cache, places, rows));
            nodes.back().shared_bytes = attention_shared_bytes;
        }
        if (settings.ranks > 1) {
            const RankHeaps& heaps = buffers.heaps;
            const ShareJob share{heaps.own(),    activation(attended), rows, heaps.rank,
                                 settings.ranks, settings.most_rows,   0};
            const SumJob sum{heaps.own(), heaps.first,    heaps.stride,      activation(attended),
                             rows,        settings.ranks, settings.most_rows};
            nodes.push_back(ASSAY_TOY_NODE(toy_share, batch, share));
            nodes.push_back(ASSAY_TOY_NODE(toy_sum, batch, sum));
        }
        const PackedAddress packed_residual{static_cast<std::uint32_t>(residual.value),
                                            static_cast<std::uint32_t>(residual.value >> 32)};
        const MlpJob mlp{layer,
                         packed_residual,
                         batch,
                         activation(hidden),
                         activation(attended),
                         weights.word(4 * row_words),
                         rows};
        nodes.push_back(ASSAY_TOY_NODE(toy_mlp, batch, mlp));
    }

    HeadJob head{{}, buffers.head, activation(hidden), residual, activation(logits), batch, {}};
    for (int i = 0; i < descriptor_words; ++i)
        head.descriptor[i] = weight(settings, descriptor_tensor, i);
    const int clusters = (batch + shape.cluster - 1) / shape.cluster;
    nodes.push_back(ASSAY_TOY_NODE(toy_head, clusters * shape.cluster, rows, head));
    nodes.back().cluster = static_cast<std::uint32_t>(shape.cluster);
    nodes.push_back(ASSAY_TOY_NODE(toy_sample, batch, sampled, activation(logits), buffers.random,
                                   buffers.positions, settings.vocabulary, batch, rows));
    nodes.back().programmatic = shape.programmatic;
    nodes.push_back(
        memory_node(NodeType::memcpy, buffers.output, sampled, unsigned_of(batch) * number_bytes));
    return nodes;
}

}  // namespace assay::foundry::toy
