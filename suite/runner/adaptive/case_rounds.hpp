// Which samples of a plan are still wanted, where the rounds of a case end as soon as they are
// enough.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "suite/runner/adaptive/contrast.hpp"
#include "suite/runner/runner.hpp"

namespace assay::runner {

/// What it decides is a function of the samples alone, their durations included, so that a resumed
/// session goes on as if it had never been interrupted. What is enough its heirs say.
class CaseRounds {
  public:
    virtual ~CaseRounds() = default;

    /// A finished sample, of this call or an earlier one.
    void add(const store::Sample& sample);

    enum class Turn {
        run,
        stop,  ///< not wanted, and the first of its case that is not
        skip,  ///< not wanted, as others of its case before
    };
    /// To be asked in the plan's order. Rounds are run whole: the decision falls between them.
    Turn turn(const SampleSpec& spec);

    /// What the case of the sample came to, of its variants against each other.
    virtual std::vector<Contrast> contrasts(const SampleSpec&) const { return {}; }
    /// Of all cases, in the plan's order.
    virtual std::vector<Contrast> contrasts() const { return {}; }

  protected:
    struct CaseSoFar {
        const Experiment* experiment = nullptr;
        Case axes;
        Profile profile{};
        std::vector<std::string> variants;              ///< in the plan's order of the first round
        std::vector<std::string> metrics;               ///< whose values count
        int planned = 0;                                ///< rounds
        std::map<std::string, ArmRounds> arms;          ///< by variant
        std::map<int, std::set<std::string>> finished;  ///< round → variants with a finished sample
        std::map<int, double> seconds;                  ///< by round
        int asked_round = -1;                           ///< the last that turn() decided on
        bool stopped = false;

        int complete_rounds() const;
        double seconds_below(int round) const;
        /// Of a variant; nothing where none was finished.
        const ArmRounds& arm(const std::string& variant) const;
    };
    /// Seconds of samples, all cases together; what one leaves over is shared by those after it.
    using MetricsOf = std::function<std::vector<std::string>(const Experiment&)>;
    CaseRounds(const Plan& plan, double budget_s, const MetricsOf& metrics_of);

    const std::vector<CaseSoFar>& cases() const { return cases_; }
    const CaseSoFar& of(const SampleSpec&) const;

  private:
    virtual bool enough(const CaseSoFar&, int rounds, double seconds_left) const = 0;
    double seconds_left(std::size_t index, int round) const;

    double budget_s_;
    std::vector<CaseSoFar> cases_;
    std::map<std::string, std::size_t> index_;
};

}  // namespace assay::runner
