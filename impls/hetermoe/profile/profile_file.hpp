// Profiles as TOML files: what `assay plan hetermoe --profile` takes.
#pragma once

#include <string>
#include <string_view>

#include "impls/hetermoe/policy/profile.hpp"
#include "suite/base/error.hpp"

namespace assay::hetermoe {

/// Its text begins with "file:line:column: ".
class ProfileFileError : public UserError {
    using UserError::UserError;
};

/// Layers, experts and GPUs of a kind are 1 to so many, and micro-batches.
constexpr int most_of_a_count = 4096;
/// No time is longer; each is rounded to whole nanoseconds.
constexpr double longest_s = 1e6;

/// The keys:
///   layers, experts; micro_batches = [2, 4], the values of R to try, each once
///   [new] gpus, attention_s, expert_s, head_s (0), capacity (none)
///   [old] the same, but attention_s may be left out
///   [exchange] seconds, ep_exposed (1)
///   [sync] dense_s (0), expert_s (0); may be left out
/// Refuses whatever else is there. Throws ProfileFileError.
TrainingProfile read_profile(std::string_view toml, std::string_view file_name);

/// A file that reads as `profile`. Numbers are printed to the nanosecond.
std::string to_toml(const TrainingProfile& profile);

}  // namespace assay::hetermoe
