// What a claim's value and tolerance read like.
#pragma once

#include <string>

#include "suite/claim/claim.hpp"

namespace assay {

/// How far from the claim's value still holds: "± 10 %"; "− 10 %" and "+ 10 %" of at_least and
/// at_most; "(NAME, 5 %)" of a check in a system's code. Empty: nothing but rounding.
std::string tolerance_text(const Claim& claim);
/// "2.3 ± 10 %"; empty where the claim has neither value nor tolerance.
std::string value_text(const Claim& claim);
/// What holds: "2.3 ± 10 %", "at least 2.3", "at most 2.3", "more than 2.3", "more"; of other tests
/// as value_text().
std::string wanted_text(const Claim& claim);

}  // namespace assay
