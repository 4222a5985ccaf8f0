// An engine without a device, in virtual time: it knows which graph each of its executables is, so
// that one launched wrongly gives another result.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "impls/foundry/method/loader/server.hpp"
#include "impls/foundry/method/ready_time.hpp"

namespace assay::foundry {

/// What all workers of a run see.
struct ModelledDisk {
    struct Archive {
        std::string chip;      ///< it was saved on
        bool damaged = false;  ///< bytes are not those that were written
        bool stale = false;    ///< whole, but its parameters are not those of a capture here
    };
    std::map<std::string, Archive> archives;
};

/// Mistakes made on purpose, so that a campaign is seen to find them.
enum class Misdeed {
    none,
    takes_damaged,   ///< archives are opened without their checks
    trusts_replays,  ///< no first replay is held against the saved result
    never_updates,   ///< an update is said to be done, and is not
};
ASSAY_NAMES(Misdeed, none, takes_damaged, trusts_replays, never_updates)

struct ModelledSettings {
    std::uint64_t seed = 1;
    std::vector<std::size_t> group_of;
    std::vector<std::string> chips;  ///< of workers, in turn
    Costs costs;
    double step_s = 0.01;
    double make_fails = 0, update_hangs = 0;  ///< probabilities
    Misdeed misdeed{};
};

/// What decoding a request with its graph must give.
std::uint64_t right_result(int request, std::size_t graph);

/// `disk` outlives the engines.
MakeEngine modelled_engines(const ModelledSettings& settings, ModelledDisk& disk);

}  // namespace assay::foundry
