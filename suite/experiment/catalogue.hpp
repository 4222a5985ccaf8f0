// What one program tells another of its systems, as JSON: `assay describe` prints it, the window,
// which links no system, reads it. Functions do not travel.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "suite/experiment/system.hpp"

namespace assay {

/// One experiment, with its figure, the ids of its claims and its system's phases of faults.
nlohmann::json experiment_json(const Registry& registry, const Experiment& experiment);

/// All systems, those on request too: {"systems": [{"id", "title", "paper", "on_request",
/// "event_kinds": [{"name", "label", "colour", "lane"}], "experiments": [as above]}]}
nlohmann::json catalogue_json(const Registry& registry);

/// The systems of a catalogue: what is told of what they declare, and nothing that runs. Their
/// claims are read from datasets/claims, where systems themselves have them from; a claim's own
/// check is left to whoever has it. Throws UserError where it is none, ClaimFileError.
Registry read_catalogue(const nlohmann::json& catalogue);

}  // namespace assay
