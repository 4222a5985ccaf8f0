// Whether an executable that was updated is slower than one made for what it computes, from how
// many nodes on, and which other way of making it launchable is not (specification 3.9, P6).
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "impls/foundry/chain/chain.hpp"
#include "impls/foundry/driver/fake/control.hpp"
#include "impls/foundry/experiments/live/live_experiments.hpp"
#include "impls/foundry/experiments/live/on_driver.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/metrics.hpp"
#include "suite/measure/statistics/quantile.hpp"

namespace assay::foundry {
namespace {

/// How the executable of member b was made: for itself; of member a's, updated as a whole or node
/// by node; of member a's graph, rewritten and instantiated.
enum class Way { fresh, updated, written, own };
ASSAY_NAMES(Way, fresh, updated, written, own)

struct XPenalty : OnDriver {  // without its axes: the step is a chain here
    Way way{};
    int nodes = 64;
    double changed = 1;
    int update_penalty_ns = 0;
    int turns = 25, launches = 20;
};

struct Found : Metrics {
    using Metrics::Metrics;
    Metric over_fresh = timed("over_fresh", "ratio", "of a launch over one of a fresh executable");
    Metric launch_us = timed("launch_us", "us", "median of a launch", lower);
    Metric node_us = timed("node_us", "us", "by which it is longer, for each node changed");
    Metric make_us = metric({.name = "make_us",
                             .unit = "us",
                             .says = "of the host, to make it launchable, once",
                             .better = lower,
                             .only = {Provenance::measured}});

  private:
    Metric timed(const char* name, const char* unit, const char* says, Direction better = none) {
        return metric({.name = name,
                       .unit = unit,
                       .says = says,
                       .better = better,
                       .deterministic = true,
                       .varies = {Provenance::measured}});
    }
};

/// The fake driver with a quirk, until the sample ends and nothing of it is left.
class FakeQuirk {
  public:
    FakeQuirk(const Driver& driver, std::int64_t update_penalty_ns) {
        if (!fake::FakeControl::is_fake(driver)) return;
        control_.emplace(driver);
        control_->set("update_penalty_ns", update_penalty_ns);
    }
    ~FakeQuirk() {
        if (control_) control_->reset();
    }
    FakeQuirk(const FakeQuirk&) = delete;
    FakeQuirk& operator=(const FakeQuirk&) = delete;

  private:
    std::optional<fake::FakeControl> control_;
};

/// An executable of member b, and the graph that it was made of.
struct Launchable {
    Launchable(Way way, const Driver& driver, const Chain& chain)
        : graph(chain.build(way == Way::fresh ? Member::b : Member::a)) {
        const Graph a = chain.graph(Member::a), b = chain.graph(Member::b);
        const bool of_a = way == Way::updated || way == Way::written;
        if (of_a) executable = Executable(driver, graph.get());
        const auto begin = std::chrono::steady_clock::now();
        std::string why;
        if (way == Way::written)
            graph.write_nodes(a, b, executable);
        else if (way != Way::fresh)
            graph.rewrite(b);
        if (way == Way::updated) why = executable.update(graph.get());
        if (!of_a) executable = Executable(driver, graph.get());
        const std::chrono::duration<double, std::micro> took =
            std::chrono::steady_clock::now() - begin;
        if (!why.empty()) throw SampleError(SampleStatus::failed, why);
        if (chain.run(executable) != chain.expected(Member::b))
            throw SampleError(SampleStatus::failed, "an executable that is " +
                                                        std::string(to_string(way)) +
                                                        " computes something else");
        make_us = took.count();
    }

    BuiltGraph graph;
    Executable executable;
    double make_us = 0;
};

void run(const XPenalty& settings, Recorder& recorder) {
    const auto driver = open_chain_driver(settings.engine().driver);
    const FakeQuirk quirk(*driver, settings.update_penalty_ns);
    const Device device(driver);
    const Chain chain(
        device, {.nodes = settings.nodes, .changed = settings.changed, .seed = settings.seed});
    const Launchable fresh(Way::fresh, *driver, chain), one(settings.way, *driver, chain);
    std::vector<double> times, over, longer;
    // In turns, since clocks drift; the first one is a warm-up.
    for (int turn = 0; turn <= settings.turns; ++turn) {
        double us[2];
        for (const int which : {turn % 2, 1 - turn % 2})
            us[which] = chain.launch_us((which == 0 ? fresh : one).executable, settings.launches);
        if (turn == 0) continue;
        times.push_back(us[1]);
        over.push_back(us[1] / us[0]);
        longer.push_back((us[1] - us[0]) / std::max(1, chain.changed_nodes()));
    }
    const Found found(recorder);
    found.over_fresh(statistics::median(over));
    found.launch_us(statistics::median(times));
    found.node_us(statistics::median(longer));
    if (!settings.is_fake()) found.make_us(one.make_us);
}

}  // namespace

Experiment x_penalty() {
    std::vector<ProfilePlan> profiles = driver_profiles(0.3);
    for (ProfilePlan& plan : profiles) {
        if (plan.profile == Profile::gpu) {
            plan.rounds = 3;
            plan.seconds_per_sample = 2;
            plan.axes["update_penalty_ns"] = {};  // a GPU has the one that it has
        } else {                                  // the same each time
            plan.axes["turns"] = plan.axes["launches"] = {std::int64_t{1}};
        }
    }
    profiles.front().axes["nodes"] = {std::int64_t{128}, std::int64_t{129}, std::int64_t{365}};
    Declaration<XPenalty> x_penalty(
        {.id = "foundry/x_penalty",
         .title = "Whether an updated executable is slower, and from how many nodes on",
         .source = "foundry-org/foundry, docs/exec-update-penalty.md",
         .says = "A chain of small kernels is launched by an executable made for it and by one "
                 "that was made of it another way, in turns: updated as a whole, written node by "
                 "node, or instantiated of a rewritten template. What each computes is checked. On "
                 "the fake driver this replays what was put in: update_penalty_ns is what its "
                 "virtual clock adds for each updated node of more than 128, and without it there "
                 "is nothing to be seen. What a driver does only a GPU tells.",
         .metrics = declared<Found>(),
         .profiles = profiles,
         .figure = {.metric = "over_fresh",
                    .x = "nodes",
                    .panels = {"changed", "update_penalty_ns"},
                    .x_title = "nodes",
                    .y_title = "time of a launch over a fresh executable's"}});
    x_penalty.axis("nodes", &XPenalty::nodes, "of the chain", {64, 128, 129, 256, 365, 1000},
                   between(1, 10'000));
    x_penalty.axis("changed", &XPenalty::changed, "share of the nodes that differ", {0.25, 1},
                   between(0, 1));
    x_penalty.axis("update_penalty_ns", &XPenalty::update_penalty_ns,
                   "the fake driver's quirk: ns for each updated node", {0, 100},
                   between(0, 1'000'000));
    x_penalty.axis("turns", &XPenalty::turns, "with each executable", between(1, 10'000));
    x_penalty.axis("launches", &XPenalty::launches, "in a turn", between(1, 10'000));
    x_penalty.variants(&XPenalty::way);
    x_penalty.given(&XPenalty::seed, &SampleSpec::seed);
    x_penalty.given(&XPenalty::profile, &SampleSpec::profile);
    x_penalty.check([](const XPenalty& settings) {
        if (!settings.is_fake() && settings.update_penalty_ns != 0)
            throw UserError(
                "update_penalty_ns is a quirk of the fake driver; at profile gpu the "
                "driver has its own: leave the axis out");
    });
    x_penalty.unsupported([](const XPenalty& settings) { return lacks_driver(settings); });
    return x_penalty.runs(run);
}

}  // namespace assay::foundry
