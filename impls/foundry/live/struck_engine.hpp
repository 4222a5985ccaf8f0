// The faults that strike a worker of Foundry from inside, around an engine that knows nothing of
// them: of its archive and of its GPU. (disk_full is the engine's own: it strikes while it writes.)
#pragma once

#include <memory>

#include "impls/foundry/live/engine.hpp"

namespace assay::foundry {

/// torn: the archive that it saves is cut short and reported as whole. corrupt: a bit of the next
/// archive that it opens is another, for it alone. gpu_error: the fake driver's context is lost
/// before its next use; throws std::logic_error on another driver, which cannot be made to.
std::unique_ptr<Engine> make_struck_engine(std::unique_ptr<Engine> engine,
                                           const EngineSettings& settings, drive::Strike strike);

}  // namespace assay::foundry
