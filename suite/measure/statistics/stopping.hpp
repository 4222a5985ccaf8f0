// Whether more rounds are needed: the decision that adaptive runs ask after every round, and the
// intervals that may be looked at so often.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace assay::stopping {

/// A confidence sequence: with probability `level` the median of the distribution lies within the
/// interval of every number of values at once, however often one looks and whenever one stops. An
/// ordinary 95 % interval looked at after each of 30 values misses at one look or another in some
/// 14 % of all cases (tests/statistics/stopping_test.cpp measures it).
///
/// How. The interval of n values reaches from the m-th lowest of them to the m-th highest (order
/// statistics, as in statistics::median_interval). It lies beside the median when fewer
/// than m values are on one side of it, and how many are on one side is a fair random walk,
/// whatever the distribution, if only it is continuous and the values are independent. So the
/// probability to leave the boundary m(1), m(2), … for the first time at n is known exactly, by
/// recursion over n, and m(n) is the largest for which all of them up to n sum to at most
/// (1 - level) / 2 * (1 - 4 / n) on either side: Lan and DeMets' alpha spending (Biometrika 70,
/// 1983) on the sign test. The share 1 - 4 / n does not depend on how many values there will be at
/// most, so that what was decided stays decided when a run is prolonged, and was chosen among four
/// for being early: at 95 %, seven values on one side of the margin decide. What that costs: 20
/// values leave out 3 at either end, where a single look would leave out 5.
class MedianSequence {
  public:
    /// `level` within (0, 1), `largest` >= 1: the most values that will be asked for.
    /// std::invalid_argument otherwise.
    MedianSequence(double level, int largest);

    /// How many values the interval of n leaves out at either end; nullopt: no interval yet.
    std::optional<int> left_out(int n) const;
    /// Fewest values with an interval; nullopt: not among `largest`.
    std::optional<int> smallest() const;
    /// Exact probability, at most, that any of the intervals up to `largest` misses the median.
    double error() const { return 2 * spent_; }

  private:
    std::vector<int> left_out_;  ///< of n = 1 …; -1: none
    double spent_ = 0;           ///< on either side
};

/// Where the ratio B over A stands, as far as its values tell.
enum class Standing {
    undecided,
    same,      ///< within the margin
    above,     ///< more than the margin above 1
    below,     ///< more than the margin below 1
    no_ratio,  ///< some ratio is not a positive number: rounds decide nothing
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
