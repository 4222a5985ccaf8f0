#include "impls/nn/training/corpus.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include "impls/nn/hashes.hpp"
#include "suite/base/error.hpp"
#include "suite/base/input_file.hpp"

namespace assay::nn {
namespace {

/// Start of sequence `number` of the global batch of step `step`, one of 0 … windows − 1: a
/// function of its arguments, whoever asks and in which order.
std::uint64_t window_start(std::uint64_t seed, std::int64_t step, std::uint64_t number,
                           std::uint64_t windows) {
    return counter_hash(counter_hash(seed) ^
                        counter_hash(static_cast<std::uint64_t>(step) * 0x10001 + 1) ^
                        counter_hash(number + 0x5851f42dULL)) %
           windows;
}

}  // namespace

ByteCorpus::ByteCorpus(const std::filesystem::path& file, std::int64_t minimum_bytes) {
    std::ifstream in(file, std::ios::binary);
    text_.assign(std::istreambuf_iterator<char>(in), {});
    if (!in || bytes() < minimum_bytes) {
        throw UserError("cannot train on " + file.string() + ": it holds " +
                        std::to_string(bytes()) + " readable bytes, at least " +
                        std::to_string(minimum_bytes) + " are needed");
    }
}

ByteCorpus ByteCorpus::from_text(std::string text) {
    ByteCorpus corpus;
    corpus.text_ = std::move(text);
    return corpus;
}

at::Tensor ByteCorpus::batch(std::uint64_t seed, std::int64_t step, std::int64_t first,
                             std::int64_t sequences, std::int64_t length) const {
    auto tokens = at::empty({sequences, length + 1}, at::TensorOptions().dtype(at::kLong));
    auto* out = tokens.mutable_data_ptr<std::int64_t>();
    const auto windows = static_cast<std::uint64_t>(bytes() - length);
    for (std::int64_t s = 0; s < sequences; ++s) {
        const auto number = static_cast<std::uint64_t>(first + s);
        const auto start = window_start(seed, step, number, windows);
        for (std::int64_t i = 0; i <= length; ++i)
            *out++ = static_cast<unsigned char>(text_[start + static_cast<std::uint64_t>(i)]);
    }
    return tokens;
}

namespace {

void copy_window(const std::vector<std::int32_t>& tokens, std::size_t start, int length,
                 std::int64_t* out) {
    std::copy_n(tokens.begin() + static_cast<std::ptrdiff_t>(start), length + 1, out);
}

std::vector<std::int32_t> encode(const Tokenizer& tokenizer, const std::string& name,
                                 std::string_view text) {
    const auto ids = tokenizer.encode_named(name, text);
    return {ids.begin(), ids.end()};
}

std::string read_text(const std::filesystem::path& file) {
    std::error_code unknown;  // then opening it tells
    if (std::filesystem::is_directory(file, unknown))
        throw UserError(file.string() + " is a folder, not a text; give a file");
    auto text = read_text_file(file);
    if (!text) throw UserError("cannot read the text " + file.string() + "; give a readable file");
    return std::move(*text);
}

std::uint64_t hash_tokens(const std::vector<std::int32_t>& tokens, std::uint64_t hash) {
    const std::uint64_t count = tokens.size();
    hash = hash_bytes(&count, sizeof count, hash);
    return hash_bytes(tokens.data(), tokens.size() * sizeof tokens[0], hash);
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
    fill(read_text(file), tokenizer, held_out, context, file.string());
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
    training_ = encode(tokenizer, origin, text.substr(0, cut));
    held_out_ = encode(tokenizer, origin + ", held-out part", text.substr(cut));
    const auto too_short = [&](const std::vector<std::int32_t>& tokens) {
        return tokens.size() < static_cast<std::size_t>(context) + 1;
    };
    if (too_short(training_) || (held_out > 0 && too_short(held_out_))) {
        throw UserError(fmt::format(
            "{} is too short: {} tokens to train on and {} held out, windows of {} are needed in "
            "both; give a longer text or a shorter context",
            origin, training_.size(), held_out_.size(), context + 1));
    }
    held_out_bytes_before_.assign(1, 0);
    for (const auto token : held_out_) {
        const auto bytes = static_cast<std::int64_t>(tokenizer.bytes_of(token));
        held_out_bytes_before_.push_back(held_out_bytes_before_.back() + bytes);
    }
    digest_ = hash_bytes(&context_, sizeof context_);
    digest_ = hash_tokens(held_out_, hash_tokens(training_, digest_));
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

std::vector<std::size_t> TokenData::held_out_starts(int limit) const {
    const auto length = static_cast<std::size_t>(context_);
    const auto all = held_out_.empty() ? 0 : (held_out_.size() - 1) / length;
    std::vector<std::size_t> starts(limit > 0 ? std::min(all, static_cast<std::size_t>(limit))
                                              : all);
    for (std::size_t w = 0; w < starts.size(); ++w) starts[w] = w * all / starts.size() * length;
    return starts;
}

std::vector<at::Tensor> TokenData::held_out_batches(int sequences, int limit) const {
    const auto starts = held_out_starts(limit);
    const auto count = starts.size();
    std::vector<at::Tensor> batches;
    for (std::size_t first = 0; first < count; first += static_cast<std::size_t>(sequences)) {
        const auto here = std::min(count - first, static_cast<std::size_t>(sequences));
        auto tokens = at::empty({static_cast<std::int64_t>(here), context_ + 1},
                                at::TensorOptions().dtype(at::kLong));
        auto* out = tokens.mutable_data_ptr<std::int64_t>();
        for (std::size_t w = first; w < first + here; ++w, out += context_ + 1)
            copy_window(held_out_, starts[w], context_, out);
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

std::int64_t TokenData::held_out_bytes(int limit) const {
    std::int64_t bytes = 0;
    for (const auto start : held_out_starts(limit)) {
        const auto end = start + static_cast<std::size_t>(context_) + 1;
        bytes += held_out_bytes_before_[end] - held_out_bytes_before_[start + 1];
    }
    return bytes;
}

std::uint64_t TokenData::digest() const { return digest_; }

}  // namespace assay::nn
