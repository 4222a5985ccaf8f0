#include "suite/measure/stopping/stopping.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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

}  // namespace

double pair_ratio(double a, double b) { return a == b ? 1 : b / a; }

Stopping::Stopping(const Rules& rules)
    : rules_(rules),
      sequence_(rules.level, rules.largest),
      earliest_(std::max(rules.smallest, sequence_.smallest().value_or(rules.largest))) {}

Answer Stopping::answer(const Question& question) const {
    Answer answer{Standing::undecided, nan, nan, static_cast<int>(question.ratios.size())};
    if (std::any_of(question.ratios.begin(), question.ratios.end(),
                    [](double r) { return !(std::isfinite(r) && r > 0); })) {
        answer.standing = Standing::unspeakable;
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
