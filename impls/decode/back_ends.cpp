#include "impls/decode/back_ends.hpp"

#include <stdexcept>
#include <utility>

#include "impls/decode/cpu/back_end.hpp"

namespace assay::decode {

std::unique_ptr<BackEnd> cpu_back_end(std::shared_ptr<ModelWeights> weights,
                                      const BackEndOptions& options) {
    auto model = std::dynamic_pointer_cast<CpuModel>(std::move(weights));
    if (!model) throw std::invalid_argument("these are no weights for the processor");
    const bool exact = options.activations == ActivationType::exact;
    return std::make_unique<CpuBackEnd>(
        std::move(model), PassOptions{.blocks = options.blocks,
                                      .threads = options.threads,
                                      .kv = options.kv.value_or(exact ? KvType::f32 : KvType::bf16),
                                      .activations = options.activations});
}

BackEnds back_ends_of(std::shared_ptr<const nn::TensorFile> file, const BackEndOptions& options) {
    return {.load = [file = std::move(file),
                     model = options.model] { return load_model(*file, model); },
            .with =
                [options](std::shared_ptr<ModelWeights> weights) {
                    return cpu_back_end(std::move(weights), options);
                }};
}

BackEnds back_ends_of(const nn::TensorFile& file, const BackEndOptions& options) {
    return back_ends_of(std::shared_ptr<const nn::TensorFile>(std::shared_ptr<void>(), &file),
                        options);
}

BackEnds modelled_back_ends(const ModelledSettings& settings) {
    return {
        .load = [number = settings.weights] { return std::make_shared<ModelledWeights>(number); },
        .with =
            [settings](std::shared_ptr<ModelWeights> weights) {
                auto back_end = std::make_unique<ModelledBackEnd>(settings);
                back_end->use(std::move(weights));
                return back_end;
            }};
}

}  // namespace assay::decode
