// Flows that share links as fluids do, max-min fairly: worked out from scratch at every change, by
// the textbook, as what SimGrid is compared with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace assay::testing {

struct Fluid {
    double begins_s = 0, bytes = 0;
    std::vector<int> links;
    double ends_s = 0;  ///< found out by let_flow()
};

/// Rates of the flows that are under way: the link with the least for each of its flows is dealt
/// out first, and so on with what is left.
inline std::vector<double> fair_rates(const std::vector<const Fluid*>& flows,
                                      std::vector<double> left) {
    std::vector<double> rates(flows.size(), -1);
    for (;;) {
        std::vector<int> users(left.size(), 0);
        for (std::size_t i = 0; i < flows.size(); ++i)
            if (rates[i] < 0)
                for (const int link : flows[i]->links) ++users[static_cast<std::size_t>(link)];
        double least = std::numeric_limits<double>::infinity();
        std::size_t tightest = 0;
        for (std::size_t link = 0; link < left.size(); ++link)
            if (users[link] > 0 && left[link] / users[link] < least) {
                least = left[link] / users[link];
                tightest = link;
            }
        if (least == std::numeric_limits<double>::infinity()) return rates;
        for (std::size_t i = 0; i < flows.size(); ++i) {
            const auto& links = flows[i]->links;
            if (rates[i] >= 0 ||
                std::find(links.begin(), links.end(), static_cast<int>(tightest)) == links.end())
                continue;
            rates[i] = least;
            for (const int link : links) left[static_cast<std::size_t>(link)] -= least;
        }
    }
}

inline void let_flow(std::vector<Fluid>& flows, const std::vector<double>& bandwidths) {
    std::vector<double> left;
    for (const Fluid& flow : flows) left.push_back(flow.bytes);
    double now = 0;
    for (;;) {
        std::vector<const Fluid*> under_way;
        std::vector<std::size_t> which;
        double next = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < flows.size(); ++i) {
            if (flows[i].begins_s > now) {
                next = std::min(next, flows[i].begins_s);
            } else if (left[i] > 0) {
                under_way.push_back(&flows[i]);
                which.push_back(i);
            }
        }
        const auto rates = fair_rates(under_way, bandwidths);
        for (std::size_t i = 0; i < which.size(); ++i)
            next = std::min(next, now + left[which[i]] / rates[i]);
        if (next == std::numeric_limits<double>::infinity()) return;
        for (std::size_t i = 0; i < which.size(); ++i) {
            double& bytes = left[which[i]];
            bytes -= rates[i] * (next - now);
            if (bytes > 1e-13 * flows[which[i]].bytes) continue;
            bytes = 0;
            flows[which[i]].ends_s = next;
        }
        now = next;
    }
}

}  // namespace assay::testing
