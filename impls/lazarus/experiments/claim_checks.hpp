// Checks of claims that need more than one number compared with another: the known discrepancies.
#pragma once

#include <map>
#include <string>

#include "suite/experiment/claim.hpp"

namespace assay::lazarus {

/// By the name after "custom:" in the claims file. Each reads "not run" until its experiment has
/// run (profile toy is enough), then "open discrepancy" with the numbers; if a later policy mends
/// what they describe they read "supported".
///   theorem1       x_theorem1, part all_small and the counterexamples
///   fewer_than_f   x_theorem1, part n5_c6_e13
///   fig8_41        fig8, GPT-L, step 200, four failures
std::map<std::string, CustomCheck, std::less<>> claim_checks();

}  // namespace assay::lazarus
