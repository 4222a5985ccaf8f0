// tokenizer.json: whatever is in one, it is refused with a UserError or makes a tokenizer that
// gives back what it encodes, as far as its vocabulary has the bytes.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "impls/nn/text/tokenizer.hpp"
#include "impls/nn/text/vocabulary.hpp"
#include "suite/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay::nn;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (json.is_discarded()) return 0;
    try {
        Vocabulary vocabulary = vocabulary_from_tokenizer_json(json);
        name_text_ends(vocabulary, json, json);
        const Tokenizer tokenizer(vocabulary);
        const std::string missing = tokenizer.bytes_without_token();
        std::string encodable;
        for (const char byte : text)
            if (missing.find(byte) == std::string::npos) encodable += byte;
        if (tokenizer.decode(tokenizer.encode(encodable)) != encodable) std::abort();
        for (const int id : tokenizer.encode(encodable, true)) tokenizer.bytes_of(id);
    } catch (const assay::UserError&) {
    }
    return 0;
}
