#include "impls/dr_post_training/plans/input_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "impls/dr_post_training/policy/cholesky.hpp"
#include "impls/nn/files/untrusted_file.hpp"

namespace assay::dr_post_training {
namespace {

using nlohmann::json;
using nn::malformed;
using nn::shown;

constexpr double tolerance = 1e-6;         // of the largest entry
constexpr double most_bytes = 8e9;         // of all inner products
constexpr double largest_product = 1e150;  // squares of sums of it are numbers
constexpr double most_tokens = 1e15;       // of a row; at least its inverse, so that shares are > 0

bool is_positive_semidefinite(const Matrix& matrix) {
    const double largest = matrix.largest();
    return largest == 0 || cholesky(matrix, tolerance * largest).has_value();
}

/// Rows taken by falling rest of their diagonal until only rounding is left; then what a column of
/// scores has beyond those rows must be nothing, too.
class RowSpace {
  public:
    explicit RowSpace(const Matrix& gram) : gram_(gram), factor_(gram.rows), rest_(gram.rows) {
        for (std::size_t b = 0; b < gram.rows; ++b) rest_[b] = gram(b, b);
        const double least = 1e-10 * gram.largest();
        std::vector<bool> taken(gram.rows);
        while (true) {
            std::size_t next = gram.rows;
            for (std::size_t b = 0; b < gram.rows; ++b)
                if (!taken[b] && rest_[b] > least && (next == gram.rows || rest_[b] > rest_[next]))
                    next = b;
            if (next == gram.rows) break;
            taken[next] = true;
            take(next, taken);
        }
    }

    /// The largest rest of the scores.
    double beyond(std::span<const double> scores) const {
        std::vector<double> along;
        for (const std::size_t row : rows_)
            along.push_back(
                (scores[row] - dot(std::span(factor_[row]).first(along.size()), along)) /
                factor_[row][along.size()]);
        double most = 0;
        for (std::size_t b = 0; b < scores.size(); ++b)
            if (std::find(rows_.begin(), rows_.end(), b) == rows_.end())
                most = std::max(most, std::abs(scores[b] - dot(factor_[b], along)));
        return most;
    }

  private:
    void take(std::size_t row, const std::vector<bool>& taken) {
        const double root = std::sqrt(rest_[row]);
        const std::vector<double> its = factor_[row];
        for (std::size_t b = 0; b < gram_.rows; ++b) {
            if (taken[b] && b != row) continue;
            const double along = b == row ? root : (gram_(b, row) - dot(factor_[b], its)) / root;
            factor_[b].push_back(along);
            rest_[b] -= along * along;
        }
        rows_.push_back(row);
    }

    const Matrix& gram_;
    std::vector<std::vector<double>> factor_;  // of a taken row up to itself
    std::vector<double> rest_;
    std::vector<std::size_t> rows_;
};

}  // namespace

void LayerPlace::refuse(std::string_view why) const {
    malformed(file, fmt::format("layer {}: {}", shown(layer), why));
}

void check_gram(const LayerPlace& place, const char* what, Matrix& matrix) {
    const double most = tolerance * matrix.largest();
    for (std::size_t a = 0; a < matrix.rows; ++a)
        for (std::size_t b = 0; b < a; ++b) {
            if (!(std::abs(matrix(a, b) - matrix(b, a)) <= most))
                place.refuse(
                    fmt::format("\"{}\" is not symmetric: {:g} in row {}, column {}, and "
                                "{:g} the other way round",
                                what, matrix(a, b), a + 1, b + 1, matrix(b, a)));
            matrix(a, b) = matrix(b, a) = 0.5 * (matrix(a, b) + matrix(b, a));
        }
    if (!is_positive_semidefinite(matrix))
        place.refuse(
            fmt::format("\"{}\" is indefinite: no gradients have these inner products", what));
}

void check_scores(const LayerPlace& place, const GramStatistics& statistics) {
    const std::size_t n = statistics.rows(), m = statistics.target_rows();
    if (!statistics.target_gram) {
        const RowSpace space(statistics.gram);
        for (std::size_t i = 0; i < m; ++i) {
            std::vector<double> column(n);
            double most = 0;
            for (std::size_t b = 0; b < n; ++b) {
                column[b] = statistics.scores(b, i);
                most = std::max(most, std::abs(column[b]));
            }
            // Rows that hang together only by rounding may differ by its square root.
            if (space.beyond(column) > 1e-4 * most)
                place.refuse(
                    fmt::format("\"scores\" fit no gradients: rows that \"gram\" says are "
                                "dependent have scores with target row {} that are not",
                                i + 1));
        }
        return;
    }
    Matrix joint(n + m, n + m);
    for (std::size_t b = 0; b < n; ++b) {
        for (std::size_t c = 0; c < n; ++c) joint(b, c) = statistics.gram(b, c);
        for (std::size_t i = 0; i < m; ++i)
            joint(b, n + i) = joint(n + i, b) = statistics.scores(b, i);
    }
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < m; ++j) joint(n + i, n + j) = (*statistics.target_gram)(i, j);
    if (!is_positive_semidefinite(joint))
        place.refuse(
            "\"scores\" fit no gradients: \"gram\", \"scores\" and \"target_gram\" together are "
            "indefinite");
}

void LargestOfRows::add(const Matrix& columns) {
    values.resize(columns.rows);
    for (std::size_t b = 0; b < columns.rows; ++b)
        for (const double value : columns.row(b)) values[b] = std::max(values[b], std::abs(value));
}

void check_lengths(const LayerPlace& place, const char* what, const LargestOfRows& largest,
                   const Matrix& gram) {
    for (std::size_t b = 0; b < largest.values.size(); ++b)
        if (largest.values[b] > 0 && gram(b, b) < std::numeric_limits<double>::min())
            place.refuse(fmt::format(
                "row {} of \"{}\" is too small: of entries up to {:g} the squares are no numbers "
                "any more; multiply all gradients and targets by a power of two",
                b + 1, what, largest.values[b]));
}

void check_range(const LayerPlace& place, const GramStatistics& statistics) {
    const auto too_large = [](const Matrix& matrix) {
        for (const double value : matrix.values)
            if (!(std::abs(value) <= largest_product)) return true;
        return false;
    };
    if (too_large(statistics.gram) || too_large(statistics.scores) ||
        (statistics.target_gram && too_large(*statistics.target_gram)))
        place.refuse("its gradients are too large: their inner products exceed 1e150");
}

void InputBuilder::check_size(const LayerPlace& place, std::size_t rows, std::size_t target_rows) {
    if (rows == 0 || target_rows == 0) place.refuse("has no rows");
    ++layers_;
    if (!size_) {
        size_ = {rows, target_rows};
        first_ = place.layer;
    }
    if (rows != size_->first)
        place.refuse(
            fmt::format("has {} rows, layer {} has {}", rows, shown(first_), size_->first));
    if (target_rows != size_->second)
        place.refuse(fmt::format("has {} target rows, layer {} has {}", target_rows, shown(first_),
                                 size_->second));
    const double products = static_cast<double>(rows + target_rows);
    if (8 * products * products * static_cast<double>(layers_) > most_bytes)
        place.refuse(
            fmt::format("{} rows and {} target rows in {} layers have more inner products "
                        "than fit; give fewer rows at once",
                        rows, target_rows, layers_));
}

void InputBuilder::add(Layer layer) {
    for (const Layer& other : input_.layers)
        if (other.name == layer.name)
            malformed(file_, fmt::format("two layers are named {}", shown(layer.name)));
    input_.layers.push_back(std::move(layer));
}

void InputBuilder::set_tokens(const json& tokens) {
    if (tokens.is_null()) return;
    if (!tokens.is_array()) malformed(file_, "\"tokens\" must be a list of numbers");
    has_tokens_ = true;
    for (const json& count : tokens) {
        const double value = count.is_number() ? count.get<double>() : 0;
        if (!(value >= 1 / most_tokens) || !(value <= most_tokens))
            malformed(file_,
                      fmt::format("\"tokens\" has {} for row {}; every row has at least one, "
                                  "and at most 10^15",
                                  count.is_structured() ? "a list" : count.dump(),
                                  input_.tokens.size() + 1));
        input_.tokens.push_back(value);
    }
}

void InputBuilder::set_sources(const json& sources) {
    if (sources.is_null()) return;
    if (!sources.is_array()) malformed(file_, "\"sources\" must be a list of names");
    has_sources_ = true;
    input_.numbered_sources = std::all_of(sources.begin(), sources.end(), [](const json& source) {
        return source.is_number_integer();
    });
    for (const json& source : sources) {
        if (!source.is_string() && !source.is_number_integer())
            malformed(file_,
                      fmt::format("\"sources\" has no name for row {}", input_.sources.size() + 1));
        input_.sources.push_back(source.is_string() ? source.get<std::string>() : source.dump());
    }
}

PlanInput InputBuilder::finish() {
    if (input_.layers.empty()) malformed(file_, "has no layers");
    const std::size_t n = input_.rows();
    const auto check_length = [&](const char* what, bool given, std::size_t length) {
        if (given && length != n)
            malformed(file_,
                      fmt::format("\"{}\" has {} entries, there are {} rows", what, length, n));
    };
    check_length("tokens", has_tokens_, input_.tokens.size());
    check_length("sources", has_sources_, input_.sources.size());
    return std::move(input_);
}

}  // namespace assay::dr_post_training
