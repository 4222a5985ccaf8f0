// Fig. 2: how unevenly tokens go to experts, and how that changes while a model trains.
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include "impls/lazarus/data/routing_trace.hpp"
#include "impls/lazarus/data/synthetic_routing.hpp"
#include "impls/lazarus/experiments/exact/recovery_metric.hpp"
#include "impls/lazarus/experiments/experiments.hpp"
#include "impls/lazarus/experiments/model_loads.hpp"
#include "suite/experiment/exact_profiles.hpp"

namespace assay::lazarus {
namespace {

constexpr int layers = 12, experts = 16;  // GPT-L
constexpr std::array shown_layers{0, 4, 8, 11};
constexpr std::int64_t shown_every = 100, last_iteration = 5001;
constexpr std::int64_t settled = 201;  // the first iteration that the paper's evaluation looks at

struct Series {
    std::string_view variant;
    std::size_t hottest;
    bool of_settled;  // the experts that were hottest at `settled`, wherever they are later
};
constexpr std::array<Series, 5> all_series{{{"hottest_2", 2, false},
                                            {"hottest_1", 1, false},
                                            {"hottest_4", 4, false},
                                            {"hottest_8", 8, false},
                                            {"hottest_2_at_201", 2, true}}};

double share(const Loads& loads, const std::vector<std::size_t>& chosen) {
    const double all = std::accumulate(loads.begin(), loads.end(), 0.0);
    double of = 0;
    for (const std::size_t expert : chosen) of += double(loads[expert]);
    return of / all;
}

std::vector<std::size_t> hottest(const Loads& loads, std::size_t count) {
    std::vector<std::size_t> order(loads.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return loads[a] > loads[b]; });
    order.resize(count);
    return order;
}

// Loads of all 32 experts of the trace, so that an expert is the same one at every iteration; the
// least loaded of them are left out as the models leave them out.
Loads sixteen_of(Loads loads) {
    const auto kept = hottest(loads, experts);
    for (std::size_t expert = 0; expert < loads.size(); ++expert)
        if (std::find(kept.begin(), kept.end(), expert) == kept.end()) loads[expert] = 0;
    return loads;
}

void run(const SampleSpec& spec, Recorder& recorder) {
    const Series& series =
        *std::find_if(all_series.begin(), all_series.end(),
                      [&](const Series& s) { return s.variant == spec.variant; });
    const std::string source = routing_source(spec);
    std::optional<RoutingTrace> trace;
    if (source != "synthetic") trace = read_routing_trace(source);
    const auto loads_at = [&](std::int64_t iteration) {
        auto all = trace ? trace->at(trace->nearest_before(iteration), layers)
                         : drifting_routing(spec.seed, iteration, layers);
        for (Loads& layer : all) layer = sixteen_of(std::move(layer));
        return all;
    };
    const auto at_settled = loads_at(settled);
    double most = 0, most_from_start = 0;
    for (std::int64_t iteration = 1; iteration <= last_iteration; iteration += 10) {
        const auto loads = loads_at(iteration);
        for (int layer = 0; layer < layers; ++layer) {
            const auto at = static_cast<std::size_t>(layer);
            const auto chosen =
                hottest(series.of_settled ? at_settled[at] : loads[at], series.hottest);
            const double found = share(loads[at], chosen);
            most_from_start = std::max(most_from_start, found);
            if (iteration >= settled) most = std::max(most, found);
            const bool shown =
                std::find(shown_layers.begin(), shown_layers.end(), layer) != shown_layers.end();
            if (shown && (iteration - 1) % shown_every == 0)
                recorder.metric("share", found,
                                {{"layer", std::int64_t{layer}}, {"iteration", iteration}});
        }
    }
    recorder.metric("most", most);
    recorder.metric("most_from_start", most_from_start);
}

}  // namespace

Experiment fig2() {
    Experiment experiment;
    experiment.id = "lazarus/fig2";
    experiment.title = "Share of the tokens that the hottest experts get";
    experiment.source = "arXiv 2407.04656v2, section 2, Fig. 2";
    experiment.says =
        "Of the 16 most loaded experts of a layer, what the 1, 2, 4 and 8 hottest get at each "
        "iteration, the edges of the paper's stacked shares; and what those two get later that "
        "were hottest at iteration 201, which shows the drift. Four of the trace's first twelve "
        "layers are drawn; the largest shares are over all twelve. The paper does not say which "
        "layers it shows, nor from which iteration on: while the gates settle, before iteration "
        "200, all tokens of a layer may go to two experts, so `most` begins there.";
    experiment.axes = {{"trace", "routing trace", {"smartmoe", "synthetic"}, false}};
    for (const Series& series : all_series) experiment.variants.emplace_back(series.variant);
    experiment.metrics = {{"share",
                           "fraction",
                           "of the layer's tokens",
                           Direction::none,
                           true,
                           {"layer", "iteration"},
                           {}},
                          {"most",
                           "fraction",
                           "the largest share, in any layer from iteration 201 on",
                           Direction::none,
                           true,
                           {},
                           {}},
                          {"most_from_start",
                           "fraction",
                           "the same from iteration 1 on",
                           Direction::none,
                           true,
                           {},
                           {}}};
    experiment.profiles = exact_profiles(0.3);
    experiment.figure = {
        Figure::Kind::lines,   "share", "iteration", {"trace", "layer"}, "iteration",
        "share of the tokens", false};
    experiment.unsupported = missing_trace;
    experiment.inputs = trace_inputs;
    experiment.run = run;
    return experiment;
}

}  // namespace assay::lazarus
