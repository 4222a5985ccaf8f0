// A trained model as a file that decoders read.
#include <nlohmann/json.hpp>
#include <string>

#include "impls/lte/recipes/sparse_model.hpp"
#include "impls/nn/decoder_file.hpp"
#include "impls/nn/files/tensor_file.hpp"

namespace assay::lte {
namespace {

/// That of the weights which training began with; of models trained here, which are over bytes.
nlohmann::json tokenizer_of(const Sizes& sizes) {
    if (sizes.weights.empty()) return nn::byte_tokenizer_metadata();
    const nn::TensorFile file(fetched(sizes.weights));
    nlohmann::json tokenizer = nlohmann::json::object();
    if (file.format() == nn::FileFormat::gguf)
        for (const auto& [key, value] : file.metadata().items())
            if (key.starts_with("tokenizer.")) tokenizer[key] = value;
    return tokenizer;
}

}  // namespace

void write_model(const Workbench& bench, const std::optional<nn::FfnSparsity>& stored,
                 nn::TensorType matrices, const std::filesystem::path& path) {
    nn::DecoderFile file = nn::file_of(bench.decoder(), matrices);
    file.metadata.update(tokenizer_of(bench.sizes()));
    if (stored)
        nn::put_ffn_sparsity(*stored, bench.decoder().config(), file.metadata, file.tensors);
    nn::write_gguf(path, file.metadata, file.tensors);
}

}  // namespace assay::lte
