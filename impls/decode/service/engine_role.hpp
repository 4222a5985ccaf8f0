// An engine as a role of a driver: it makes steps by itself while there are requests, and says what
// they brought.
#pragma once

#include <string>

#include "impls/decode/service/engine_host.hpp"
#include "suite/drive/driver.hpp"

namespace assay::decode {

/// Its workers are configured with EngineSettings. `make` is called where the worker is: in its
/// process. Of faults inside it takes nan (a request of the next step), corrupt with
/// target=tensor (a bit of the next state that is exported) and wipe. It ends in order when it is
/// told to leave, or is dismissed: then once its requests have ended.
drive::Role engine_role(MakeBackEnd make, std::string name = "engine");

/// Weights are a model file's path.
MakeBackEnd back_ends_of_files();

}  // namespace assay::decode
