// Which samples of a plan are still wanted, once variants are to be told apart and no more: rounds
// of a case go on until every variant is decided against the one they are compared with.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "suite/runner/adaptive/contrast.hpp"
#include "suite/runner/runner.hpp"

namespace assay::runner {

/// The variants that rounds of an experiment compare. Throws UserError when there are fewer than
/// two of them or `against` is not among them.
std::string compared_against(const Experiment&, const std::vector<std::string>& variants,
                             const DecisionOptions&);

/// What it decides is a function of the samples alone, their durations included, so that a resumed
/// session goes on as if it had never been interrupted.
class AdaptiveCases {
  public:
    /// The plan must outlive this.
    AdaptiveCases(const Plan& plan, const DecisionOptions& options);

    /// A finished sample, of this call or an earlier one.
    void add(const store::Sample& sample);

    enum class Turn {
        run,
        stop,  ///< not wanted, and the first of its case that is not
        skip,  ///< not wanted, as others of its case before
    };
    /// To be asked in the plan's order. Rounds are run whole: the decision falls between them.
    Turn turn(const SampleSpec& spec);

    /// Of the case that the sample belongs to, as they stand.
    std::vector<Contrast> contrasts(const SampleSpec& spec) const;
    /// Of all cases, in the plan's order.
    std::vector<Contrast> contrasts() const;

  private:
    struct AdaptiveCase {
        const Experiment* experiment = nullptr;
        Case axes;
        std::vector<std::string> variants;  ///< in the plan's order of the first round
        std::string against;
        std::vector<std::string> metrics;
        std::map<std::string, ArmRounds> arms;          ///< by variant
        std::map<int, std::set<std::string>> finished;  ///< round → variants with a finished sample
        std::map<int, double> seconds;                  ///< by round
        int asked_round = -1;                           ///< the last that turn() decided on
        bool stopped = false;

        int complete_rounds() const;
        double seconds_below(int round) const;
    };
    static std::string key(const SampleSpec& spec);
    std::vector<Contrast> contrasts(const AdaptiveCase& of, int rounds) const;
    double seconds_left(std::size_t index, int round) const;

    DecisionOptions options_;
    stopping::Stopping rule_;
    std::vector<AdaptiveCase> cases_;
    std::map<std::string, std::size_t> index_;
};

}  // namespace assay::runner
