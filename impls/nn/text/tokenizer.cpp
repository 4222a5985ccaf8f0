#include "impls/nn/text/tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "impls/nn/files/tensor_file.hpp"
#include "impls/nn/files/untrusted_file.hpp"
#include "impls/nn/text/tokenizer_table.hpp"
#include "impls/nn/text/unicode.hpp"
#include "impls/nn/text/vocabulary.hpp"
#include "suite/base/error.hpp"

namespace assay::nn {
namespace {

std::vector<int> listed_text_ends(const TensorFile& file) {
    const nlohmann::json& metadata = file.metadata();
    if (file.format() == FileFormat::gguf) return text_ends_of_gguf(metadata);
    std::vector<int> ends;
    for (const char* const config : {"config", "generation_config"})
        for (const int id : text_ends_of_config(member(metadata, config), config))
            ends.push_back(id);
    return ends;
}

Vocabulary vocabulary_of(const TensorFile& file) {
    const nlohmann::json& metadata = file.metadata();
    if (file.format() == FileFormat::gguf) return vocabulary_from_gguf(metadata);
    if (member(metadata, "tokenizer").is_null())
        throw UserError(
            "there is no tokenizer.json beside the weights; give the folder that has it");
    Vocabulary vocabulary = vocabulary_from_tokenizer_json(metadata["tokenizer"]);
    name_text_ends(vocabulary, member(metadata, "tokenizer_config"), member(metadata, "config"));
    for (const int id : listed_text_ends(file)) vocabulary.text_ends.push_back(id);
    return vocabulary;
}

[[noreturn]] void refuse_bytes(std::string_view text, const BytesWithoutToken& missing) {
    const auto before = text.substr(0, static_cast<std::size_t>(missing.first - text.data()));
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1: 0
    throw UserError(fmt::format(
        "the model's vocabulary has no token for {} of the text's {} bytes: the first is 0x{:02x} "
        "in line {}, byte {}; take them out of the text",
        missing.count, text.size(), static_cast<unsigned char>(*missing.first),
        1 + std::count(before.begin(), before.end(), '\n'), before.size() - line_start + 1));
}

/// What `read` returns; its errors name the file.
auto naming(const TensorFile& file, const auto& read) {
    try {
        return read();
    } catch (const UserError& error) {
        throw UserError(file.path().string() + ": " + error.what());
    }
}

}  // namespace

Tokenizer Tokenizer::of(const TensorFile& file) {
    return naming(file, [&] { return Tokenizer(vocabulary_of(file)); });
}

Tokenizer::Tokenizer(const Vocabulary& vocabulary)
    : table_(std::make_shared<const Table>(vocabulary)) {}

Tokenizer Tokenizer::bytes() {
    Vocabulary vocabulary;
    vocabulary.words = WordRule::whole;
    for (int byte = 0; byte < 256; ++byte)
        vocabulary.tokens.push_back({to_byte_letters(std::string(1, static_cast<char>(byte)))});
    return Tokenizer(vocabulary);
}

std::vector<int> Tokenizer::encode(std::string_view text, bool special) const {
    // Written tokens are looked for after it, not before as in Hugging Face's package: another
    // result only where U+0338 follows one that ends in ">".
    std::string composed;
    if (table_->composed) text = composed = composed_form(text);
    const WrittenTokens& written = special ? table_->all_written : table_->literals;
    std::vector<int> ids;
    BytesWithoutToken missing;
    std::string_view rest = text;
    while (!rest.empty()) {
        const WrittenTokens::Found found = written.first(rest);
        table_->append_words(rest.substr(0, found.at), ids, missing);
        if (found.bytes != 0) ids.push_back(found.id);
        rest.remove_prefix(found.at + found.bytes);
    }
    if (missing.count != 0) refuse_bytes(text, missing);
    return ids;
}

std::vector<int> Tokenizer::encode_named(std::string_view name, std::string_view text) const {
    try {
        return encode(text);
    } catch (const UserError& error) {
        throw UserError(fmt::format("{}: {}", name, error.what()));
    }
}

std::string Tokenizer::decode(std::span<const int> ids) const {
    std::string text;
    for (const int id : ids) text += table_->at(id).text;
    return text;
}

int Tokenizer::size() const { return static_cast<int>(table_->tokens.size()); }

std::optional<int> Tokenizer::end_of_text() const { return table_->end_of_text; }

std::optional<int> Tokenizer::start_of_text() const { return table_->start_of_text; }

std::optional<int> Tokenizer::id_of(std::string_view token) const {
    const auto found = table_->ids.find(token);
    if (found == table_->ids.end()) return std::nullopt;
    return found->second;
}

std::size_t Tokenizer::bytes_of(int id) const {
    const auto& token = table_->at(id);
    return token.special ? 0 : token.text.size();
}

const std::vector<int>& Tokenizer::text_ends() const { return table_->text_ends; }

std::string Tokenizer::bytes_without_token() const {
    std::string missing;
    for (std::size_t byte = 0; byte < table_->byte_tokens.size(); ++byte)
        if (table_->byte_tokens[byte] < 0) missing += static_cast<char>(byte);
    return missing;
}

std::vector<int> text_ends(const TensorFile& file, const Tokenizer* tokenizer, int vocabulary) {
    std::vector<int> ends =
        tokenizer ? tokenizer->text_ends() : naming(file, [&] { return listed_text_ends(file); });
    std::erase_if(ends, [&](int id) { return id >= vocabulary; });
    return ends;
}

}  // namespace assay::nn
