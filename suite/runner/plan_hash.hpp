// A hash of everything that defines the samples of a plan: an unfinished session is resumed only by
// a plan of equal hash.
#pragma once

#include <string>
#include <vector>

#include "suite/runner/runner.hpp"

namespace assay::runner {

/// 32 hexadecimal digits over the specs and their calibrations in order. Left out: the scratch
/// folder, and the timeout, which decides whether a sample ends but not what it measures: a run may
/// be resumed with a longer one.
std::string plan_hash(const std::vector<PlannedSample>& samples);

/// What makes two specs the same sample of a session: the part of it that plan_hash() hashes.
std::string identity(const SampleSpec& spec);

}  // namespace assay::runner
