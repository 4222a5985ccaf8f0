#include "suite/measure/stopping/median_sequence.hpp"

#include <algorithm>
#include <stdexcept>

namespace assay::stopping {
namespace {

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

}  // namespace assay::stopping
