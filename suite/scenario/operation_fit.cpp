#include "suite/scenario/operation_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay {
namespace {

// Work per kernel that differs by less tells nothing about launches: noise of a few per cent would.
constexpr double least_spread = 1.5;

/// Unknowns: 1/efficiency, and seconds per launch. A row says what a second of a sample has of
/// either: `rooflines`/efficiency + `launches` · launch_s = 1 when the model is right.
struct Row {
    double rooflines = 0, launches = 0;
};

struct Solution {
    double inverse_efficiency = 0, launch_s = 0;
    double inverse_error = 0, launch_error = 0;
};

double relative(const Row& row, const Solution& at) {
    return row.rooflines * at.inverse_efficiency + row.launches * at.launch_s - 1;
}

/// Variance of one residual, by their scatter.
double scatter(const std::vector<Row>& rows, const Solution& at, int unknowns) {
    double squares = 0;
    for (const Row& row : rows) squares += relative(row, at) * relative(row, at);
    return squares / (double(rows.size()) - unknowns);
}

Solution solve_both(const std::vector<Row>& rows) {
    double rr = 0, rl = 0, ll = 0, r = 0, l = 0;
    for (const Row& row : rows) {
        rr += row.rooflines * row.rooflines;
        rl += row.rooflines * row.launches;
        ll += row.launches * row.launches;
        r += row.rooflines;
        l += row.launches;
    }
    const double determinant = rr * ll - rl * rl;
    Solution found{.inverse_efficiency = (ll * r - rl * l) / determinant,
                   .launch_s = (rr * l - rl * r) / determinant};
    const double variance = scatter(rows, found, 2);
    found.inverse_error = std::sqrt(variance * ll / determinant);
    found.launch_error = std::sqrt(variance * rr / determinant);
    return found;
}

Solution solve_efficiency(const std::vector<Row>& rows, double launch_s) {
    double rr = 0, rest = 0;
    for (const Row& row : rows) {
        rr += row.rooflines * row.rooflines;
        rest += row.rooflines * (1 - row.launches * launch_s);
    }
    Solution found{.inverse_efficiency = rest / rr, .launch_s = launch_s};
    found.inverse_error = std::sqrt(scatter(rows, found, 1) / rr);
    return found;
}

std::vector<Row> rows_of(const std::string& name, const DeviceProfile& device,
                         std::span<const TimedWork> timed) {
    std::vector<Row> rows;
    for (const TimedWork& one : timed) {
        const double roofline = roofline_s(device, one.work);
        if (!(one.seconds > 0) || !std::isfinite(one.seconds) || !(roofline > 0) ||
            !std::isfinite(roofline) || !(one.work.kernels >= 0) ||
            !std::isfinite(one.work.kernels))
            throw FitError(fmt::format(
                "operation '{}': {} has {} s for {} FLOP, {} bytes and {} kernels; a duration and "
                "some work are needed, all finite",
                name, one.origin, one.seconds, one.work.flops, one.work.bytes, one.work.kernels));
        rows.push_back({roofline / one.seconds, one.work.kernels / one.seconds});
    }
    return rows;
}

void require_identifiable(const std::string& name, const std::vector<Row>& rows) {
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (const Row& row : rows) {
        const double per_kernel = row.rooflines / row.launches;
        least = std::min(least, per_kernel);
        most = std::max(most, per_kernel);
    }
    if (most < least_spread * least)
        throw FitError(fmt::format(
            "operation '{}': all {} samples have about the same work per kernel (it differs by "
            "{:.0f} "
            "%), so that efficiency and launches cannot be told apart; measure another size, or "
            "give the seconds per launch",
            name, rows.size(), 100 * (most / least - 1)));
}

}  // namespace

double OperationFit::worst() const {
    return *std::max_element(residuals.begin(), residuals.end(),
                             [](double a, double b) { return std::abs(a) < std::abs(b); });
}

double OperationFit::median() const {
    std::vector<double> sizes;
    for (const double residual : residuals) sizes.push_back(std::abs(residual));
    std::sort(sizes.begin(), sizes.end());
    const std::size_t half = sizes.size() / 2;
    return sizes.size() % 2 == 1 ? sizes[half] : (sizes[half - 1] + sizes[half]) / 2;
}

OperationFit fit_operation(const std::string& name, const DeviceProfile& device,
                           std::span<const TimedWork> timed, std::optional<double> launch_s) {
    const std::vector<Row> rows = rows_of(name, device, timed);
    const bool launches =
        std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.launches > 0; });
    const std::size_t unknowns = launch_s || !launches ? 1 : 2;
    if (rows.size() < unknowns + 1)
        throw FitError(fmt::format(
            "operation '{}': {} sample{} for {} unknown{}; {} at least are needed to see how well "
            "the model fits",
            name, rows.size(), rows.size() == 1 ? "" : "s", unknowns, unknowns == 1 ? "" : "s",
            unknowns + 1));
    OperationFit fit;
    Solution found;
    if (unknowns == 2) {
        require_identifiable(name, rows);
        found = solve_both(rows);
        fit.launch_fitted = found.launch_s >= 0;
        if (!fit.launch_fitted) found = solve_efficiency(rows, 0);
    } else {
        found = solve_efficiency(rows, launch_s.value_or(0));
    }
    if (!(found.inverse_efficiency > 0))
        throw FitError(fmt::format(
            "operation '{}': its durations do not grow with its work, so that they say nothing "
            "about an efficiency",
            name));
    if (found.inverse_efficiency < 1)
        throw FitError(fmt::format(
            "operation '{}' would reach {:.2f} times the peak of {}: the profile's peak is too "
            "low, or the work is overstated",
            name, 1 / found.inverse_efficiency, device.id));
    if (found.inverse_error > 0.5 * found.inverse_efficiency)
        throw FitError(fmt::format(
            "operation '{}': the samples scatter too much: the efficiency would be {:.2g} with a "
            "standard error of {:.0f} %; measure more of them, or on a quieter machine",
            name, 1 / found.inverse_efficiency,
            100 * found.inverse_error / found.inverse_efficiency));
    fit.efficiency = 1 / found.inverse_efficiency;
    fit.efficiency_error = found.inverse_error * fit.efficiency * fit.efficiency;
    fit.launch_s = found.launch_s;
    fit.launch_error_s = fit.launch_fitted ? found.launch_error : 0;
    for (const Row& row : rows) fit.residuals.push_back(relative(row, found));
    return fit;
}

}  // namespace assay
