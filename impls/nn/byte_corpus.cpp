#include "impls/nn/byte_corpus.hpp"

#include <ATen/ATen.h>

#include <fstream>
#include <iterator>

#include "impls/nn/window_start.hpp"
#include "suite/experiment/error.hpp"

namespace assay::nn {
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

}  // namespace assay::nn
