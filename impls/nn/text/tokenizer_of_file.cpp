#include "impls/nn/files/tensor_file.hpp"
#include "impls/nn/text/gguf_vocabulary.hpp"
#include "impls/nn/text/json_parts.hpp"
#include "impls/nn/text/json_vocabulary.hpp"
#include "impls/nn/text/tokenizer.hpp"
#include "suite/experiment/error.hpp"

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

}  // namespace assay::nn
