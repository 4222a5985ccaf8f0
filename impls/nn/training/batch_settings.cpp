#include "impls/nn/training/batch_settings.hpp"

#include <fmt/format.h>

#include "suite/experiment/error.hpp"

namespace assay::nn {

nlohmann::json batch_settings(const TokenData& data, const LanguageModelTraining& training) {
    return {{"sequences", training.sequences},
            {"seed", training.seed},
            {"compute", c10::toString(training.compute)},
            {"text", fmt::format("{:016x}", data.digest())}};
}

void require_same_batches(const std::string& name, const nlohmann::json& kept,
                          const nlohmann::json& wanted) {
    if (kept == wanted) return;
    auto same_text = kept;
    if (same_text.is_object()) same_text["text"] = wanted.at("text");
    if (same_text == wanted) {
        throw UserError(fmt::format(
            "the checkpoint of training \"{}\" was made with another text, or with other windows "
            "of it; remove it to start anew, or give the text it was made with",
            name));
    }
    throw UserError(
        fmt::format("the checkpoint of training \"{}\" was made with batches {}, not {}; remove it "
                    "to start anew, or give the settings it was made with",
                    name, kept.dump(), wanted.dump()));
}

}  // namespace assay::nn
