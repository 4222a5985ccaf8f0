// What several machines, or several sets of observations, say about one claim, as one verdict.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "suite/experiment/claim.hpp"

namespace assay {

/// What one comparable set of observations says.
struct Finding {
    ClaimCheck check;
    double slack = 0;  ///< how far it is from failing, where the test has a measure for that
};

/// What does not hold before what does, then the one with the least slack; of equals the first.
/// `findings` must not be empty.
const Finding& least_favourable(std::span<const Finding> findings);

struct MachineFinding {
    std::string hardware;  ///< fingerprint; empty: no machine matters
    std::string host;      ///< its name, where known
    Finding finding;
};

/// Of a single machine its own check. Of several the least favourable one, with a reason that names
/// them: all of them where they agree, else on which it holds and on which not. Not empty.
ClaimCheck over_machines(std::vector<MachineFinding> findings);

}  // namespace assay
