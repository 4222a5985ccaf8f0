#include "impls/decode/back_ends.hpp"

#include "impls/decode/cpu/back_end.hpp"

namespace assay::decode {

std::function<std::unique_ptr<BackEnd>()> back_ends_of(const nn::TensorFile& file,
                                                       const BackEndOptions& options) {
    const bool exact = options.activations == ActivationType::exact;
    const KvType kv = options.kv.value_or(exact ? KvType::f32 : KvType::bf16);
    return [&file, options, kv]() -> std::unique_ptr<BackEnd> {
        return std::make_unique<CpuBackEnd>(load_model(file, options.model),
                                            PassOptions{.blocks = options.blocks,
                                                        .threads = options.threads,
                                                        .kv = kv,
                                                        .activations = options.activations});
    };
}

}  // namespace assay::decode
