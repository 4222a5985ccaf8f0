#include "impls/lazarus/policy/plan/transfer_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

// holders[expert]: nodes that hold it, ascending, each once.
std::vector<std::vector<int>> holders_by_expert(const Placement& layer, std::size_t experts) {
    std::vector<std::vector<int>> holders(experts);
    for (std::size_t node = 0; node < layer.size(); ++node) {
        for (int e : layer[node]) {
            if (e < 0) throw UserError(fmt::format("transfer plan: expert id {}", e));
            if (static_cast<std::size_t>(e) >= holders.size())
                holders.resize(static_cast<std::size_t>(e) + 1);
            auto& of = holders[static_cast<std::size_t>(e)];
            if (of.empty() || of.back() != static_cast<int>(node))
                of.push_back(static_cast<int>(node));
        }
    }
    return holders;
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
    std::vector<int> scheduled;  // transfers per source so far, over all layers
    for (std::size_t layer = 0; layer < held.size(); ++layer) {
        if (held[layer].size() != needed[layer].size()) {
            throw UserError(
                fmt::format("transfer plan: layer {} is held on {} nodes and needed on {}", layer,
                            held[layer].size(), needed[layer].size()));
        }
        scheduled.resize(std::max(scheduled.size(), held[layer].size()), 0);
        const auto has = holders_by_expert(held[layer], 0);
        const auto wants = holders_by_expert(needed[layer], has.size());
        for (std::size_t e = 0; e < wants.size(); ++e) {
            for (int to : wants[e]) {
                const bool known = e < has.size() && !has[e].empty();
                if (known && std::binary_search(has[e].begin(), has[e].end(), to)) continue;
                if (!known) {
                    throw UserError(
                        fmt::format("transfer plan: node {} needs expert {} of layer {}, which no "
                                    "live node holds",
                                    to, e, layer));
                }
                const int from = *std::min_element(has[e].begin(), has[e].end(), [&](int a, int b) {
                    return scheduled[static_cast<std::size_t>(a)] <
                           scheduled[static_cast<std::size_t>(b)];
                });
                ++scheduled[static_cast<std::size_t>(from)];
                transfers.push_back({from, to, static_cast<int>(layer), static_cast<int>(e)});
            }
        }
    }
    std::sort(transfers.begin(), transfers.end(),
              [](const ExpertTransfer& a, const ExpertTransfer& b) {
                  return std::tie(a.from, a.to, a.layer, a.expert) <
                         std::tie(b.from, b.to, b.layer, b.expert);
              });
    return transfers;
}

}  // namespace assay::lazarus
