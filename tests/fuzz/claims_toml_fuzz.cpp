// Claim files: a ClaimFileError or claims that can be checked against a few observations.
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "suite/claim/claim.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        for (const assay::Claim& claim : assay::read_claims(text, "claims.toml")) {
            std::vector<assay::Observation> observations(3);
            for (std::size_t i = 0; i < observations.size(); ++i) {
                assay::Observation& observation = observations[i];
                observation.experiment = claim.experiment;
                observation.metric = claim.metric;
                observation.variant = claim.of.variant;
                observation.axes = claim.of.where;
                observation.value = static_cast<double>(i);
                observation.seed = i;
                for (const auto& [name, ends] : claim.assumes) observation.axes[name] = ends[i % 2];
                if (claim.over && i == 2) {
                    observation.variant = claim.over->variant;
                    observation.axes.insert(claim.over->where.begin(), claim.over->where.end());
                }
            }
            if (assay::check(claim, observations, {}).reason.empty()) std::abort();
        }
    } catch (const assay::ClaimFileError&) {
    }
    return 0;
}
