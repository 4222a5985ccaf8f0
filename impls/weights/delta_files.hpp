// Deltas between safetensors files of one layout, in memory that grows with neither.
#pragma once

#include <cstdint>
#include <filesystem>

#include "impls/weights/weights_file.hpp"

namespace assay::weights {

struct DeltaSize {
    std::uint64_t elements = 0;  ///< of a version
    std::uint64_t changed = 0;
    std::uint64_t bytes = 0;  ///< of the delta

    bool operator==(const DeltaSize&) const = default;
};

// The file that is written appears whole or not at all (AsideFile). Throw UserError when it cannot
// be written, or another one cannot be read.

/// The delta from `before` to `after`. Throws UserError also when names or shapes differ, or one of
/// them is written to meanwhile.
DeltaSize write_delta(const WeightsFile& before, const WeightsFile& after,
                      const std::filesystem::path& delta);

/// `before` with a delta applied: its header as it is, byte for byte. Throws UserError also for a
/// delta that is none, torn, unordered, or reaches beyond the last element.
DeltaSize write_updated(const WeightsFile& before, const std::filesystem::path& delta,
                        const std::filesystem::path& after);

}  // namespace assay::weights
