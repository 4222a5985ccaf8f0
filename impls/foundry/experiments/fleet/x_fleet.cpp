// What the start of servers does to the time to first token of a fleet that grows in a burst and
// loses servers. Simulated by the paper's costs at both ends of what is known of them.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "impls/foundry/campaign/draw.hpp"
#include "impls/foundry/experiments/experiments.hpp"
#include "impls/foundry/experiments/fleet/fleet_run.hpp"
#include "impls/foundry/experiments/paper_costs.hpp"
#include "impls/foundry/method/loader/server.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/metrics.hpp"
#include "suite/measure/statistics/quantile.hpp"
#include "suite/scenario/training_faults.hpp"

namespace assay::foundry {
namespace {

// Servers of the first minutes are warm when the burst comes.
constexpr double quiet_from_s = 180, burst_from_s = 240, burst_lasts_s = 60, ends_s = 480;
constexpr int servers = 4, most_more = 8, threads = 8;
constexpr double base_per_s = 15, patience_s = 1, detect_s = 1;
// A token's median time with graphs and without (foundry/x_recovery/token); a request has its share
// of a batch, which is two steps: 128 tokens beside 63 other sequences, say.
constexpr double steps = 2, with_graphs_s = steps * 19.4e-3, eager_s = steps * 99.4e-3;

struct XFleet {
    int burst_per_s = 240, kills = 0, graphs = 512;
    GraphCosts costs{};
    int other_s = 32, spares = 0, largest_batch = 512;
    Mode mode{};
    std::uint64_t seed = 1;
    FaultPlan given;
};

struct Found : Metrics {
    using Metrics::Metrics;
    Metric ttft_p50_s = exact("ttft_p50_s", "s",
                              "from a request's arrival to its first token, median of those that "
                              "come from the burst's begin on",
                              lower);
    Metric ttft_p99_s = exact("ttft_p99_s", "s", "the same, 99th percentile", lower);
    Metric served = exact("served", "count", "requests served, each once");
    Metric struck = exact("struck", "count", "faults that struck");
    Metric started = exact("started", "count", "servers started beside the first ones");
    Metric start_s =
        exact("start_s", "s", "from spawning one of them until it serves, median", lower);
    Metric starting_gpu_s = exact("starting_gpu_s", "s", "that they spent starting, in sum", lower);
    Metric gpu_s =
        exact("gpu_s", "s", "of all servers from the burst's begin to the last request", lower);
};

/// A Poisson process.
void arrive(Draw& draw, double per_s, double from_s, double until_s,
            std::vector<double>& arrivals_s) {
    for (double at_s = from_s; per_s > 0;) {
        at_s -= std::log1p(-draw.seconds(1)) / per_s;
        if (at_s >= until_s) return;
        arrivals_s.push_back(at_s);
    }
}

FleetSetup setup_of(const XFleet& settings) {
    Draw draw(settings.seed);
    FleetSetup setup;
    arrive(draw, base_per_s, quiet_from_s, ends_s, setup.arrivals_s);
    arrive(draw, settings.burst_per_s, burst_from_s, burst_from_s + burst_lasts_s,
           setup.arrivals_s);
    std::ranges::sort(setup.arrivals_s);
    Draw draw_batch(settings.seed + (std::uint64_t{1} << 32));
    const auto graphs = static_cast<std::uint64_t>(settings.graphs);
    for (std::size_t i = 0; i < setup.arrivals_s.size(); ++i)  // padded to the next graph
        setup.loader.requests.push_back(
            draw_batch.below(static_cast<std::uint64_t>(settings.largest_batch)) * graphs /
            paper_graphs);

    const auto choices = paper_choices(PaperModel::qwen3_14b, threads);
    const PaperChoice& choice =
        settings.costs == GraphCosts::least ? choices.front() : choices.back();
    setup.costs = choice.costs;
    const auto groups = std::min(graphs, static_cast<std::uint64_t>(choice.templates));
    for (std::uint64_t graph = 0; graph < graphs; ++graph)
        setup.group_of.push_back(graph * groups / graphs);

    setup.loader.mode = settings.mode;
    setup.loader.servers = servers + settings.spares;
    setup.loader.restarts = 1000;
    setup.loader.growth = most_more;
    setup.loader.patience_s = patience_s;
    setup.rest_s = settings.other_s;
    setup.detect_s = detect_s;
    setup.request_s = settings.mode == Mode::eager ? eager_s : with_graphs_s;
    setup.faults = settings.given;
    Draw draw_kill(settings.seed + (std::uint64_t{2} << 32));
    for (int rank = 0; rank < settings.kills; ++rank) {
        Fault& kill = setup.faults.faults.emplace_back();
        kill.role = "server";
        kill.rank = rank;
        kill.t_s = burst_from_s + draw_kill.seconds(burst_lasts_s);
    }
    return setup;
}

void run(const XFleet& settings, Recorder& recorder) {
    const Found found(recorder);
    const FleetSetup setup = setup_of(settings);
    const FleetCourse course = run_fleet(setup);
    std::vector<double> ttft_s, start_s;
    for (std::size_t i = 0; i < setup.arrivals_s.size(); ++i)
        if (setup.arrivals_s[i] >= burst_from_s)
            ttft_s.push_back(course.served_s[i] - setup.arrivals_s[i]);
    double starting_s = 0, gpu_s = 0;
    for (std::size_t i = 0; i < course.servers.size(); ++i) {
        const FleetCourse::Server& server = course.servers[i];
        gpu_s += std::max(0.0, server.ended_s - std::max(server.spawned_s, burst_from_s));
        if (i < static_cast<std::size_t>(setup.loader.servers)) continue;
        starting_s += std::min(server.ready_s, server.ended_s) - server.spawned_s;
        if (server.ready_s < FleetCourse::never)
            start_s.push_back(server.ready_s - server.spawned_s);
    }
    found.ttft_p50_s(statistics::quantile(ttft_s, 0.5));
    found.ttft_p99_s(statistics::quantile(ttft_s, 0.99));
    found.served(course.served_s.size());
    found.struck(course.struck);
    found.started(course.servers.size() - static_cast<std::size_t>(setup.loader.servers));
    if (!start_s.empty()) found.start_s(statistics::median(start_s));
    found.starting_gpu_s(starting_s);
    found.gpu_s(gpu_s);
}

}  // namespace

Experiment x_fleet() {
    Declaration<XFleet> x_fleet(
        {.id = "foundry/x_fleet",
         .title = "Time to first token of a fleet that grows and loses servers",
         .source = "arXiv 2604.06664v1 and its public code; our own addition",
         .says =
             "Four servers and eight more at most: one is started for each request that has "
             "waited for a second, and one for each that was killed, once that is known after a "
             "second; none is given back. The loader of foundry/tokens decides, in virtual "
             "time. A start is other_s (an assumption: no published number is that alone) and "
             "the graphs, by Qwen3-14B's costs at the least and the most of what is known of "
             "them. Requests come at random, 15 a second and more for a minute; the numbers are "
             "of those from that minute on. A request holds its server for two steps, its share "
             "of a batch, of 19.4 ms, or of 99.4 without graphs: the demonstration's times of a "
             "token, assumed here for every batch. Batch sizes are drawn evenly, the worst for "
             "updates (at most one a request) and for lazy capture; padding to fewer graphs "
             "costs nothing, which favours few. Found, by 5 seeds: with 512 graphs and 240 "
             "requests a second more, capture's p99 is 1.8 to 9.6 times r1's over all cases (95 "
             "% intervals from 1.82 to 9.71), with 64 graphs 1.08 to 1.8 times (1.07 to 1.89). "
             "Where 480 a second more keep all twelve busy, capture of 64 graphs is within 9 % "
             "of r1, and no_templates beats r1 by 1 to 5 %, for updates take longer than they "
             "saved. By other_s = 32, capture of 512 graphs has r1's p99 with three or four "
             "spare servers, capture of 64 with one or two. Servers without graphs start as "
             "soon as any, and have more than twice capture's p99, by the speed assumed.",
         .metrics = declared<Found>(),
         .profiles = {{.profile = Profile::toy,
                       .provenances = {Provenance::simulated},
                       .axes = {{"burst_per_s", {std::int64_t{120}}},
                                {"kills", {std::int64_t{2}}},
                                {"costs", {std::string("most")}},
                                {"other_s", {std::int64_t{32}}}},
                       .seconds_per_sample = 0.05},
                      {.profile = Profile::paper,
                       .provenances = {Provenance::simulated},
                       .rounds = 5,
                       .seconds_per_sample = 0.05}},
         .figure = {.metric = "ttft_p99_s",
                    .x = "graphs",
                    .panels = {"costs", "other_s", "kills"},
                    .x_title = "graphs (batch sizes up to 512)",
                    .y_title = "p99 time to first token, s",
                    .log_y = true},
         .takes_faults = true});
    x_fleet.axis("burst_per_s", &XFleet::burst_per_s, "requests a second more, for a minute", {240},
                 between(0, 2000));
    x_fleet.axis("kills", &XFleet::kills,
                 "of the first servers, some time in that minute; --fault adds others", {0, 2},
                 between(0, servers));
    x_fleet.axis("graphs", &XFleet::graphs, "batch sizes with a graph; others are padded",
                 {64, 512}, between(1, paper_graphs));
    x_fleet.axis("costs", &XFleet::costs, "which end of the paper's costs");
    x_fleet.axis("other_s", &XFleet::other_s,
                 "seconds of a start beside graphs: 10, the paper's bound of its environment; 32, "
                 "the demonstration's launch without graphs",
                 {10, 32}, between(0, 60));
    x_fleet.axis("spares", &XFleet::spares, "servers more than four, there from the beginning", {0},
                 between(0, 64));
    x_fleet.axis("largest_batch", &XFleet::largest_batch, "batch sizes are drawn from 1 to this",
                 {512}, between(1, paper_graphs));
    x_fleet.variants(&XFleet::mode,
                     {Mode::capture, Mode::eager, Mode::lazy_capture, Mode::no_templates, Mode::r1,
                      Mode::r3_lazy, Mode::r3_eager, Mode::dedup});
    x_fleet.given(&XFleet::seed, &SampleSpec::seed);
    x_fleet.given(&XFleet::given, fault_plan_with(fault_phases()));
    x_fleet.calibration([](const XFleet&) {
        nlohmann::json taken = paper_costs_json(PaperModel::qwen3_14b, threads);
        taken["request_s"] = {{"graphs", with_graphs_s}, {"eager", eager_s}};
        taken["base_per_s"] = base_per_s;
        taken["servers"] = servers;
        taken["most_more"] = most_more;
        taken["patience_s"] = patience_s;
        taken["detect_s"] = detect_s;
        taken["fitted_from"].push_back("foundry/x_recovery/token");
        return taken;
    });
    return x_fleet.runs(run);
}

}  // namespace assay::foundry
