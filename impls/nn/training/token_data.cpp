#include "impls/nn/training/token_data.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

#include "impls/nn/window_start.hpp"
#include "suite/experiment/error.hpp"

namespace assay::nn {
namespace {

void copy_window(const std::vector<std::int32_t>& tokens, std::size_t start, int length,
                 std::int64_t* out) {
    std::copy_n(tokens.begin() + static_cast<std::ptrdiff_t>(start), length + 1, out);
}

std::vector<std::int32_t> encode(const Tokenizer& tokenizer, std::string_view text) {
    const auto ids = tokenizer.encode(text);
    return {ids.begin(), ids.end()};
}

// Behind the end of the last line that ends within the first `wanted` bytes; `wanted` in a text
// without lines.
std::size_t cut_at_line(std::string_view text, std::size_t wanted) {
    if (wanted == 0 || wanted >= text.size()) return wanted;
    const auto end = text.rfind('\n', wanted - 1);
    return end == std::string_view::npos ? wanted : end + 1;
}

}  // namespace

TokenData::TokenData(const std::filesystem::path& file, const Tokenizer& tokenizer, double held_out,
                     int context) {
    std::ifstream in(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in || std::filesystem::is_directory(file))
        throw UserError("cannot read the text " + file.string() + "; give a readable file");
    fill(text, tokenizer, held_out, context, file.string());
}

TokenData TokenData::from_text(std::string text, const Tokenizer& tokenizer, double held_out,
                               int context) {
    TokenData data;
    data.fill(text, tokenizer, held_out, context, "the text");
    return data;
}

void TokenData::fill(std::string_view text, const Tokenizer& tokenizer, double held_out,
                     int context, const std::string& origin) {
    if (!(held_out >= 0 && held_out <= 0.5) || context < 1) {
        throw UserError(
            fmt::format("a held-out share of {} with windows of {} tokens is not "
                        "possible; give a share of 0 to 0.5 and at least one token",
                        held_out, context));
    }
    const auto wanted =
        text.size() - static_cast<std::size_t>(held_out * static_cast<double>(text.size()));
    const auto cut = cut_at_line(text, wanted);
    context_ = context;
    training_ = encode(tokenizer, text.substr(0, cut));
    held_out_ = encode(tokenizer, text.substr(cut));
    const auto too_short = [&](const std::vector<std::int32_t>& tokens) {
        return tokens.size() < static_cast<std::size_t>(context) + 1;
    };
    if (too_short(training_) || (held_out > 0 && too_short(held_out_))) {
        throw UserError(fmt::format(
            "{} is too short: {} tokens to train on and {} held out, windows of {} are needed in "
            "both; give a longer text or a shorter context",
            origin, training_.size(), held_out_.size(), context + 1));
    }
    const bool any = !held_out_.empty();
    const auto bytes = any ? text.size() - cut : cut;
    bytes_per_token_ =
        static_cast<double>(bytes) / static_cast<double>(any ? held_out_.size() : training_.size());
}

at::Tensor TokenData::batch(std::uint64_t seed, std::int64_t step, int sequences) const {
    auto tokens = at::empty({sequences, context_ + 1}, at::TensorOptions().dtype(at::kLong));
    auto* out = tokens.mutable_data_ptr<std::int64_t>();
    const auto windows = training_.size() - static_cast<std::size_t>(context_);
    for (int s = 0; s < sequences; ++s, out += context_ + 1) {
        copy_window(training_, window_start(seed, step, static_cast<std::uint64_t>(s), windows),
                    context_, out);
    }
    return tokens;
}

std::vector<at::Tensor> TokenData::held_out_batches(int sequences, int limit) const {
    const auto length = static_cast<std::size_t>(context_);
    const auto all = held_out_.empty() ? 0 : (held_out_.size() - 1) / length;
    const auto count = limit > 0 ? std::min(all, static_cast<std::size_t>(limit)) : all;
    std::vector<at::Tensor> batches;
    for (std::size_t first = 0; first < count; first += static_cast<std::size_t>(sequences)) {
        const auto here = std::min(count - first, static_cast<std::size_t>(sequences));
        auto tokens = at::empty({static_cast<std::int64_t>(here), context_ + 1},
                                at::TensorOptions().dtype(at::kLong));
        auto* out = tokens.mutable_data_ptr<std::int64_t>();
        for (std::size_t w = first; w < first + here; ++w, out += context_ + 1)
            copy_window(held_out_, w * all / count * length, context_, out);
        batches.push_back(std::move(tokens));
    }
    return batches;
}

std::int64_t TokenData::training_tokens() const {
    return static_cast<std::int64_t>(training_.size());
}

std::int64_t TokenData::held_out_tokens() const {
    return static_cast<std::int64_t>(held_out_.size());
}

double TokenData::bytes_per_token() const { return bytes_per_token_; }

}  // namespace assay::nn
