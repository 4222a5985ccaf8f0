// What identifies a row wherever rows are compared, gated, followed through time or reported: what
// was run, how, and which of its numbers. Made once, from a sample or a series of the store; its
// texts are for people, and nothing reads an identity back out of them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

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

}  // namespace assay
