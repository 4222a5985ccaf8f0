#include "impls/decode/threshold_networks.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "kernels/cpu/context.hpp"
#include "kernels/cpu/row_products.hpp"
#include "kernels/sparse_ffn/activation.hpp"

namespace assay::decode {
namespace {

/// Enough rows that a chunk's private sums cost little beside reading them.
constexpr int least_rows_of_chunk = 32, most_chunks = 32;

std::size_t floats_of(int tokens, int columns) {
    return static_cast<std::size_t>(tokens) * static_cast<std::size_t>(columns);
}

const std::byte* row_of(const WeightMatrix& matrix, int row) {
    return matrix.weights + static_cast<std::size_t>(row) * row_bytes(matrix);
}

/// Left out are those whose magnitude is not above the threshold; NaN reaches the output.
bool remains(float value, float threshold) { return !(std::abs(value) <= threshold); }

std::uint64_t remaining(const float* values, int count) {
    return static_cast<std::uint64_t>(
        std::count_if(values, values + count, [](float value) { return value != 0; }));
}

}  // namespace

void WeightedRows::run(AssayContext& context, std::span<const Product> products,
                       const float* weights, int tokens) {
    const int rows = products[0].matrix->rows;
    read_.clear();
    for (int r = 0; r < rows; ++r) {
        bool any = false;
        for (int t = 0; t < tokens; ++t) any |= weights[t * rows + r] != 0;
        if (any) read_.push_back(r);
    }
    const int chunks =
        std::clamp(static_cast<int>(read_.size()) / least_rows_of_chunk, 1, most_chunks);
    const int columns = products[0].matrix->columns;
    const std::size_t of_chunk = floats_of(tokens, columns);
    const auto sums = [&](std::size_t product, int chunk) {
        return sums_.data() +
               (product * static_cast<std::size_t>(chunks) + static_cast<std::size_t>(chunk)) *
                   of_chunk;
    };
    sums_.resize(products.size() * static_cast<std::size_t>(chunks) * of_chunk);
    context.pool.run(static_cast<int>(products.size()) * chunks, [&](int item) {
        const auto product = static_cast<std::size_t>(item / chunks);
        add_chunk(context, products[product], weights, tokens, item % chunks, chunks,
                  sums(product, item % chunks));
    });
    for (std::size_t product = 0; product < products.size(); ++product) {
        float* const y = products[product].y;
        std::copy_n(sums(product, 0), of_chunk, y);
        for (int chunk = 1; chunk < chunks; ++chunk)
            for (std::size_t i = 0; i < of_chunk; ++i) y[i] += sums(product, chunk)[i];
    }
}

void WeightedRows::add_chunk(const AssayContext& context, const Product& product,
                             const float* weights, int tokens, int chunk, int chunks,
                             float* sums) const {
    const WeightMatrix& matrix = *product.matrix;
    const auto add_rows = context.instructions.add_rows->of_type[matrix.type];
    std::fill_n(sums, floats_of(tokens, matrix.columns), 0.0f);
    const auto bound = [&](int of) {
        return read_.size() * static_cast<std::size_t>(of) / static_cast<std::size_t>(chunks);
    };
    for (std::size_t at = bound(chunk); at < bound(chunk + 1); ++at) {
        const int row = read_[at];
        float h[largest_batch];
        float* y[largest_batch];
        int count = 0;
        for (int t = 0; t < tokens; ++t) {
            h[count] = weights[t * matrix.rows + row];
            y[count] = sums + floats_of(t, matrix.columns);
            if (h[count] != 0) ++count;
        }
        const int next = read_[std::min(at + 1, read_.size() - 1)];
        add_rows(row_of(matrix, row), row_bytes(matrix), 1, matrix.columns, h, count, y,
                 row_of(matrix, next));
    }
}

ThresholdNetworks::ThresholdNetworks(const nn::DecoderConfig& config, const WeightSource& source,
                                     bool inputs_are_rows)
    : config_(config), hidden_(floats_of(largest_batch, config.hidden)) {
    for (int i = 0; i < config.layers; ++i) {
        const std::string prefix = "layer" + std::to_string(i) + "/";
        const auto floats = [&](const char* name, int elements) {
            std::vector<float> values(static_cast<std::size_t>(elements));
            source.floats(prefix + name, values);
            return values;
        };
        const auto first = [&](const char* name) {
            const auto rows = plain_rows(source, prefix + name, config.hidden, config.width);
            return keep(inputs_are_rows ? transposed(rows) : rows);
        };
        Layer& layer = layers_.emplace_back();
        if (config.activation == nn::Activation::swiglu) layer.gate = first("gate");
        layer.up = first("up");
        layer.down =
            keep(transposed(plain_rows(source, prefix + "down", config.width, config.hidden)));
        if (config.family != nn::Family::gpt2) continue;
        layer.up_bias = floats("up_bias", config.hidden);
        layer.down_bias = floats("down_bias", config.width);
    }
}

WeightMatrix ThresholdNetworks::keep(PlainRows rows) {
    auto& memory = memory_.emplace_back(kernels::allocate_streamed(rows.bytes.size()));
    std::memcpy(memory.get(), rows.bytes.data(), rows.bytes.size());
    WeightMatrix matrix;
    matrix.type = rows.type;
    matrix.rows = rows.rows;
    matrix.columns = rows.columns;
    matrix.weights = memory.get();
    return matrix;
}

void ThresholdNetworks::add_bias(const std::vector<float>& bias, int tokens, float* y) const {
    for (int t = 0; t < tokens && !bias.empty(); ++t)
        for (const float each : bias) *y++ += each;
}

void ThresholdNetworks::finish(AssayContext& context, const Layer& layer, int tokens,
                               std::uint64_t before, bool first_layer, float* y) {
    const Product down{&layer.down, y};
    weighted_rows_.run(context, {&down, 1}, hidden_.data(), tokens);
    add_bias(layer.down_bias, tokens, y);
    const float* const last = hidden_.data() + floats_of(tokens - 1, config_.hidden);
    if (first_layer) bytes_of_last_token_ = 0;
    bytes_of_last_token_ += before + remaining(last, config_.hidden) * row_bytes(layer.down) +
                            (layer.up_bias.size() + layer.down_bias.size()) * sizeof(float);
}

GatedNetworks::GatedNetworks(const nn::DecoderConfig& config, const WeightSource& source,
                             nn::GateThresholds thresholds)
    : ThresholdNetworks(config, source, false), thresholds_(std::move(thresholds)) {}

void GatedNetworks::run(AssayContext& context, int index, int, const Activations& x, float* y) {
    const Layer& layer = layers_[static_cast<std::size_t>(index)];
    const float least = thresholds_.least[static_cast<std::size_t>(index)];
    const bool gated = static_cast<bool>(layer.gate);
    const WeightMatrix& whole = gated ? layer.gate : layer.up;
    const auto dot_rows = context.instructions.dot_rows->of_type[whole.type];
    const AssayActivation kind = kernel_activation(config_.activation);
    constexpr int together = 16;
    // What the gate lets through of a neuron, and then what it is multiplied with.
    const auto activate = [&](int first, int rows) {
        float sums[together * largest_batch];
        dot_rows(row_of(whole, first), row_bytes(whole), rows, whole.columns, x.rows(), x.tokens(),
                 sums, row_of(whole, first) + static_cast<std::size_t>(rows) * row_bytes(whole));
        int needed[together], count = 0;  // rows that some token's gate lets through
        for (int r = 0; r < rows; ++r) {
            const auto neuron = static_cast<std::size_t>(first + r);
            bool any = false;
            for (int t = 0; t < x.tokens(); ++t) {
                float sum = sums[r * x.tokens() + t];
                if (!layer.up_bias.empty()) sum += layer.up_bias[neuron];
                const float let_through =
                    gated ? kernels::activate(kind, sum, 1.0f) : kernels::activate(kind, 0.0f, sum);
                float& kept = hidden_[floats_of(t, config_.hidden) + neuron];
                kept = remains(let_through, least) ? let_through : 0.0f;
                any |= kept != 0;
            }
            if (any) needed[count++] = first + r;
        }
        for (int i = 0; gated && i < count; ++i) {
            const std::byte* const next = row_of(layer.up, needed[std::min(i + 1, count - 1)]);
            float ups[largest_batch];
            dot_rows(row_of(layer.up, needed[i]), row_bytes(layer.up), 1, layer.up.columns,
                     x.rows(), x.tokens(), ups, next);
            for (int t = 0; t < x.tokens(); ++t)
                hidden_[floats_of(t, config_.hidden) + static_cast<std::size_t>(needed[i])] *=
                    ups[t];
        }
    };
    const std::size_t bytes_of_row = row_bytes(whole) + (gated ? row_bytes(layer.up) : 0);
    const int of_item =
        kernels::rows_per_item(config_.hidden, bytes_of_row, context.pool.threads(), together);
    context.pool.run(kernels::item_count(config_.hidden, of_item), [&](int item) {
        const int end = std::min(config_.hidden, (item + 1) * of_item);
        for (int first = item * of_item; first < end; first += together)
            activate(first, std::min(together, end - first));
    });
    const float* const last = hidden_.data() + floats_of(x.tokens() - 1, config_.hidden);
    const std::uint64_t of_up = gated ? remaining(last, config_.hidden) * row_bytes(layer.up) : 0;
    finish(context, layer, x.tokens(), stored_bytes(whole) + of_up, index == 0, y);
}

ThinnedNetworks::ThinnedNetworks(const nn::DecoderConfig& config, const WeightSource& source,
                                 nn::InputThresholds thresholds)
    : ThresholdNetworks(config, source, true),
      thresholds_(std::move(thresholds)),
      inputs_(floats_of(largest_batch, config.width)),
      gates_(floats_of(largest_batch, config.hidden)) {}

void ThinnedNetworks::run(AssayContext& context, int index, int, const Activations& x, float* y) {
    const Layer& layer = layers_[static_cast<std::size_t>(index)];
    const auto at = static_cast<std::size_t>(index);
    const auto thin = [](const float* from, std::size_t count, float threshold, float* to) {
        for (std::size_t i = 0; i < count; ++i) to[i] = remains(from[i], threshold) ? from[i] : 0;
    };
    thin(x.data(), floats_of(x.tokens(), config_.width), thresholds_.input[at], inputs_.data());
    const bool gated = static_cast<bool>(layer.gate);
    const Product products[]{{&layer.up, hidden_.data()}, {&layer.gate, gates_.data()}};
    weighted_rows_.run(context, std::span(products).first(gated ? 2 : 1), inputs_.data(),
                       x.tokens());
    add_bias(layer.up_bias, x.tokens(), hidden_.data());
    const AssayActivation kind = kernel_activation(config_.activation);
    const std::size_t neurons = floats_of(x.tokens(), config_.hidden);
    for (std::size_t i = 0; i < neurons; ++i)
        hidden_[i] = kernels::activate(kind, gates_[i], hidden_[i]);
    thin(hidden_.data(), neurons, thresholds_.hidden[at], hidden_.data());
    const float* const last = inputs_.data() + floats_of(x.tokens() - 1, config_.width);
    const std::uint64_t before =
        remaining(last, config_.width) * (gated ? 2 : 1) * row_bytes(layer.up);
    finish(context, layer, x.tokens(), before, index == 0, y);
}

}  // namespace assay::decode
