#include "impls/dr_post_training/recipes/timed_models.hpp"

#include "impls/model/named_models.hpp"

namespace assay::dr_post_training {

nn::DecoderConfig timed_model(const std::string& name) {
    if (name != "llama-1m" && name != "llama-9m") return model::named_shape(name);
    nn::DecoderConfig config;
    const bool larger = name == "llama-9m";
    config.layers = larger ? 10 : 5;
    config.width = larger ? 256 : 128;
    config.hidden = larger ? 704 : 352;
    config.head_width = 32;
    config.heads = config.kv_heads = config.width / config.head_width;
    config.vocabulary = 256;
    config.context = 4096;
    config.name = name;
    return config;
}

}  // namespace assay::dr_post_training
