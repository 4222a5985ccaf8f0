// What a session knows of the machine it ran on, beside sessions before it. Plain values; no Qt.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "suite/store/device_readings.hpp"
#include "suite/store/store.hpp"

namespace assay::gui {

/// One thing that could explain a difference: processor, governor, commit, library …
struct MachineFact {
    std::string name;
    std::string value;                             ///< empty: not known, or there is none
    std::optional<std::string> before, elsewhere;  ///< nullopt: there is no such session
    bool differs_before() const { return before && *before != value; }
    bool differs_elsewhere() const { return elsewhere && *elsewhere != value; }
};

struct MachineContent {
    std::optional<store::Session> session;    ///< nullopt: nothing is stored yet
    std::optional<store::Session> before;     ///< the one before it on the same machine
    std::optional<store::Session> elsewhere;  ///< on another machine: the newest before it, else
                                              ///< the newest
    std::vector<MachineFact> facts;           ///< those that differ first
    std::vector<store::DeviceReadings> hardware;  ///< of all its samples
};

/// `session` as `assay compare` takes it; empty: the newest. Throws UserError.
MachineContent read_machine(const store::Store& store, const std::string& session);

}  // namespace assay::gui
