// Rounds of a case until two such runs could be told apart.
#pragma once

#include "suite/runner/adaptive/case_rounds.hpp"
#include "suite/runner/adaptive/precision.hpp"

namespace assay::runner {

/// A case has its profile's rounds, and more until the figure's metric of each variant is precise
/// or the time is over.
class PreciseCases : public CaseRounds {
  public:
    PreciseCases(const Plan& plan, const PrecisionOptions& options);

  private:
    bool enough(const CaseSoFar&, int rounds, double seconds_left) const override;

    PrecisionOptions options_;
};

}  // namespace assay::runner
