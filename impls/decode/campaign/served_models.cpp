#include "impls/decode/campaign/served_models.hpp"

#include "impls/decode/cpu/back_end.hpp"
#include "impls/decode/modelled/modelled_back_end.hpp"

namespace assay::decode {

ServedModel served_hashes(int vocabulary, int context) {
    return {.name = "hashes",
            .vocabulary = vocabulary,
            .context = context,
            .make = [vocabulary, context](const EngineSettings& settings,
                                          const std::string& weights) -> std::unique_ptr<BackEnd> {
                return std::make_unique<ModelledBackEnd>(
                    ModelledSettings{.vocabulary = vocabulary,
                                     .context = context,
                                     .blocks = settings.blocks,
                                     .weights = std::stoull(weights),
                                     .cost = {},
                                     .checks = true});
            }};
}

ServedModel served_decoder() {
    nn::DecoderConfig config;
    config.layers = 2;
    config.width = 64;
    config.hidden = 96;
    config.heads = 4;
    config.kv_heads = 2;
    config.head_width = 16;
    config.vocabulary = 200;
    config.context = 160;
    return {.name = "decoder",
            .vocabulary = config.vocabulary,
            .context = config.context,
            .make = [config](const EngineSettings& settings,
                             const std::string& weights) -> std::unique_ptr<BackEnd> {
                auto model = std::make_shared<CpuModel>();
                model->config = config;
                model->weights = random_weights(config, ASSAY_F32, {}, std::stoull(weights));
                return std::make_unique<CpuBackEnd>(
                    std::move(model),
                    PassOptions{.blocks = settings.blocks, .threads = settings.threads});
            }};
}

}  // namespace assay::decode
