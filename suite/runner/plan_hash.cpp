#include "suite/runner/plan_hash.hpp"

#include <fmt/format.h>

#include "suite/store/sha256.hpp"

namespace assay::runner {

std::string identity(const SampleSpec& spec) {
    SampleSpec defining = spec;
    defining.scratch.clear();
    defining.state.clear();
    defining.shared.clear();
    defining.timeout_s = 0;
    return to_json(defining).dump();
}

std::string plan_hash(const std::vector<PlannedSample>& samples) {
    Sha256 hash;
    for (const PlannedSample& sample : samples)
        hash.update(
            fmt::format("{} {} {}\n", identity(sample.spec), sample.calibration, sample.data));
    return hash.hex();
}

}  // namespace assay::runner
