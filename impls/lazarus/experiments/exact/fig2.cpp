// Fig. 2: how unevenly tokens go to experts, and how that changes while a model trains.
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "impls/lazarus/data/routing_trace.hpp"
#include "impls/lazarus/data/synthetic_routing.hpp"
#include "impls/lazarus/experiments/exact/recovery_metric.hpp"
#include "impls/lazarus/experiments/experiments.hpp"
#include "impls/lazarus/experiments/model_loads.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/exact_profiles.hpp"

namespace assay::lazarus {
namespace {

constexpr int layers = 12, experts = 16;  // GPT-L
constexpr std::array shown_layers{0, 4, 8, 11};
constexpr std::int64_t shown_every = 100, last_iteration = 5001;
constexpr std::int64_t settled = 201;  // the first iteration that the paper's evaluation looks at

enum class Hottest { two, one, four, eight, two_of_settled };
ASSAY_NAMES(Hottest, (two, "hottest_2"), (one, "hottest_1"), (four, "hottest_4"),
            (eight, "hottest_8"), (two_of_settled, "hottest_2_at_201"))

std::size_t count_of(Hottest hottest) {
    using enum Hottest;
    return hottest == one ? 1 : hottest == four ? 4 : hottest == eight ? 8 : 2;
}

struct Fig2 {
    std::string trace;
    Hottest hottest{};
    std::uint64_t seed = 0;
};

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

void run(const Fig2& fig2, Recorder& recorder) {
    const std::string source = routing_source(fig2.trace);
    std::optional<RoutingTrace> trace;
    if (source != "synthetic") trace = read_routing_trace(source);
    const auto loads_at = [&](std::int64_t iteration) {
        auto all = trace ? trace->at(trace->nearest_before(iteration), layers)
                         : drifting_routing(fig2.seed, iteration, layers);
        for (Loads& layer : all) layer = sixteen_of(std::move(layer));
        return all;
    };
    const auto at_settled = loads_at(settled);
    double most = 0, most_from_start = 0;
    for (std::int64_t iteration = 1; iteration <= last_iteration; iteration += 10) {
        const auto loads = loads_at(iteration);
        for (int layer = 0; layer < layers; ++layer) {
            const auto at = static_cast<std::size_t>(layer);
            // Those that are hottest now, or that were then, wherever they are now.
            const bool then = fig2.hottest == Hottest::two_of_settled;
            const auto chosen = hottest(then ? at_settled[at] : loads[at], count_of(fig2.hottest));
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
    Declaration<Fig2> fig2(
        {.id = "lazarus/fig2",
         .title = "Share of the tokens that the hottest experts get",
         .source = "arXiv 2407.04656v2, section 2, Fig. 2",
         .says =
             "Of the 16 most loaded experts of a layer, what the 1, 2, 4 and 8 hottest get at each "
             "iteration, the edges of the paper's stacked shares; and what those two get later "
             "that were hottest at iteration 201, which shows the drift. Four of the trace's first "
             "twelve layers are drawn; the largest shares are over all twelve. The paper does not "
             "say which layers it shows, nor from which iteration on: while the gates settle, "
             "before iteration 200, all tokens of a layer may go to two experts, so `most` begins "
             "there.",
         .metrics = {{.name = "share",
                      .unit = "fraction",
                      .says = "of the layer's tokens",
                      .deterministic = true,
                      .labels = {"layer", "iteration"}},
                     {.name = "most",
                      .unit = "fraction",
                      .says = "the largest share, in any layer from iteration 201 on",
                      .deterministic = true},
                     {.name = "most_from_start",
                      .unit = "fraction",
                      .says = "the same from iteration 1 on",
                      .deterministic = true}},
         .profiles = exact_profiles(0.3),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "share",
                    .x = "iteration",
                    .panels = {"trace", "layer"},
                    .x_title = "iteration",
                    .y_title = "share of the tokens"}});
    fig2.axis("trace", &Fig2::trace, "routing trace", {"smartmoe", "synthetic"});
    fig2.variants(&Fig2::hottest);
    fig2.given(&Fig2::seed, &SampleSpec::seed);
    fig2.unsupported([](const Fig2& fig2) { return missing_trace(fig2.trace); });
    fig2.inputs([](const Fig2& fig2) { return trace_inputs(fig2.trace); });
    return fig2.runs(run);
}

}  // namespace assay::lazarus
