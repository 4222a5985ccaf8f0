// Rounds of a case until every variant is told apart from the one it is compared with.
#pragma once

#include <string>
#include <vector>

#include "suite/runner/adaptive/case_rounds.hpp"

namespace assay::runner {

/// The variants that rounds of an experiment compare. Throws UserError when there are fewer than
/// two of them or `against` is not among them.
std::string compared_against(const Experiment&, const std::vector<std::string>& variants,
                             const DecisionOptions&);

class AdaptiveCases : public CaseRounds {
  public:
    AdaptiveCases(const Plan& plan, const DecisionOptions& options);

    std::vector<Contrast> contrasts(const SampleSpec& spec) const override;
    std::vector<Contrast> contrasts() const override;

  private:
    bool enough(const CaseSoFar&, int rounds, double seconds_left) const override;
    std::vector<Contrast> contrasts(const CaseSoFar& of, int rounds) const;

    DecisionOptions options_;
    stopping::Stopping rule_;
};

}  // namespace assay::runner
