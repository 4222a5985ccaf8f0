// A hash of everything that defines the samples of a plan: an unfinished session is resumed only by
// a plan of equal hash.
#pragma once

#include <string>
#include <vector>

#include "suite/runner/runner.hpp"

namespace assay::runner {

/// SHA-256 over the specs, their calibrations and the content of their input files, in order. Left
/// out: a spec's folders, and the timeout, which decides whether a sample ends but not what it
/// measures: a run may be resumed with a longer one.
std::string plan_hash(const std::vector<PlannedSample>& samples);

/// What makes two specs the same sample of a session: the part of it that plan_hash() hashes.
std::string identity(const SampleSpec& spec);

}  // namespace assay::runner
