#include "impls/lazarus/spot/anchors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "impls/lazarus/spot/spot_training.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

constexpr double undisturbed_s = 40 * 60;  // section 6.2: the first failure comes after 40 minutes
constexpr int nodes = 10;
constexpr double least_share = 0.02;
constexpr double tolerance_s = 1e-6;

/// The share from `least` to 1 at which `ahead`, which grows with it, is zero: a secant in terms of
/// 1/share, in which the model's seconds are all but linear.
std::optional<double> share_where(const std::function<double(double)>& ahead, double least) {
    double low = 1, high = 1 / least;  // of 1/share
    double at_low = ahead(1), at_high = ahead(least);
    if (!(at_low >= 0 && at_high <= 0)) return std::nullopt;
    bool low_moved = false, high_moved = false;  // the last time
    for (int i = 0; i < 100; ++i) {
        const double between = (low * at_high - high * at_low) / (at_high - at_low);
        const double found = ahead(1 / between);
        if (std::isnan(found)) return std::nullopt;
        if (std::abs(found) < tolerance_s) return 1 / between;
        // An end that stays twice counts half (Illinois), else it would stay for ever.
        if (found > 0) {
            low = between, at_low = found;
            if (low_moved) at_high /= 2;
        } else {
            high = between, at_high = found;
            if (high_moved) at_low /= 2;
        }
        low_moved = found > 0, high_moved = !low_moved;
    }
    return 2 / (low + high);
}

}  // namespace

std::vector<Anchor> anchors_among(std::span<const Claim> claims) {
    std::vector<Anchor> anchors;
    for (const char* system : {"lazarus", "ds"}) {
        const std::string id = fmt::format("lazarus/fig7/gpt-m/{}-rate", system);
        const auto claim =
            std::find_if(claims.begin(), claims.end(), [&](const Claim& c) { return c.id == id; });
        if (claim == claims.end() || !claim->value)
            throw UserError(fmt::format("the claims have no {} with a value", id));
        anchors.push_back({id, system, *claim->value});
    }
    return anchors;
}

AnchoredTraining::AnchoredTraining(Anchor anchor, const ClusterProfile& cluster,
                                   const std::string& routing)
    : anchor_(std::move(anchor)), cluster_(cluster) {
    for (const std::string& device : cluster.devices) devices_.push_back(device_profile(device));
    if (devices_.empty())
        throw UserError(fmt::format("cluster profile '{}' names no devices", cluster.id));
    SpotTraining training;
    training.system = anchor_.system;
    training.model = "gpt-m";
    training.routing = routing;
    training.workers = nodes;
    training.modelled_steps = 50;
    const ModelledTraining modelled = modelled_training(training);
    modelling_ = modelled.modelling;
    const double samples = double(nodes) * modelling_.model.sequences * training.modelled_steps;
    steps_ = steady_steps(modelled,
                          std::max<Step>(1, std::lround(anchor_.rate * undisturbed_s / samples)));
}

Shares AnchoredTraining::shipped() const {
    return {devices_.front().matmul_efficiency.value, cluster_.link_efficiency.value};
}

SteadyCost AnchoredTraining::cost(const Shares& shares) const {
    ClusterProfile cluster = cluster_;
    cluster.link_efficiency.value = shares.link;
    std::vector<DeviceProfile> devices = devices_;
    for (DeviceProfile& device : devices) device.matmul_efficiency.value = shares.matmul;
    return steady_cost(CostModel(std::move(cluster), std::move(devices)), modelling_, steps_);
}

double AnchoredTraining::ahead_s(const Shares& shares, double overlap) const {
    const SteadyCost found = cost(shares);
    return found.sequences / anchor_.rate - found.sequences / found.rate(overlap);
}

std::optional<double> AnchoredTraining::matmul_for(double overlap) const {
    const auto faster = [&](double share) { return ahead_s({share, shipped().link}, overlap); };
    return share_where(faster, least_share);
}

std::optional<double> AnchoredTraining::link_for(double overlap) const {
    const auto faster = [&](double share) { return ahead_s({shipped().matmul, share}, overlap); };
    return share_where(faster, least_share);
}

// Along the pairs that meet `one`, a faster link goes with slower computing. From the slowest link,
// at which computing must be perfect, to the fastest, the other's rate moves one way.
std::optional<Shares> shares_for(const AnchoredTraining& one, const AnchoredTraining& other,
                                 double overlap) {
    const auto slowest_link = share_where(
        [&](double link) {
            return one.ahead_s({1, link}, overlap);
        },
        least_share);
    if (!slowest_link) return std::nullopt;
    const auto meeting_one = [&](double link) -> std::optional<Shares> {
        if (link <= *slowest_link) return Shares{1, link};
        const auto matmul = share_where(
            [&](double share) {
                return one.ahead_s({share, link}, overlap);
            },
            least_share);
        if (!matmul) return std::nullopt;
        return Shares{*matmul, link};
    };
    const auto slower = [&](double link) {
        const auto shares = meeting_one(link);
        return shares ? -other.ahead_s(*shares, overlap) : std::nan("");
    };
    const auto link = share_where(slower, *slowest_link);
    return link ? meeting_one(*link) : std::nullopt;
}

}  // namespace assay::lazarus
