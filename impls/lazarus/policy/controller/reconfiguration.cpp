#include "impls/lazarus/policy/controller/reconfiguration.hpp"

#include <algorithm>
#include <compare>
#include <map>
#include <stdexcept>
#include <utility>

#include "impls/lazarus/policy/plan/transfer_plan.hpp"

namespace assay::lazarus {

// ---- holdings ----------------------------------------------------------------------------------

void Holdings::assign(const std::vector<Worker>& training, const ModelPlacement& holders) {
    held_.clear();
    for (std::size_t i = 0; i < training.size(); ++i) {
        for (const Placement& layer : holders) held_[training[i]].push_back(layer[i]);
    }
}

std::optional<Worker> Holdings::dense_holder() const {
    if (held_.empty()) return std::nullopt;
    return held_.begin()->first;
}

ModelPlacement Holdings::table(const std::vector<Worker>& workers) const {
    ModelPlacement table(static_cast<std::size_t>(layers_), Placement(workers.size()));
    for (std::size_t i = 0; i < workers.size(); ++i) {
        const auto found = held_.find(workers[i]);
        if (found == held_.end()) continue;
        for (std::size_t layer = 0; layer < table.size(); ++layer)
            table[layer][i] = found->second[layer];
    }
    return table;
}

std::optional<LostExpert> Holdings::lost() const {
    return first_lost_expert(table(workers()), experts_);
}

std::vector<std::vector<Worker>> Holdings::share_out_writing() const {
    std::vector<std::vector<Worker>> owners(static_cast<std::size_t>(layers_));
    std::map<Worker, int> parts;
    for (std::size_t layer = 0; layer < owners.size(); ++layer) {
        std::vector<std::vector<Worker>> holders(static_cast<std::size_t>(experts_));
        for (const auto& [worker, layers] : held_) {
            for (int expert : layers[layer])
                holders[static_cast<std::size_t>(expert)].push_back(worker);
        }
        for (const std::vector<Worker>& of : holders) {
            const auto owner = std::min_element(
                of.begin(), of.end(), [&](Worker a, Worker b) { return parts[a] < parts[b]; });
            if (owner == of.end()) throw std::logic_error("an expert to write has no holder");
            ++parts[*owner];
            owners[layer].push_back(*owner);
        }
    }
    return owners;
}

std::vector<Worker> Holdings::workers() const {
    std::vector<Worker> workers;
    for (const auto& [worker, layers] : held_) workers.push_back(worker);
    return workers;
}

// ---- the new epoch -----------------------------------------------------------------------------

namespace {

/// The plan seen by all members: leavers need nothing. [layer][index into members]
ModelPlacement needed_by(const std::vector<Worker>& members, const std::vector<Worker>& training,
                         const ModelPlacement& holders) {
    ModelPlacement needed(holders.size(), Placement(members.size()));
    for (std::size_t i = 0, t = 0; i < members.size() && t < training.size(); ++i) {
        if (members[i] != training[t]) continue;
        for (std::size_t layer = 0; layer < holders.size(); ++layer)
            needed[layer][i] = holders[layer][t];
        ++t;
    }
    return needed;
}

/// For each joiner the member that sends it the dense state: of those that have it the one with the
/// fewest joiners so far, then with the fewest experts to send, then the lowest id.
std::vector<Worker> dense_sources(const Reconfigure& epoch, const Holdings& holdings) {
    if (epoch.need_dense.empty()) return {};
    struct Load {
        int joiners = 0, experts = 0;
        auto operator<=>(const Load&) const = default;
    };
    std::map<Worker, Load> holders;
    for (Worker worker : epoch.members) {
        if (holdings.has_state(worker)) holders[worker];
    }
    for (const Transfer& one : epoch.transfers) ++holders.at(one.from).experts;
    if (holders.empty()) throw std::logic_error("nobody holds the dense state that joiners need");
    std::vector<Worker> sources;
    for (std::size_t joiner = 0; joiner < epoch.need_dense.size(); ++joiner) {
        const auto least =
            std::min_element(holders.begin(), holders.end(),
                             [](const auto& a, const auto& b) { return a.second < b.second; });
        ++least->second.joiners;
        sources.push_back(least->first);
    }
    return sources;
}

}  // namespace

Reconfigure plan_reconfiguration(const Strategy& strategy, const std::vector<Worker>& members,
                                 const std::vector<Worker>& training, const Holdings& holdings,
                                 const std::vector<Loads>& loads, bool from_storage) {
    Reconfigure epoch;
    epoch.members = members;
    epoch.training = training;
    const ModelPlacement held = holdings.table(members);
    const bool all_train = training.size() == members.size();
    epoch.holders = strategy.holders(all_train ? held : holdings.table(training), loads);
    if (from_storage) return epoch;

    const auto transfers = plan_transfers(
        held, all_train ? epoch.holders : needed_by(members, training, epoch.holders));
    epoch.transfers.reserve(transfers.size());
    for (const ExpertTransfer& one : transfers) {
        epoch.transfers.push_back({one.layer, one.expert,
                                   members[static_cast<std::size_t>(one.from)],
                                   members[static_cast<std::size_t>(one.to)]});
    }
    for (Worker worker : training) {
        if (!holdings.has_state(worker)) epoch.need_dense.push_back(worker);
    }
    epoch.dense_sources = dense_sources(epoch, holdings);
    return epoch;
}

}  // namespace assay::lazarus
