#include "impls/lazarus/policy/plan/transfer_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

// The nodes that hold each expert of a layer, ascending, each once.
class Holders {
  public:
    explicit Holders(const Placement& layer) {
        const auto each = [&](auto visit) {
            for (std::size_t node = 0; node < layer.size(); ++node) {
                for (int e : layer[node])
                    visit(static_cast<std::size_t>(e), static_cast<int>(node));
            }
        };
        int most = -1;
        for (const auto& node : layer) {
            for (int e : node) {
                if (e < 0) throw UserError(fmt::format("transfer plan: expert id {}", e));
                most = std::max(most, e);
            }
        }
        // Counts, then where each expert's nodes begin, then the nodes themselves.
        std::vector<int> last(static_cast<std::size_t>(most + 1), -1);
        begin_.assign(last.size() + 1, 0);
        each([&](std::size_t e, int node) {
            begin_[e + 1] += last[e] != node ? 1 : 0;
            last[e] = node;
        });
        std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
        nodes_.resize(begin_.back());
        last.assign(last.size(), -1);
        std::vector<std::size_t> end(begin_.begin(), begin_.end() - 1);
        each([&](std::size_t e, int node) {
            if (last[e] != node) nodes_[end[e]++] = node;
            last[e] = node;
        });
    }

    std::size_t experts() const { return begin_.size() - 1; }
    std::span<const int> of(std::size_t expert) const {
        if (expert >= experts()) return {};
        return std::span(nodes_).subspan(begin_[expert], begin_[expert + 1] - begin_[expert]);
    }

  private:
    std::vector<std::size_t> begin_;  // [expert]: where its nodes begin
    std::vector<int> nodes_;
};

// Whose turn it is among the holders of an expert: those with the fewest transfers so far, in order
// of nodes, then those that now have the fewest, and so on.
class Turns {
  public:
    Turns(std::span<const int> holders, std::vector<int>& scheduled)
        : holders_(holders), scheduled_(scheduled) {}

    int next() {
        if (at_ == turn_.size()) begin_turn();
        const int node = turn_[at_++];
        ++scheduled_[static_cast<std::size_t>(node)];
        return node;
    }

  private:
    void begin_turn() {
        turn_.clear();
        at_ = 0;
        int fewest = std::numeric_limits<int>::max();
        for (int node : holders_) {
            const int transfers = scheduled_[static_cast<std::size_t>(node)];
            if (transfers < fewest) turn_.clear();
            fewest = std::min(fewest, transfers);
            if (transfers == fewest) turn_.push_back(node);
        }
    }

    std::span<const int> holders_;
    std::vector<int>& scheduled_;
    std::vector<int> turn_;
    std::size_t at_ = 0;
};

// Sorts by a node; transfers of the same one stay in order. `space`: of any size, for reuse.
void sort_by(int ExpertTransfer::*node, std::size_t nodes, std::vector<ExpertTransfer>& transfers,
             std::vector<ExpertTransfer>& space) {
    std::vector<std::size_t> next(nodes + 1, 0);
    for (const ExpertTransfer& one : transfers) ++next[static_cast<std::size_t>(one.*node) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    space.resize(transfers.size());
    for (const ExpertTransfer& one : transfers)
        space[next[static_cast<std::size_t>(one.*node)]++] = one;
    transfers.swap(space);
}

std::size_t slots_of(const ModelPlacement& placement) {
    std::size_t slots = 0;
    for (const Placement& layer : placement) {
        for (const auto& node : layer) slots += node.size();
    }
    return slots;
}

}  // namespace

std::optional<LostExpert> first_lost_expert(const ModelPlacement& held, int experts) {
    for (std::size_t layer = 0; layer < held.size(); ++layer) {
        std::vector<bool> alive(static_cast<std::size_t>(std::max(experts, 0)), false);
        for (const auto& node : held[layer]) {
            for (int e : node) {
                if (e >= 0 && e < experts) alive[static_cast<std::size_t>(e)] = true;
            }
        }
        const auto dead = std::find(alive.begin(), alive.end(), false);
        if (dead != alive.end()) {
            return LostExpert{static_cast<int>(layer), static_cast<int>(dead - alive.begin())};
        }
    }
    return std::nullopt;
}

bool recoverable(const ModelPlacement& held, int experts) {
    return !first_lost_expert(held, experts);
}

std::vector<ExpertTransfer> plan_transfers(const ModelPlacement& held,
                                           const ModelPlacement& needed) {
    if (held.size() != needed.size()) {
        throw UserError(
            fmt::format("transfer plan: {} layers held, {} needed", held.size(), needed.size()));
    }
    std::vector<ExpertTransfer> transfers;
    transfers.reserve(slots_of(needed));
    std::vector<int> scheduled;  // transfers per source so far, over all layers
    for (std::size_t layer = 0; layer < held.size(); ++layer) {
        if (held[layer].size() != needed[layer].size()) {
            throw UserError(
                fmt::format("transfer plan: layer {} is held on {} nodes and needed on {}", layer,
                            held[layer].size(), needed[layer].size()));
        }
        scheduled.resize(std::max(scheduled.size(), held[layer].size()), 0);
        const Holders has(held[layer]), wants(needed[layer]);
        for (std::size_t e = 0; e < wants.experts(); ++e) {
            const std::span<const int> from = has.of(e);
            Turns turns(from, scheduled);
            auto holder = from.begin();
            for (int to : wants.of(e)) {
                holder = std::find_if(holder, from.end(), [&](int node) { return node >= to; });
                if (holder != from.end() && *holder == to) continue;
                if (from.empty()) {
                    throw UserError(
                        fmt::format("transfer plan: node {} needs expert {} of layer {}, which no "
                                    "live node holds",
                                    to, e, layer));
                }
                const int source = turns.next();
                transfers.push_back({source, to, static_cast<int>(layer), static_cast<int>(e)});
            }
        }
    }
    // They are in order of (layer, expert, to), and each sort keeps the order of equals.
    std::vector<ExpertTransfer> space;
    sort_by(&ExpertTransfer::to, scheduled.size(), transfers, space);
    sort_by(&ExpertTransfer::from, scheduled.size(), transfers, space);
    return transfers;
}

}  // namespace assay::lazarus
