#include "impls/decode/back_ends.hpp"

#include "impls/decode/sequential/sequential_back_end.hpp"

namespace assay::decode {

std::function<std::unique_ptr<BackEnd>()> back_ends_of(const nn::TensorFile& file,
                                                       const BackEndOptions& options) {
    return [&file, options]() -> std::unique_ptr<BackEnd> {
        EngineOptions engine;
        engine.threads = options.threads;
        engine.context = nn::read_decoder_config(file).context;
        return std::make_unique<SequentialBackEnd>(file, engine, options.blocks);
    };
}

}  // namespace assay::decode
