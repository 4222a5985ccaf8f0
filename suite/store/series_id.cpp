// What identifies a series in every file that has it.
#include "suite/store/series_id.hpp"

#include <fmt/format.h>

#include "suite/store/row_codec.hpp"
#include "suite/store/sha256.hpp"

namespace assay::store {

std::vector<std::string> series_columns(const SeriesKey& key) {
    return {key.experiment,
            key.variant,
            canonical(key.axes),
            std::string(to_string(key.profile)),
            std::string(to_string(key.provenance)),
            key.scenario,
            key.hardware,
            key.calibration,
            key.data};
}

RowId row_id(const SeriesKey& key, const MetricKey& metric) {
    return {.experiment = key.experiment,
            .variant = key.variant,
            .axes = key.axes,
            .metric = metric.name,
            .labels = metric.labels,
            .profile = key.profile,
            .provenance = key.provenance,
            .scenario = key.scenario};
}

std::string series_id(const std::vector<std::string>& columns) {
    return derived_uuid(json_text(columns));
}

std::string derived_uuid(std::string_view text) {
    auto hex = sha256_hex(text);
    hex[12] = '8';  // RFC 9562: version 8 is ours to define, variant 10xx
    hex[16] = "89ab"[(hex[16] <= '9' ? hex[16] - '0' : hex[16] - 'a' + 10) % 4];
    return fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4),
                       hex.substr(16, 4), hex.substr(20, 12));
}

}  // namespace assay::store
