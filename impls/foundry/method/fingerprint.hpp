// What must be equal where a graph was captured and where it is restored (specification, I6).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "suite/base/describe.hpp"

namespace assay::foundry {

/// What is not known is absent.
struct Fingerprint {
    std::optional<std::string> gpu_chip = {};  ///< "NVIDIA H200"
    std::optional<std::int64_t> sm_count = {};
    std::optional<std::string> compute_capability = {};  ///< "9.0"
    std::optional<std::string> driver = {};              ///< "13.0"
    std::optional<std::string> runtime = {};
    std::optional<std::string> cublaslt = {};
    std::optional<std::string> git_revision = {};
    std::optional<std::string> model_config_hash = {};

    bool operator==(const Fingerprint&) const = default;
};
ASSAY_FIELDS(Fingerprint, gpu_chip, sm_count, compute_capability, driver, runtime, cublaslt,
             git_revision, model_config_hash)

/// The names of what differs between an archive and this machine; what the archive does not know
/// cannot differ, what only the machine does not know does.
std::vector<std::string> differences(const Fingerprint& archive, const Fingerprint& here);

}  // namespace assay::foundry
