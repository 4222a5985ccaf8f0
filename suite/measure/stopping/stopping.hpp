// Whether more rounds are needed: the decision that adaptive runs ask after every round.
#pragma once

#include <span>
#include <vector>

#include "suite/measure/stopping/median_sequence.hpp"

namespace assay::stopping {

/// Where the ratio B over A stands, as far as its values tell.
enum class Standing {
    undecided,
    same,         ///< within the margin
    above,        ///< more than the margin above 1
    below,        ///< more than the margin below 1
    unspeakable,  ///< some ratio is not a positive number: rounds decide nothing
};

struct Rules {
    double level = 0.95;  ///< probability, per question, that whatever is decided is true
    int smallest = 5;     ///< rounds before anything is decided; an interval may need more
    int largest = 30;     ///< rounds at most
};

/// One metric of two arms, in order of time. Pairs belong together: same round, same seed.
struct Question {
    std::vector<double> ratios;  ///< B over A of each pair
    double margin = 0.01;        ///< relative, above 0; what is smaller does not matter
};

/// b / a; 1 where both are equal, so that two zeros are the same.
double pair_ratio(double a, double b);

struct Answer {
    Standing standing = Standing::undecided;
    double low = 0, high = 0;  ///< intersection of the intervals of all looks; NaN before the first
    int pairs = 0;             ///< with which it was decided; all there are while it is not
};

/// Answers with a MedianSequence: `above` when the interval lies above 1 + margin, `below` when
/// below 1 / (1 + margin), `same` when between the two. The first answer that comes stays. Since
/// the interval holds at all looks at once, each answer is wrong with a probability of at most
/// 1 - level, and a claimed difference with half of that, although one looks after every round. A
/// run in which nothing differs raises a false alarm more rarely still: its median would have to be
/// mistaken by the margin.
class Stopping {
  public:
    /// std::invalid_argument: a level outside (0, 1), fewer than one round.
    explicit Stopping(const Rules& rules);

    Answer answer(const Question& question) const;

    enum class Next { go_on, decided, spent };
    /// After `rounds` complete rounds (some may have given no pair, for a sample failed). decided:
    /// no answer can change any more. spent: rounds or time are used up, or there were `smallest`
    /// rounds without a single pair; what is undecided is ambiguous.
    Next next(std::span<const Answer> answers, int rounds, double seconds_left) const;

    /// Rounds before which nothing is decided.
    int earliest() const { return earliest_; }
    const Rules& rules() const { return rules_; }

  private:
    Rules rules_;
    MedianSequence sequence_;
    int earliest_;
};

}  // namespace assay::stopping
