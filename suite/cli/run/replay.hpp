// Whether a repeated sample agrees with the stored one.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "suite/experiment/experiment.hpp"
#include "suite/store/records.hpp"

namespace assay::cli {

struct ComparedMetric {
    std::string key;  ///< name{labels}
    bool deterministic = false;
    std::optional<double> stored, replayed;  ///< absent: this one does not have it
    bool equal() const { return stored == replayed; }
};

struct ReplayComparison {
    std::vector<ComparedMetric> metrics;  ///< in key order
    std::string stored_status, replayed_status, replayed_reason;
    /// The files that the sample read have the content that they had; absent: nobody noted it.
    std::optional<bool> same_data;

    bool same_status() const { return stored_status == replayed_status; }
    long deterministic() const;  ///< how many metrics must be equal
    long disagreeing() const;    ///< deterministic ones that are not
    bool agrees() const { return same_status() && disagreeing() == 0; }
};

/// Deterministic metrics (as declared) must be equal to the last bit; the others are only reported.
ReplayComparison compare_replay(const Experiment& experiment, const store::Sample& stored,
                                const store::Sample& replayed);

/// {"id","agrees","same_data","status":{"stored","replayed"},"reason","metrics":[{"metric",
/// "deterministic","stored","replayed","equal"}]}
nlohmann::json to_json(const ReplayComparison& comparison, const std::string& id);

std::string to_text(const ReplayComparison& comparison);

}  // namespace assay::cli
