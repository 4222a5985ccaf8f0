// The numbers of one session and what tells its series apart, without specs, events and blobs: what
// comparing sessions needs. Read through indexes only: the cost grows with the session, not with
// the database.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "suite/store/records.hpp"

namespace assay::store {

/// One sample as far as comparing goes.
struct MeasuredSample {
    std::string id;
    std::size_t series = 0;  ///< index into SessionMetrics::series
    std::uint64_t seed = 0;
    int round = 0;
    std::string status;
    std::string started;               ///< ISO 8601, UTC
    std::vector<MetricValue> metrics;  ///< in no promised order; whatever the status
};

struct SessionMetrics {
    std::vector<std::string> ids;         ///< of the series
    std::vector<SeriesKey> series;        ///< in the order in which they first started
    std::vector<MeasuredSample> samples;  ///< in the order they started
};

}  // namespace assay::store
