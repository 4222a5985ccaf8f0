// Schedules of faults have rules; these are for who breaks them.
#pragma once

#include "suite/drive/campaign/campaign.hpp"

namespace assay::decode {

using drive::BrokenRule;

/// What the driver of a schedule does wrong, for tests that rules can be broken.
enum class Misdeed {
    none,
    hears_the_lost,       ///< takes tokens from an engine that it gave up
    forgets_a_token,      ///< an engine that goes on with a request lacks its last token
    keeps_the_cache,      ///< when weights change that give other tokens
    believes_corruption,  ///< goes on with a state whose checksum was made to fit again
    trusts_any_cache      ///< engines take keys and values of whatever weights
};

}  // namespace assay::decode
