#include "impls/decode/weights/weights_origin.hpp"

#include <nlohmann/json.hpp>

#include "impls/decode/cpu/forward_pass.hpp"
#include "suite/base/json_text.hpp"

namespace assay::decode {
namespace {

struct Load {
    const ModelOptions& options;

    std::shared_ptr<ModelWeights> operator()(const std::string& path) const {
        return load_model(nn::TensorFile(path), options);
    }
    std::shared_ptr<ModelWeights> operator()(const HeldFile& file) const {
        nlohmann::json companions = nlohmann::json::object();
        if (!file.config.empty()) companions["config"] = parse_json(file.config);
        return load_model(nn::TensorFile::in_memory(file.bytes, "weights in memory", companions),
                          options);
    }
    std::shared_ptr<ModelWeights> operator()(const HeldWeights& held) const {
        return load_model(*held.source, held.config);
    }
};

}  // namespace

std::shared_ptr<ModelWeights> load_weights(const WeightsOrigin& origin,
                                           const ModelOptions& options) {
    return std::visit(Load{options}, origin);
}

}  // namespace assay::decode
