#include "impls/lte/named_shapes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "suite/experiment/error.hpp"
#include "suite/experiment/nearest_id.hpp"

namespace assay::lte {
namespace {

nn::DecoderConfig llama(const char* name, int layers, int width, int hidden, int heads,
                        int kv_heads, int vocabulary, int context) {
    nn::DecoderConfig config;
    config.name = name;
    config.layers = layers;
    config.width = width;
    config.hidden = hidden;
    config.heads = heads;
    config.kv_heads = kv_heads;
    config.head_width = width / heads;
    config.vocabulary = vocabulary;
    config.context = context;
    config.tied_embeddings = false;
    return config;
}

nn::DecoderConfig gpt2(const char* name, int layers, int width) {
    nn::DecoderConfig config = llama(name, layers, width, 4 * width, width / 64, width / 64,
                                     /*vocabulary=*/50257, /*context=*/1024);
    config.family = nn::Family::gpt2;
    config.activation = nn::Activation::gelu;
    config.tied_embeddings = true;
    return config;
}

nn::DecoderConfig smollm2() {
    nn::DecoderConfig config = llama("SmolLM2-135M", 30, 576, 1536, 9, 3, 49152, 8192);
    config.tied_embeddings = true;
    return config;
}

const std::map<std::string, nn::DecoderConfig, std::less<>>& shapes() {
    static const std::map<std::string, nn::DecoderConfig, std::less<>> all{
        {"gpt2", gpt2("GPT-2", 12, 768)},
        {"gpt2-medium", gpt2("GPT2-Medium", 24, 1024)},
        {"llama-7b", llama("LLaMA-7B", 32, 4096, 11008, 32, 32, 32000, 2048)},
        {"llama2-7b", llama("LLaMA2-7B", 32, 4096, 11008, 32, 32, 32000, 4096)},
        {"llama2-13b", llama("LLaMA2-13B", 40, 5120, 13824, 40, 40, 32000, 4096)},
        {"smollm2-135m", smollm2()}};
    return all;
}

}  // namespace

nn::DecoderConfig named_shape(std::string_view name) {
    const auto found = shapes().find(name);
    if (found != shapes().end()) return found->second;
    const auto nearest = nearest_id(name, shape_names());
    throw UserError(fmt::format("no shape '{}'; {}there are: {}; or give a file with --model", name,
                                nearest ? fmt::format("did you mean '{}'? ", *nearest) : "",
                                fmt::join(shape_names(), ", ")));
}

std::vector<std::string> shape_names() {
    std::vector<std::string> names;
    for (const auto& [name, config] : shapes()) names.push_back(name);
    return names;
}

}  // namespace assay::lte
