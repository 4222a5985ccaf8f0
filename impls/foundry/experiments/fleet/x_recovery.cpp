// A deployment that loses three of four nodes and gets them back: the demonstration of Foundry's
// repository (specification 4.5), simulated by its own launch.
#include <algorithm>
#include <string>
#include <vector>

#include "impls/foundry/experiments/experiments.hpp"
#include "impls/foundry/experiments/fleet/fleet_run.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::foundry {
namespace {

enum class Graphs { no_graphs, captured, restored };
ASSAY_NAMES(Graphs, no_graphs, captured, restored)

// Of foundry/x_recovery/serving: what the launch takes without graphs, and what graphs add to it.
constexpr double launch_s = 32, capturing_s = 99 - launch_s, restoring_s = 37 - launch_s;
constexpr int nodes = 4;
constexpr double killed_s = 330, rebooted_s = killed_s + 120, detect_s = 1;
// Of a request, so that a run has thousands of them; more than the slowest recovery leaves waiting.
constexpr int tokens = 50, requests = 3000;
constexpr double counted_s = 600;

struct XRecovery {
    int not_repeated_s = 0;
    Graphs graphs{};
};

struct Found : Metrics {
    using Metrics::Metrics;
    Metric serving_s = exact("serving_s", "s", "from launch until all four nodes serve", lower);
    Metric recovered_s =
        exact("recovered_s", "s", "from the three nodes' reboot until they serve", lower);
    Metric served_per_s =
        exact("served_per_s", "requests/s",
              "of requests that never run out: before the kill, in the outage, after it", higher,
              {"phase"});
    Metric served_600_s =
        exact("served_600_s", "requests", "of those, within 600 s of the launch", higher);
};

/// A token's median time in seconds, with all nodes and with one (foundry/x_recovery/token).
struct TokenTimes {
    double all_s = 0, one_s = 0;
};
TokenTimes token_times(Graphs graphs) {
    switch (graphs) {
        case Graphs::no_graphs:
            return {99.4e-3, 95.0e-3};
        case Graphs::captured:
            return {19.4e-3, 28.5e-3};
        case Graphs::restored:
            break;
    }
    return {19.4e-3, 28.7e-3};
}

FleetSetup setup_of(const XRecovery& settings) {
    FleetSetup setup;
    setup.group_of = {0};  // all graphs as one
    setup.costs = {.capture = capturing_s, .images = restoring_s};
    setup.loader.mode = settings.graphs == Graphs::no_graphs  ? Mode::eager
                        : settings.graphs == Graphs::captured ? Mode::capture
                                                              : Mode::r3_eager;
    setup.loader.servers = nodes;
    const TokenTimes times = token_times(settings.graphs);
    setup.loader.requests.assign(requests, 0);
    setup.arrivals_s.assign(requests, 0);
    setup.request_s = tokens * times.all_s;
    setup.short_request_s = tokens * times.one_s;
    setup.rest_s = launch_s;
    setup.not_repeated_s = settings.not_repeated_s;
    setup.detect_s = detect_s;
    setup.boot_s = rebooted_s - killed_s - detect_s;
    for (int rank = 1; rank < nodes; ++rank) {
        Fault& kill = setup.faults.faults.emplace_back();
        kill.role = "server";
        kill.rank = rank;
        kill.t_s = killed_s;
    }
    return setup;
}

void run(const XRecovery& settings, Recorder& recorder) {
    const Found found(recorder);
    const FleetCourse course = run_fleet(setup_of(settings));
    double serving_s = 0, recovered_s = 0;
    for (std::size_t i = 0; i < course.servers.size(); ++i) {
        double& latest_s = i < nodes ? serving_s : recovered_s;
        latest_s = std::max(latest_s, course.servers[i].ready_s);
    }
    found.serving_s(serving_s);
    found.recovered_s(recovered_s - rebooted_s);
    const auto rate = [&](double from_s, double until_s, const char* phase) {
        const auto served = std::ranges::count_if(
            course.served_s, [&](double at_s) { return from_s < at_s && at_s <= until_s; });
        found.served_per_s(static_cast<double>(served) / (until_s - from_s),
                           {{"phase", std::string(phase)}});
    };
    rate(serving_s, killed_s, "before");
    rate(killed_s, recovered_s, "outage");
    rate(recovered_s, course.ended_s, "after");
    found.served_600_s(
        std::ranges::count_if(course.served_s, [](double at_s) { return at_s <= counted_s; }));
}

ProfilePlan plan(Profile profile) {
    return {.profile = profile, .provenances = {Provenance::simulated}, .seconds_per_sample = 0.02};
}

}  // namespace

Experiment x_recovery() {
    Declaration<XRecovery> x_recovery(
        {.id = "foundry/x_recovery",
         .title = "A deployment that loses three of four nodes and gets them back",
         .source = "foundry-org/foundry, recipe/sglang/elastic_ep_demo",
         .says =
             "Qwen3-30B-A3B-FP8 on four nodes of two GPUs: three are killed 330 s after the "
             "launch, which is known a second later, boot again 120 s after the kill, and start "
             "anew; the loader decides, in virtual time. The launch is an input: 32 s without "
             "graphs, 67 more with captured, 5 more with restored ones. The recovery follows "
             "from it: a reboot that repeats the launch takes 32, 99 and 37 s, where the "
             "demonstration had 23, 91 and 30 (39, 9 and 23 % too long). With the 9 s by which "
             "its recovery without graphs is shorter taken off each, it is 90 and 28 s with "
             "graphs, 1 and 2 s too short: what recovery saves is the launch's, and all graphs "
             "are captured or restored again. A token's times, with one node, too, are inputs; "
             "served_per_s is of as many requests as nodes can serve, 50 tokens each, since the "
             "demonstration's load is not known.",
         .metrics = declared<Found>(),
         .profiles = {plan(Profile::toy), plan(Profile::paper)},
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "recovered_s",
                    .x = "not_repeated_s",
                    .x_title = "seconds of the launch that a reboot does not repeat",
                    .y_title = "seconds from reboot until recovered"}});
    x_recovery.axis("not_repeated_s", &XRecovery::not_repeated_s,
                    "of a launch's 32 s: what nodes that boot again need not do", {0, 9},
                    between(0, 32));
    x_recovery.variants(&XRecovery::graphs);
    x_recovery.calibration([](const XRecovery& settings) {
        nlohmann::json from = {"foundry/x_recovery/serving", "foundry/x_recovery/token"};
        if (settings.not_repeated_s > 0) from.push_back("foundry/x_recovery/recovered");
        return nlohmann::json{{"launch_s", launch_s},
                              {"capturing_s", capturing_s},
                              {"restoring_s", restoring_s},
                              {"fitted_from", from}};
    });
    return x_recovery.runs(run);
}

}  // namespace assay::foundry
