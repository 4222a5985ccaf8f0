#include "impls/decode/campaign/served_models.hpp"

#include "impls/decode/cpu/forward_pass.hpp"

namespace assay::decode {

ServedModel served_hashes(int vocabulary, int context) {
    return {.name = "hashes",
            .vocabulary = vocabulary,
            .context = context,
            .model = modelled_models(
                {.vocabulary = vocabulary, .context = context, .cost = {}, .checks = true})};
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
    EngineModel model = models_of_files();
    model.load = [config](const EngineSettings&, const WeightsOrigin& origin) {
        auto decoder = std::make_shared<CpuModel>();
        decoder->config = config;
        decoder->weights = random_weights(config, ASSAY_F32, number_of(origin));
        return decoder;
    };
    model.texts = numbers_as_texts;
    return {.name = "decoder",
            .vocabulary = config.vocabulary,
            .context = config.context,
            .model = std::move(model)};
}

}  // namespace assay::decode
