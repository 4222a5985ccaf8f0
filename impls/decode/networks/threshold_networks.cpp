#include "impls/decode/networks/threshold_networks.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <utility>

#include "kernels/cpu/context.hpp"
#include "kernels/cpu/row_products.hpp"
#include "kernels/sparse_ffn/activation.hpp"
#include "suite/base/error.hpp"

namespace assay::decode {
namespace {

std::size_t floats_of(int tokens, int columns) {
    return static_cast<std::size_t>(tokens) * static_cast<std::size_t>(columns);
}

/// Left out are those whose magnitude is not above the threshold; NaN reaches the output.
bool remains(float value, float threshold) { return !(std::abs(value) <= threshold); }

/// Puts the first `bytes` of rows that nobody has asked for yet on their way.
void ask_for(const std::byte* weights, std::size_t row_bytes, std::size_t bytes,
             const std::int32_t* rows, int count) {
    constexpr int read = 0, second_cache = 2;
    constexpr std::size_t bytes_of_line = 64;
    for (int i = 0; i < count; ++i) {
        const std::byte* const row = weights + static_cast<std::size_t>(rows[i]) * row_bytes;
        for (std::size_t at = 0; at < bytes; at += bytes_of_line)
            __builtin_prefetch(row + at, read, second_cache);
    }
}

}  // namespace

void NeededRows::find(const float* values, int stride, int tokens, int begin, int end,
                      float threshold, int ahead) {
    count = 0;
    for (int r = begin; r < end; ++r) {
        float* const kept = weights + floats_of(count, tokens);
        bool any = false;
        for (int t = 0; t < tokens; ++t) {
            const float value = values[floats_of(t, stride) + static_cast<std::size_t>(r)];
            const bool needed = remains(value, threshold);
            kept[t] = needed ? value : 0.0f;
            any |= needed;
        }
        rows[count] = r;
        count += any;
    }
    std::fill_n(rows + count, ahead, count > 0 ? rows[count - 1] : begin);
}

int WeightedRows::run(AssayContext& context, const WeightMatrix& matrix, const float* weights,
                      float threshold, int tokens, const std::vector<float>& bias, float* y) {
    // Chunks of rows, in slabs of columns: enough rows that their private sums cost little beside
    // reading them, columns whose sums stay in the first cache while rows are read in long pieces.
    constexpr int rows_of_chunk = 256, least_chunks = 8, most_chunks = 32;
    const int rows = matrix.rows, columns = matrix.columns;
    const int chunks = std::clamp(rows / rows_of_chunk, least_chunks, most_chunks);
    const int slab_columns = tokens == 1 ? 4096 : 1024;
    const int slabs = (columns + slab_columns - 1) / slab_columns;
    const std::size_t bytes = row_bytes(matrix);
    const int ahead =
        kernels::rows_ahead(std::min(bytes, kernels::row_bytes(matrix.type, slab_columns)));
    const std::size_t of_chunk = floats_of(tokens, columns);
    rows_.resize(static_cast<std::size_t>(slabs * (rows + chunks * ahead)));
    weights_.resize(floats_of(tokens, rows) * static_cast<std::size_t>(slabs));
    sums_.resize(of_chunk * static_cast<std::size_t>(chunks));

    std::atomic<int> read{0};
    context.pool.run(chunks * slabs, [&](int item) {
        const int chunk = item / slabs, slab = item % slabs;
        const int begin = rows * chunk / chunks, end = rows * (chunk + 1) / chunks;
        const int first = slab * slab_columns, count = std::min(slab_columns, columns - first);
        NeededRows needed{rows_.data() + slab * (rows + chunks * ahead) + begin + chunk * ahead,
                          weights_.data() + floats_of(tokens, slab * rows + begin)};
        needed.find(weights, rows, tokens, begin, end, threshold, ahead);
        if (slab == 0) read.fetch_add(needed.count, std::memory_order_relaxed);
        const std::byte* const from = matrix.weights + kernels::row_bytes(matrix.type, first);
        float* of_token[largest_batch] = {};
        for (int t = 0; t < tokens; ++t) {
            of_token[t] = sums_.data() + of_chunk * static_cast<std::size_t>(chunk) +
                          floats_of(t, columns) + static_cast<std::size_t>(first);
            std::fill_n(of_token[t], count, 0.0f);
        }
        ask_for(from, bytes, kernels::row_bytes(matrix.type, count), needed.rows,
                std::min(ahead, needed.count));
        context.instructions.add_rows->listed[matrix.type](
            from, bytes, needed.rows, needed.count, ahead, count, needed.weights, tokens, of_token);
    });

    constexpr int columns_of_item = 1024;
    const int pieces = (columns + columns_of_item - 1) / columns_of_item;
    float once[most_chunks];
    std::fill_n(once, most_chunks, 1.0f);
    context.pool.run(tokens * pieces, [&](int item) {
        const int token = item / pieces, first = item % pieces * columns_of_item;
        const int count = std::min(columns_of_item, columns - first);
        float* to = y + floats_of(token, columns) + first;
        if (bias.empty())
            std::fill_n(to, count, 0.0f);
        else
            std::copy_n(bias.data() + first, count, to);
        const auto* const sums = reinterpret_cast<const std::byte*>(
            sums_.data() + floats_of(token, columns) + static_cast<std::size_t>(first));
        context.instructions.add_rows->of_type[ASSAY_F32](sums, of_chunk * sizeof(float), chunks,
                                                          count, once, 1, &to, sums);
    });
    return read;
}

ThresholdNetworks::ThresholdNetworks(const nn::DecoderConfig& config, const WeightSource& source,
                                     Arrange arrange)
    : config_(config), hidden_(floats_of(largest_batch, config.hidden)) {
    for (int i = 0; i < config.layers; ++i) {
        const std::string prefix = "layer" + std::to_string(i) + "/";
        const auto floats = [&](const char* name, int elements) {
            std::vector<float> values(static_cast<std::size_t>(elements));
            source.floats(prefix + name, values);
            return values;
        };
        std::vector<PlainRows> gate_and_up;
        if (gated())
            gate_and_up.push_back(plain_rows(source, prefix + "gate", config.hidden, config.width));
        gate_and_up.push_back(plain_rows(source, prefix + "up", config.hidden, config.width));
        if (gate_and_up.front().type != gate_and_up.back().type)
            throw UserError(prefix + "gate and up are stored in two types; ask for bf16 or f32");
        Layer& layer = layers_.emplace_back();
        layer.first = keep(arrange(gate_and_up));
        layer.down =
            keep(transposed(plain_rows(source, prefix + "down", config.width, config.hidden)));
        if (config.family != nn::Family::gpt2) continue;
        layer.up_bias = floats("up_bias", config.hidden);
        layer.down_bias = floats("down_bias", config.width);
    }
}

WeightMatrix ThresholdNetworks::keep(const PlainRows& rows) {
    auto& memory = memory_.emplace_back(kernels::allocate_streamed(rows.bytes.size()));
    std::memcpy(memory.get(), rows.bytes.data(), rows.bytes.size());
    WeightMatrix matrix;
    matrix.type = rows.type;
    matrix.rows = rows.rows;
    matrix.columns = rows.columns;
    matrix.weights = memory.get();
    return matrix;
}

int ThresholdNetworks::finish(AssayContext& context, const Layer& layer, float threshold,
                              int tokens, float* y) {
    return down_rows_.run(context, layer.down, hidden_.data(), threshold, tokens, layer.down_bias,
                          y);
}

void ThresholdNetworks::count_bytes(int layer, std::uint64_t of_layer) {
    if (layer == 0) bytes_of_last_run_ = 0;
    bytes_of_last_run_ += of_layer;
}

std::size_t ThresholdNetworks::bias_bytes(const Layer& layer) const {
    return (layer.up_bias.size() + layer.down_bias.size()) * sizeof(float);
}

// CATS.

namespace {

/// Gate's rows, up's behind them.
PlainRows one_after_another(const std::vector<PlainRows>& matrices) {
    PlainRows all{matrices[0].type, 0, matrices[0].columns, {}};
    for (const PlainRows& each : matrices) {
        all.rows += each.rows;
        all.bytes.insert(all.bytes.end(), each.bytes.begin(), each.bytes.end());
    }
    return all;
}

}  // namespace

GatedNetworks::GatedNetworks(const nn::DecoderConfig& config, const WeightSource& source,
                             nn::GateThresholds thresholds)
    : ThresholdNetworks(config, source, one_after_another), thresholds_(std::move(thresholds)) {}

void GatedNetworks::run(AssayContext& context, int index, std::span<const int>,
                        const Activations& x, float* y) {
    const Layer& layer = layers_[static_cast<std::size_t>(index)];
    const float least = thresholds_.least[static_cast<std::size_t>(index)];
    const std::size_t bytes = row_bytes(layer.first);
    const int of_item = kernels::rows_per_item(config_.hidden, bytes * (gated() ? 2 : 1),
                                               context.pool.threads(), 16);
    context.pool.run(kernels::item_count(config_.hidden, of_item), [&](int item) {
        let_through(context, layer, least, x, item * of_item,
                    std::min(config_.hidden, (item + 1) * of_item));
    });
    const auto needed =
        static_cast<std::uint64_t>(finish(context, layer, /*threshold=*/0, x.tokens(), y));
    count_bytes(index, static_cast<std::uint64_t>(config_.hidden) * bytes +
                           needed * ((gated() ? bytes : 0) + row_bytes(layer.down)) +
                           bias_bytes(layer));
}

// The rows of up that a group of neurons needs are read behind the gates of the next group, so that
// they are on their way meanwhile.
void GatedNetworks::let_through(const AssayContext& context, const Layer& layer, float least,
                                const Activations& x, int begin, int end) {
    constexpr int together = 16;
    const WeightMatrix& matrix = layer.first;
    const std::size_t bytes = row_bytes(matrix);
    const int ahead = kernels::rows_ahead(bytes), hidden = config_.hidden, tokens = x.tokens();
    const AssayActivation kind = kernel_activation(config_.activation);
    const auto at = [&](int token, int neuron) -> float& {
        return hidden_[floats_of(token, hidden) + static_cast<std::size_t>(neuron)];
    };
    std::int32_t list[2 * together + kernels::most_rows_ahead];
    float sums[2 * together * largest_batch];
    int waiting[together], waits = 0;  // neurons whose rows of up are still to be read
    for (int first = begin; first < end || waits > 0; first += together) {
        const int gates = std::clamp(end - first, 0, together);
        for (int r = 0; r < gates; ++r) list[r] = first + r;
        for (int i = 0; i < waits; ++i) list[gates + i] = hidden + waiting[i];
        const int count = gates + waits;
        for (int r = 0; r < ahead; ++r)
            list[count + r] = std::min(first + gates + r, std::max(first, end - 1));
        if (first == begin) ask_for(matrix.weights, bytes, bytes, list, std::min(ahead, count));
        context.instructions.dot_rows->listed[matrix.type](
            matrix.weights, bytes, list, count, ahead, matrix.columns, x.rows(), tokens, sums);
        for (int i = 0; i < waits; ++i)
            for (int t = 0; t < tokens; ++t)
                if (float& passed = at(t, waiting[i]); passed != 0)  // 0 of an infinite one stays 0
                    passed *= sums[(gates + i) * tokens + t];
        waits = 0;
        for (int r = 0; r < gates; ++r) {
            const int neuron = first + r;
            const float bias =
                layer.up_bias.empty() ? 0.0f : layer.up_bias[static_cast<std::size_t>(neuron)];
            bool any = false;
            for (int t = 0; t < tokens; ++t) {
                const float sum = sums[r * tokens + t] + bias;
                const float passed = gated() ? kernels::activate(kind, sum, 1.0f)
                                             : kernels::activate(kind, 0.0f, sum);
                const bool needed = remains(passed, least);
                at(t, neuron) = needed ? passed : 0.0f;
                any |= needed;
            }
            if (any && gated()) waiting[waits++] = neuron;
        }
        if (first + together < end) continue;
        for (int i = 0; i < waits; ++i) list[i] = hidden + waiting[i];
        ask_for(matrix.weights, bytes, bytes, list, waits);
    }
}

// TEAL.

namespace {

/// A row for each input: its weights in gate and then in up.
PlainRows side_by_side(const std::vector<PlainRows>& matrices) {
    PlainRows all{matrices[0].type, matrices[0].columns, 0, {}};
    std::vector<PlainRows> by_input;
    for (const PlainRows& each : matrices) {
        by_input.push_back(transposed(each));
        all.columns += each.rows;
    }
    const std::size_t bytes = kernels::row_bytes(all.type, by_input[0].columns);
    for (std::size_t input = 0; input < static_cast<std::size_t>(all.rows); ++input)
        for (const PlainRows& each : by_input) {
            const auto from = each.bytes.begin() + static_cast<std::ptrdiff_t>(input * bytes);
            all.bytes.insert(all.bytes.end(), from, from + static_cast<std::ptrdiff_t>(bytes));
        }
    return all;
}

}  // namespace

ThinnedNetworks::ThinnedNetworks(const nn::DecoderConfig& config, const WeightSource& source,
                                 nn::InputThresholds thresholds)
    : ThresholdNetworks(config, source, side_by_side),
      thresholds_(std::move(thresholds)),
      gates_and_ups_(floats_of(largest_batch, config.hidden * (gated() ? 2 : 1))) {}

void ThinnedNetworks::run(AssayContext& context, int index, std::span<const int>,
                          const Activations& x, float* y) {
    const auto at = static_cast<std::size_t>(index);
    const Layer& layer = layers_[at];
    const auto inputs = static_cast<std::uint64_t>(
        first_rows_.run(context, layer.first, x.data(), thresholds_.input[at], x.tokens(), {},
                        gates_and_ups_.data()));
    activate(context, layer, x.tokens());
    const auto neurons =
        static_cast<std::uint64_t>(finish(context, layer, thresholds_.hidden[at], x.tokens(), y));
    count_bytes(index, inputs * row_bytes(layer.first) + neurons * row_bytes(layer.down) +
                           bias_bytes(layer));
}

void ThinnedNetworks::activate(AssayContext& context, const Layer& layer, int tokens) {
    constexpr int neurons_of_item = 256;
    const int hidden = config_.hidden, columns = layer.first.columns;
    const int pieces = (hidden + neurons_of_item - 1) / neurons_of_item;
    const AssayActivation kind = kernel_activation(config_.activation);
    context.pool.run(tokens * pieces, [&](int item) {
        const int token = item / pieces, first = item % pieces * neurons_of_item;
        const float* const gate = gates_and_ups_.data() + floats_of(token, columns);
        const float* const up = gate + columns - hidden;
        float* const out = hidden_.data() + floats_of(token, hidden);
        for (int n = first; n < std::min(hidden, first + neurons_of_item); ++n) {
            const float bias =
                layer.up_bias.empty() ? 0.0f : layer.up_bias[static_cast<std::size_t>(n)];
            out[n] = kernels::activate(kind, gated() ? gate[n] : 0.0f, up[n] + bias);
        }
    });
}

}  // namespace assay::decode
