#include "suite/measure/statistics/stopping.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace assay::stopping {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Standing standing(double low, double high, double margin) {
    const double upper = 1 + margin, lower = 1 / upper;
    if (low > upper) return Standing::above;
    if (high < lower) return Standing::below;
    if (low >= lower && high <= upper) return Standing::same;
    return Standing::undecided;
}

bool is_open(const Answer& answer) { return answer.standing == Standing::undecided; }

/// Which share of all error may have been made after n values.
double spending(int n) { return std::max(0.0, 1 - 4.0 / n); }

}  // namespace

MedianSequence::MedianSequence(double level, int largest) {
    if (!(level > 0 && level < 1) || largest < 1)
        throw std::invalid_argument("a median sequence needs a level within 0 … 1 and a largest n");
    const double alpha = (1 - level) / 2;
    // inside[k]: probability that k of n values lie below the median and the walk has never left.
    std::vector<double> inside{1};
    int most = -1;
    for (int n = 1; n <= largest; ++n) {
        inside.push_back(0);
        for (std::size_t k = inside.size(); k-- > 0;)
            inside[k] = inside[k] / 2 + (k > 0 ? inside[k - 1] / 2 : 0);
        const double allowed = alpha * spending(n);
        // What was left out before stays left out: those states are empty but for newcomers.
        for (std::size_t k = 0; 2 * k + 1 < inside.size(); ++k) {
            if (static_cast<int>(k) > most && spent_ + inside[k] > allowed) break;
            spent_ += inside[k];
            inside[k] = 0;
            most = std::max(most, static_cast<int>(k));
        }
        left_out_.push_back(most);
    }
}

std::optional<int> MedianSequence::left_out(int n) const {
    if (n < 1 || n > static_cast<int>(left_out_.size())) return std::nullopt;
    const int most = left_out_[static_cast<std::size_t>(n - 1)];
    return most < 0 ? std::nullopt : std::optional(most);
}

std::optional<int> MedianSequence::smallest() const {
    for (std::size_t i = 0; i < left_out_.size(); ++i)
        if (left_out_[i] >= 0) return static_cast<int>(i) + 1;
    return std::nullopt;
}

double pair_ratio(double a, double b) { return a == b ? 1 : b / a; }

Stopping::Stopping(const Rules& rules)
    : rules_(rules),
      sequence_(rules.level, rules.largest),
      earliest_(std::max(rules.smallest, sequence_.smallest().value_or(rules.largest))) {}

Answer Stopping::answer(const Question& question) const {
    Answer answer{Standing::undecided, nan, nan, static_cast<int>(question.ratios.size())};
    if (std::any_of(question.ratios.begin(), question.ratios.end(),
                    [](double r) { return !(std::isfinite(r) && r > 0); })) {
        answer.standing = Standing::no_ratio;
        return answer;
    }
    std::vector<double> sorted;
    double low = 0, high = std::numeric_limits<double>::infinity();
    for (const double ratio : question.ratios) {
        sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), ratio), ratio);
        const auto left_out = sequence_.left_out(static_cast<int>(sorted.size()));
        if (!left_out) continue;
        const auto out = static_cast<std::size_t>(*left_out);
        low = std::max(low, sorted[out]);
        high = std::min(high, sorted[sorted.size() - 1 - out]);
        answer.low = low;
        answer.high = high;
        if (static_cast<int>(sorted.size()) < rules_.smallest) continue;
        answer.standing = standing(low, high, question.margin);
        if (is_open(answer)) continue;
        answer.pairs = static_cast<int>(sorted.size());
        return answer;
    }
    return answer;
}

Stopping::Next Stopping::next(std::span<const Answer> answers, int rounds,
                              double seconds_left) const {
    if (rounds >= 1 && !answers.empty() && std::none_of(answers.begin(), answers.end(), is_open))
        return Next::decided;
    const bool any_pair = std::any_of(answers.begin(), answers.end(),
                                      [](const Answer& answer) { return answer.pairs > 0; });
    if (rounds >= rules_.largest || (rounds >= rules_.smallest && !any_pair) || seconds_left <= 0)
        return Next::spent;
    return Next::go_on;
}

}  // namespace assay::stopping
