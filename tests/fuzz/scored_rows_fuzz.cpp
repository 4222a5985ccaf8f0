// Rows to fine-tune on, as JSON Lines: what is read has something to score, within the context.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "impls/nn/text/scored_rows.hpp"
#include "impls/nn/text/unicode.hpp"
#include "impls/nn/text/vocabulary.hpp"
#include "suite/base/error.hpp"

namespace {

assay::nn::Tokenizer chat_bytes() {
    assay::nn::Vocabulary vocabulary;
    for (int byte = 0; byte < 256; ++byte)
        vocabulary.tokens.push_back(
            {assay::nn::to_byte_letters(std::string(1, static_cast<char>(byte)))});
    for (const char* special : {"<|im_start|>", "<|im_end|>"})
        vocabulary.tokens.push_back({special, assay::nn::TokenKind::control});
    return assay::nn::Tokenizer(vocabulary);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto tokenizer = chat_bytes();
    constexpr int context = 40;
    try {
        const auto rows =
            assay::nn::parse_scored_rows({reinterpret_cast<const char*>(data), size}, "fuzz",
                                         tokenizer, {.context = context, .default_system = "s"});
        for (const auto& row : rows)
            if (row.scored_tokens() == 0 || row.tokens.size() != row.scored.size() ||
                row.tokens.size() > context + 1)
                std::abort();
    } catch (const assay::UserError&) {
    }
    return 0;
}
