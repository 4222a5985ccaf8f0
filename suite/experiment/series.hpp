// What identifies a row wherever rows are compared, gated, followed through time or reported: what
// was run, how, and which of its numbers. Made once, from a sample or a series of the store; its
// texts are for people, and nothing reads an identity back out of them.
#pragma once

#include <compare>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "suite/experiment/experiment.hpp"

namespace assay {

struct RowId {
    std::string experiment;  ///< "lte/fig8"; of a file of Google Benchmark: empty
    std::string variant;     ///< there: the benchmark's name
    Case axes;
    std::string metric;  ///< without labels; empty: the series as a whole
    Labels labels;
    std::optional<Profile> profile;        ///< nullopt: whoever measured it does not say
    std::optional<Provenance> provenance;  ///< the same
    std::string scenario;
    auto operator<=>(const RowId&) const = default;

    RowId series() const;           ///< without metric and labels
    RowId without_context() const;  ///< without profile, provenance and scenario

    std::string series_text() const;  ///< "lte/fig8 lte sparsity=0.5"; a benchmark's name as it is
    std::string metric_text() const;  ///< "layer_sparsity layer=3"
    std::string text() const;         ///< both, with a blank between them
};

/// The series of a sample.
RowId series_of(const SampleSpec&);

/// "layer_sparsity layer=3"
std::string metric_text(std::string_view metric, const Labels& labels);

/// {"experiment","variant","axes","profile","provenance","scenario","metric","labels"}; what nobody
/// said is null.
nlohmann::json to_json(const RowId&);

// Where a number comes from besides what was asked for, and which numbers may be set against each
// other.

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
