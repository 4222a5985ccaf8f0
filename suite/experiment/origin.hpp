// Where a number comes from besides what was asked for, and which numbers may be set against each
// other.
#pragma once

#include <compare>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct Origin {
    std::string hardware;     ///< machine fingerprint; empty: no machine matters (exact, simulated)
    std::string calibration;  ///< hash; empty: none
    std::string data;         ///< hash of the input data; empty: none
    std::string session;      ///< that made it; empty: unknown
    auto operator<=>(const Origin&) const = default;
};

/// Sorts indexes of `origins` into sets within which numbers may be set against each other: as the
/// sides of a ratio, the steps of a walk, the values behind a median, the points of a line. They
/// were made on one machine, and either with equal calibration and data or all in one session. A
/// session's calibration and data may differ from case to case, as its axes say (two clusters, two
/// corpora); between sessions the same difference may be a file that was edited. The sets are in
/// the order of machine, calibration and data.
std::vector<std::vector<std::size_t>> comparable_sets(std::span<const Origin* const> origins);

/// As much of a fingerprint or a hash as people are shown.
std::string_view short_hash(std::string_view hash);

}  // namespace assay
