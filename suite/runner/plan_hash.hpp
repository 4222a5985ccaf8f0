// A hash of everything that defines the samples of a plan: an unfinished session is resumed only by
// a plan of equal hash.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "suite/runner/runner.hpp"

namespace assay::runner {

/// 32 hexadecimal digits. Guards against mistakes, not against an adversary.
std::string text_hash(std::string_view text);

/// text_hash() over the specs and their calibrations in order. Left out: its
/// folders, and the timeout, which decides whether a sample ends but not what it measures: a run
/// may be resumed with a longer one.
std::string plan_hash(const std::vector<PlannedSample>& samples);

/// What makes two specs the same sample of a session: the part of it that plan_hash() hashes.
std::string identity(const SampleSpec& spec);

}  // namespace assay::runner
