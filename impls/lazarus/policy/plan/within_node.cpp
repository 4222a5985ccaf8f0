#include "impls/lazarus/policy/plan/within_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace assay::lazarus {
namespace {

void check(int gpus) {
    if (gpus < 1) throw std::invalid_argument(fmt::format("a node of {} GPUs", gpus));
}

}  // namespace

Placement deal_by_load(std::span<const int> replicas, std::span<const double> load, int gpus) {
    check(gpus);
    std::vector<int> order(replicas.begin(), replicas.end());
    for (const int expert : order)
        if (expert < 0 || static_cast<std::size_t>(expert) >= load.size())
            throw std::invalid_argument(fmt::format("no load of expert {}", expert));
    const auto of = [&](int expert) { return load[static_cast<std::size_t>(expert)]; };
    std::sort(order.begin(), order.end(),
              [&](int a, int b) { return of(a) != of(b) ? of(a) > of(b) : a < b; });
    const auto slots =
        (replicas.size() + static_cast<std::size_t>(gpus) - 1) / static_cast<std::size_t>(gpus);
    Placement dealt(static_cast<std::size_t>(gpus));
    std::vector<double> loads(dealt.size(), 0);
    for (const int expert : order) {
        std::size_t least = dealt.size();
        for (std::size_t gpu = 0; gpu < dealt.size(); ++gpu) {
            if (dealt[gpu].size() == slots) continue;
            if (least == dealt.size() || loads[gpu] < loads[least] ||
                (loads[gpu] == loads[least] && dealt[gpu].size() < dealt[least].size()))
                least = gpu;
        }
        dealt[least].push_back(expert);
        loads[least] += of(expert);
    }
    for (std::vector<int>& experts : dealt) std::sort(experts.begin(), experts.end());
    return dealt;
}

Placement deal_in_blocks(std::span<const int> replicas, int gpus) {
    check(gpus);
    std::vector<int> order(replicas.begin(), replicas.end());
    std::sort(order.begin(), order.end());
    Placement dealt(static_cast<std::size_t>(gpus));
    for (std::size_t i = 0; i < order.size(); ++i)
        dealt[i * dealt.size() / order.size()].push_back(order[i]);
    return dealt;
}

}  // namespace assay::lazarus
