// Engines in processes of their own, for who drives nothing else.
#pragma once

#include <utility>

#include "impls/decode/service/engine_role.hpp"
#include "impls/decode/service/engines.hpp"
#include "suite/drive/processes/process_driver.hpp"

namespace assay::decode {

/// Forks: to be made in a process with one thread. Where steps are to end when a modelled device
/// would end them (EngineSettings::pace), `options.pace` is steady.
struct ProcessEngines {
    explicit ProcessEngines(drive::Role role, drive::ProcessOptions options = {})
        : driver({std::move(role)}, std::move(options), recorder), engines(driver) {}

    MemoryRecorder recorder;
    drive::ProcessDriver driver;
    Engines engines;
};

}  // namespace assay::decode
