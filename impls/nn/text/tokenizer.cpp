#include "impls/nn/text/tokenizer.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "impls/nn/files/tensor_file.hpp"
#include "impls/nn/files/untrusted_file.hpp"
#include "impls/nn/text/tokenizer_table.hpp"
#include "impls/nn/text/unicode.hpp"
#include "impls/nn/text/vocabulary.hpp"
#include "suite/base/error.hpp"

namespace assay::nn {
namespace {

Vocabulary vocabulary_of(const TensorFile& file) {
    const nlohmann::json& metadata = file.metadata();
    if (file.format() == FileFormat::gguf) return vocabulary_from_gguf(metadata);
    if (member(metadata, "tokenizer").is_null())
        throw UserError(
            "there is no tokenizer.json beside the weights; give the folder that has it");
    Vocabulary vocabulary = vocabulary_from_tokenizer_json(metadata["tokenizer"]);
    name_text_ends(vocabulary, member(metadata, "tokenizer_config"), member(metadata, "config"));
    return vocabulary;
}

}  // namespace

Tokenizer Tokenizer::of(const TensorFile& file) {
    try {
        return Tokenizer(vocabulary_of(file));
    } catch (const UserError& error) {
        throw UserError(file.path().string() + ": " + error.what());
    }
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
    const WrittenTokens& written = special ? table_->all_written : table_->literals;
    std::vector<int> ids;
    while (!text.empty()) {
        const WrittenTokens::Found found = written.first(text);
        table_->append_words(text.substr(0, found.at), ids);
        if (found.bytes != 0) ids.push_back(found.id);
        text.remove_prefix(found.at + found.bytes);
    }
    return ids;
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

bool Tokenizer::ends_text(int id) const {
    constexpr std::array<std::string_view, 5> endings{"<|endoftext|>", "<|im_end|>", "<|eot_id|>",
                                                      "<|end_of_text|>", "</s>"};
    const auto& token = table_->at(id);
    if (id == table_->end_of_text) return true;
    return token.special && std::find(endings.begin(), endings.end(), token.text) != endings.end();
}

std::string Tokenizer::bytes_without_token() const {
    std::string missing;
    for (std::size_t byte = 0; byte < table_->byte_tokens.size(); ++byte)
        if (table_->byte_tokens[byte] < 0) missing += static_cast<char>(byte);
    return missing;
}

}  // namespace assay::nn
