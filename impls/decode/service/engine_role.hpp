// An engine as a role of a driver: it makes steps by itself while there are requests, and says what
// they brought.
#pragma once

#include <string>

#include "impls/decode/service/engine_host.hpp"
#include "suite/drive/driver.hpp"

namespace assay::decode {

/// Its workers are configured with EngineSettings. `model` is used where the worker is: in its
/// process. Of faults inside it takes nan (a request of the next step), corrupt with
/// target=tensor (a bit of the next state that is exported) and wipe. It ends in order when it is
/// told to leave, or is dismissed: then once its requests have ended.
drive::Role engine_role(EngineModel model, std::string name = "engine");

/// On this machine's processor; EngineSettings::weights is a model file's path, whose tokenizer,
/// if it has one, gives tokens' bytes.
EngineModel models_of_files();
/// Of no model: weights are a number, texts numbers_as_texts; blocks are the engine's.
EngineModel modelled_models(const ModelledSettings& settings);
/// Throws UserError where these weights are no number.
std::uint64_t number_of(const WeightsOrigin& origin);
/// A token's text: its id's digits and a space.
TextOf numbers_as_texts(const EngineSettings&);

}  // namespace assay::decode
