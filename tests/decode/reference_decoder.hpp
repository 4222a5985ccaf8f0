// A decoder written down plainly, in double: every position attends to all before it, nothing is
// cached. What the engine is checked against.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/nn/files/toy_model.hpp"

namespace assay::decode {

using Row = std::vector<double>;

class ReferenceDecoder {
  public:
    explicit ReferenceDecoder(const nn::ToyModel& model) : model_(model), config_(model.config) {}

    /// Replaces feed-forward networks: which neurons of a layer take part, given their input.
    std::function<bool(int layer, int neuron, const Row& x)> takes_part;

    /// Logits after each id.
    std::vector<Row> logits(std::span<const int> ids) const {
        std::vector<Row> stream;
        for (std::size_t p = 0; p < ids.size(); ++p) {
            Row x = row_of("token_embedding", ids[p]);
            if (gpt2()) add(x, row_of("position_embedding", static_cast<int>(p)));
            stream.push_back(x);
        }
        for (int layer = 0; layer < config_.layers; ++layer) {
            const std::string prefix = "layer" + std::to_string(layer) + "/";
            attend(prefix, stream);
            for (Row& x : stream) add(x, feed_forward(layer, prefix, norm(x, prefix + "ffn_norm")));
        }
        std::vector<Row> all;
        for (const Row& x : stream)
            all.push_back(multiply(config_.tied_embeddings ? "token_embedding" : "output",
                                   norm(x, "final_norm")));
        return all;
    }

  private:
    bool gpt2() const { return config_.family == nn::Family::gpt2; }
    static void add(Row& x, const Row& y) {
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
    }
    Row row_of(const std::string& name, int row) const {
        const auto& values = model_.parameters.at(name);
        const auto width = static_cast<std::ptrdiff_t>(model_.shapes.at(name)[1]);
        return {values.begin() + row * width, values.begin() + (row + 1) * width};
    }
    double bias_of(const std::string& name, std::size_t i) const {
        const auto found = model_.parameters.find(name + "_bias");
        return found == model_.parameters.end() ? 0.0 : static_cast<double>(found->second[i]);
    }
    Row multiply(const std::string& name, const Row& x) const {
        const auto& weights = model_.parameters.at(name);
        Row y(weights.size() / x.size());
        for (std::size_t r = 0; r < y.size(); ++r) {
            y[r] = bias_of(name, r);
            for (std::size_t c = 0; c < x.size(); ++c)
                y[r] += static_cast<double>(weights[r * x.size() + c]) * x[c];
        }
        return y;
    }
    // Each head of queries or keys by itself, where the model has such norms.
    void norm_heads(Row& heads, const std::string& name) const {
        if (!config_.query_key_norms) return;
        const auto width = static_cast<std::ptrdiff_t>(config_.head_width);
        for (auto head = heads.begin(); head != heads.end(); head += width) {
            const Row normed = norm({head, head + width}, name);
            std::copy(normed.begin(), normed.end(), head);
        }
    }
    Row norm(const Row& x, const std::string& name) const {
        const auto& weight = model_.parameters.at(name);
        double mean = 0, squares = 0;
        if (gpt2())
            for (const double value : x) mean += value / static_cast<double>(x.size());
        for (const double value : x) squares += (value - mean) * (value - mean);
        const double deviation =
            std::sqrt(squares / static_cast<double>(x.size()) + config_.norm_epsilon);
        Row y(x.size());
        for (std::size_t i = 0; i < x.size(); ++i)
            y[i] = (x[i] - mean) / deviation * static_cast<double>(weight[i]) + bias_of(name, i);
        return y;
    }

    // Pair (i, i + half) of each head as a complex number, turned by position · base^(−2i/width).
    void rotate(Row& heads, std::size_t position) const {
        if (gpt2()) return;
        const auto width = static_cast<std::size_t>(config_.head_width), half = width / 2;
        for (std::size_t head = 0; head < heads.size(); head += width)
            for (std::size_t i = 0; i < half; ++i) {
                const double angle = static_cast<double>(position) *
                                     std::pow(config_.rope_base, -2.0 * static_cast<double>(i) /
                                                                     static_cast<double>(width));
                const double a = heads[head + i], b = heads[head + i + half];
                heads[head + i] = a * std::cos(angle) - b * std::sin(angle);
                heads[head + i + half] = a * std::sin(angle) + b * std::cos(angle);
            }
    }

    void attend(const std::string& prefix, std::vector<Row>& stream) const {
        const auto width = static_cast<std::size_t>(config_.head_width);
        const auto group = static_cast<std::size_t>(config_.heads / config_.kv_heads);
        std::vector<Row> keys, values, changes;
        for (std::size_t p = 0; p < stream.size(); ++p) {
            const Row x = norm(stream[p], prefix + "attention_norm");
            Row query = multiply(prefix + "query", x);
            keys.push_back(multiply(prefix + "key", x));
            values.push_back(multiply(prefix + "value", x));
            norm_heads(query, prefix + "query_norm");
            norm_heads(keys.back(), prefix + "key_norm");
            rotate(query, p);
            rotate(keys.back(), p);
            Row mixed(query.size());
            for (std::size_t head = 0; head < static_cast<std::size_t>(config_.heads); ++head) {
                const std::size_t kv = head / group * width;
                Row shares;
                double sum = 0;
                for (const Row& key : keys) {
                    double score = 0;
                    for (std::size_t i = 0; i < width; ++i)
                        score += query[head * width + i] * key[kv + i];
                    shares.push_back(std::exp(score / std::sqrt(static_cast<double>(width))));
                    sum += shares.back();
                }
                for (std::size_t at = 0; at < shares.size(); ++at)
                    for (std::size_t i = 0; i < width; ++i)
                        mixed[head * width + i] += shares[at] / sum * values[at][kv + i];
            }
            changes.push_back(multiply(prefix + "attention_out", mixed));
        }
        for (std::size_t p = 0; p < stream.size(); ++p) add(stream[p], changes[p]);
    }

    Row feed_forward(int layer, const std::string& prefix, const Row& x) const {
        Row h = multiply(prefix + "up", x);
        Row gate;
        if (config_.activation == nn::Activation::swiglu) gate = multiply(prefix + "gate", x);
        for (std::size_t j = 0; j < h.size(); ++j) {
            if (config_.activation == nn::Activation::swiglu)
                h[j] *= gate[j] / (1 + std::exp(-gate[j]));
            else if (config_.activation == nn::Activation::relu)
                h[j] = std::max(h[j], 0.0);
            else
                h[j] *=
                    0.5 *
                    (1 + std::tanh(std::sqrt(2 / M_PI) * (h[j] + 0.044715 * h[j] * h[j] * h[j])));
            if (takes_part && !takes_part(layer, static_cast<int>(j), x)) h[j] = 0;
        }
        return multiply(prefix + "down", h);
    }

    const nn::ToyModel& model_;
    const nn::DecoderConfig& config_;
};

}  // namespace assay::decode
