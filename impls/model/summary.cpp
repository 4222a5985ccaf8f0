#include "impls/model/summary.hpp"

#include <algorithm>

#include "impls/nn/files/parameter_source.hpp"
#include "impls/nn/text/tokenizer.hpp"
#include "suite/experiment/error.hpp"

namespace assay::model {
namespace {

void require_all(const nn::TensorFile& file, const nn::DecoderConfig& config) {
    const auto require = [&](const std::string& name) {
        const nn::ParameterSource source = parameter_source(file, config, name);
        file.require(source.tensor, source.stored_shape);
    };
    for (const nn::NamedShape& each : shared_parameters(config)) require(each.name);
    for (int layer = 0; layer < config.layers; ++layer)
        for (const nn::NamedShape& each : layer_parameters(config))
            require("layer" + std::to_string(layer) + "/" + each.name);
}

std::vector<TypeShare> shares_of(const nn::TensorFile& file) {
    std::vector<TypeShare> shares;
    for (const nn::TensorEntry& tensor : file.tensors()) {
        auto share = std::find_if(shares.begin(), shares.end(),
                                  [&](const TypeShare& each) { return each.type == tensor.type; });
        if (share == shares.end()) share = shares.insert(shares.end(), {tensor.type});
        ++share->tensors;
        share->elements += tensor.elements();
        share->bytes += tensor.bytes.size();
    }
    std::stable_sort(shares.begin(), shares.end(),
                     [](const TypeShare& a, const TypeShare& b) { return a.bytes > b.bytes; });
    return shares;
}

}  // namespace

Summary summarise(const nn::TensorFile& file) {
    Summary summary;
    summary.file = file.path().string();
    summary.format = file.format() == nn::FileFormat::gguf ? "gguf" : "safetensors";
    summary.file_bytes = file.file_bytes();
    summary.config = nn::read_decoder_config(file);
    require_all(file, summary.config);
    summary.types = shares_of(file);
    const nn::DecoderConfig& config = summary.config;
    summary.kv_cache_bytes_per_token =
        2 * sizeof(float) * static_cast<std::uint64_t>(config.layers) *
        static_cast<std::uint64_t>(config.kv_heads) * static_cast<std::uint64_t>(config.head_width);
    try {
        const nn::Tokenizer tokenizer = nn::Tokenizer::of(file);
        summary.tokenizer = {tokenizer.size(), tokenizer.start_of_text(), tokenizer.end_of_text(),
                             nn::chat_default_system(file).has_value()};
    } catch (const UserError& error) {  // the weights can be looked at all the same
        summary.no_tokenizer = error.what();
    }
    return summary;
}

}  // namespace assay::model
