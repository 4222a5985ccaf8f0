#include <ATen/ATen.h>

#include "impls/nn/decoder.hpp"
#include "impls/nn/decoder_blocks.hpp"

namespace assay::nn {

Decoder Decoder::load(const TensorFile& file, at::Device device) {
    Decoder decoder;
    decoder.config_ = read_decoder_config(file);
    decoder.shared_ = shared_parameters(decoder.config_);
    decoder.per_layer_ = layer_parameters(decoder.config_);
    decoder.blocks_ = decoder_blocks(decoder.config_, {}, device);
    const auto read = [&](int layer, const std::vector<NamedShape>& parameters) {
        const auto prefix = layer < 0 ? "" : "layer" + std::to_string(layer) + "/";
        for (const auto& parameter : parameters) {
            const auto floats = at::empty(parameter.shape, at::TensorOptions().dtype(at::kFloat));
            read_parameter(
                file, decoder.config_, prefix + parameter.name,
                {floats.mutable_data_ptr<float>(), static_cast<std::size_t>(floats.numel())});
            decoder.find(layer, parameter.name)->detach().copy_(floats);
        }
    };
    read(-1, decoder.shared_);
    for (int layer = 0; layer < decoder.config_.layers; ++layer) read(layer, decoder.per_layer_);
    return decoder;
}

}  // namespace assay::nn
