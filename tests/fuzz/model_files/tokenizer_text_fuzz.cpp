// Texts: any bytes are encoded, and the ids give them back, under every rule of cutting words, none
// of them a control token; and any chat template is read.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "impls/nn/text/chat.hpp"
#include "impls/nn/text/tokenizer.hpp"
#include "impls/nn/text/unicode.hpp"
#include "impls/nn/text/vocabulary.hpp"

namespace {

using namespace assay::nn;

/// All bytes, a few merges, and a special token.
Tokenizer tokenizer_with(WordRule rule) {
    Vocabulary vocabulary;
    vocabulary.words = rule;
    for (int byte = 0; byte < 256; ++byte)
        vocabulary.tokens.push_back({to_byte_letters(std::string(1, static_cast<char>(byte)))});
    for (const auto& [left, right] :
         std::vector<std::pair<std::string, std::string>>{{"t", "h"},
                                                          {"th", "e"},
                                                          {" ", "the"},
                                                          {" ", " "},
                                                          {"  ", "  "},
                                                          {"\xe4", "\xbd"},
                                                          {"i", "n"},
                                                          {"'", "s"},
                                                          {"1", "2"}}) {
        vocabulary.merges.emplace_back(to_byte_letters(left), to_byte_letters(right));
        vocabulary.tokens.push_back({to_byte_letters(left + right)});
    }
    vocabulary.tokens.push_back({"<|im_end|>", TokenKind::control});
    return Tokenizer(vocabulary);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::vector<Tokenizer> tokenizers{
        tokenizer_with(WordRule::whole), tokenizer_with(WordRule::gpt2),
        tokenizer_with(WordRule::smollm), tokenizer_with(WordRule::llama3)};
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const Tokenizer& tokenizer : tokenizers) {
        const std::vector<int> ids = tokenizer.encode(text);
        std::size_t bytes = 0;
        for (const int id : ids) bytes += tokenizer.bytes_of(id);
        if (bytes != size || tokenizer.decode(ids) != text) std::abort();
        if (std::find(ids.begin(), ids.end(), tokenizer.size() - 1) != ids.end()) std::abort();
        if (tokenizer.decode(tokenizer.encode(text, true)) != text) std::abort();
    }
    if (const auto system = chatml_default_system(text))
        if (!system->empty() && text.find("system") == std::string_view::npos) std::abort();
    return 0;
}
