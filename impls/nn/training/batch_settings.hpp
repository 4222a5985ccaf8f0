// What decides the batches of a training on text, as a checkpoint keeps it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "impls/nn/training/language_model.hpp"

namespace assay::nn {

/// {"sequences", "seed", "compute", "text": digest of the data in hexadecimal}.
nlohmann::json batch_settings(const TokenData&, const LanguageModelTraining&);

/// Throws UserError, saying what differs and what to do, unless a checkpoint of the training `name`
/// that keeps `kept` goes on with `wanted`.
void require_same_batches(const std::string& name, const nlohmann::json& kept,
                          const nlohmann::json& wanted);

}  // namespace assay::nn
