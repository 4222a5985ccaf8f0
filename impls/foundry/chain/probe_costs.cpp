#include <chrono>
#include <stdexcept>

#include "impls/foundry/chain/chain.hpp"
#include "impls/foundry/chain/probes.hpp"
#include "suite/measure/statistics/quantile.hpp"

namespace assay::foundry {

std::map<std::string, double> graph_costs(const Device& device, int nodes, int repeats) {
    const Chain chain(device, {.nodes = nodes});
    const Graph graphs[] = {chain.graph(Member::a), chain.graph(Member::b)};
    BuiltGraph rewritten = chain.build(Member::a), written = chain.build(Member::a);
    Executable updated(device.driver(), rewritten.get());
    const Executable by_nodes(device.driver(), written.get());
    std::map<std::string, std::vector<double>> times;
    std::chrono::steady_clock::time_point begin;
    const auto start = [&] { begin = std::chrono::steady_clock::now(); };
    // What was made ends later, which is not part of it.
    const auto stop = [&](const char* what) {
        const std::chrono::duration<double, std::milli> took =
            std::chrono::steady_clock::now() - begin;
        times[what].push_back(took.count());
    };
    // The first is a warm-up. Members in turns, so that each of them changes all nodes.
    for (int repeat = 0; repeat <= repeats; ++repeat) {
        if (repeat == 1) times.clear();
        const Graph &from = graphs[repeat % 2], &to = graphs[(repeat + 1) % 2];
        start();
        const CapturedGraph captured = chain.capture(Member::a);
        stop("capture");
        start();
        const BuiltGraph built(device, chain.images(), to);
        stop("build");
        start();
        const Executable executable(device.driver(), built.get());
        stop("instantiate");
        start();
        rewritten.rewrite(to);
        stop("rewrite");
        start();
        const std::string why = updated.update(rewritten.get());
        stop("update");
        if (!why.empty())
            throw std::runtime_error("an update to a member of the same chain was refused: " + why);
        start();
        written.write_nodes(from, to, by_nodes);
        stop("write_nodes");
    }
    std::map<std::string, double> medians;
    for (const auto& [what, all] : times) medians[what] = statistics::median(all);
    return medians;
}

}  // namespace assay::foundry
