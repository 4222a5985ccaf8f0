// An engine on a driver: the toy decode step, captured and saved, or restored and launched. What a
// server of language models would be, in small; every way to restore its graphs is here once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "impls/foundry/live/built_graph.hpp"
#include "impls/foundry/live/device.hpp"
#include "impls/foundry/live/images.hpp"
#include "impls/foundry/live/ranks/communicator.hpp"
#include "impls/foundry/live/region_memory.hpp"
#include "impls/foundry/method/archive/archive.hpp"
#include "impls/foundry/method/loader/server.hpp"
#include "impls/foundry/toy/decode_step.hpp"

namespace assay::foundry {

/// What is looked at before graphs out of an archive serve (specification 3.12).
struct Checks {
    bool fingerprint = true;  ///< the archive is of this GPU and driver
    bool audit = true;        ///< each address in parameters points into live memory
    bool cursor = true;       ///< memory was allocated as when it was saved
    bool read_back = true;    ///< a built graph, read again, is the one that was saved
    bool golden = true;       ///< an executable's first replay gives the saved result
};
ASSAY_FIELDS(Checks, fingerprint, audit, cursor, read_back, golden)

struct EngineSettings {
    std::string driver = "libcuda.so.1";
    toy::DecodeSettings step;
    std::vector<int> batches;  ///< with a graph, in the order in which they are captured
    int decode_steps = 4;      ///< tokens of a sequence in a request
    RegionSettings region;
    std::uint64_t before_bytes = 0;  ///< allocated in the scratch, as start-up does
    std::uint64_t after_bytes = 0;   ///< allocated behind the boundary, as it must not
    double launch_us = 0;            ///< host work for each kernel launched
    Checks checks;
    /// Of the fake driver, which is configured so before it is used (driver/fake/settings.hpp);
    /// empty: as it is.
    std::string device = {};
    RankPlace place = {};  ///< heaps of several ranks lie behind the region
};
ASSAY_FIELDS(RegionSettings, base, size, scratch)
ASSAY_FIELDS(EngineSettings, driver, step, batches, decode_steps, region, before_bytes, after_bytes,
             launch_us, checks, device, place)

/// The tokens of a request, as a hash: `batch` sequences that begin with tokens drawn by the
/// request's number. What an engine must give, by the reference and without a device.
std::uint64_t reference_result(const EngineSettings& settings, int request, int batch);

/// Of a worker's process. Throws NotSupportedHere without a driver, DriverError.
std::unique_ptr<Engine> make_live_engine(const EngineSettings& settings, drive::Strike strike = {});

}  // namespace assay::foundry
