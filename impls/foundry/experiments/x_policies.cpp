// What each way to restore graphs costs over a server's life: until it is ready, and at launches
// afterwards. Simulated by the paper's costs at both ends of what is known of them.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "impls/foundry/experiments/decode_families.hpp"
#include "impls/foundry/experiments/experiments.hpp"
#include "impls/foundry/experiments/paper_costs.hpp"
#include "impls/foundry/method/graphs/grouping.hpp"
#include "impls/foundry/method/loader/executables.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::foundry {
namespace {

/// How batch sizes of launches follow each other: most are as the one before and change a little;
/// or each is drawn from all.
enum class Load { steady, mixed };
ASSAY_NAMES(Load, steady, mixed)

struct XPolicies {
    int graphs = 512, launches = 10000;
    Load load{};
    Mode mode{};
    std::uint64_t seed = 1;
};

struct Found : Metrics {
    using Metrics::Metrics;
    Metric ready_s =
        exact("ready_s", "s", "until ready; least and most over the ends", lower, {"end"});
    Metric later_s =
        exact("later_s", "s", "paid at launches after that; least and most", lower, {"end"});
    Metric total_s = exact("total_s", "s", "both; least and most", lower, {"end"});
    Metric executables = exact("executables", "count", "instantiated until the end", lower);
    Metric updates = exact("updates", "count", "launches that had to update an executable", lower);
    Metric launches_updated = exact("launches_updated", "share",
                                    "launches of an executable that was ever updated: those that a "
                                    "driver may run slower (foundry/x_penalty)",
                                    lower);
};

/// Batch sizes are as far apart as fits: a server that captures fewer graphs pads to the next.
std::vector<Graph> graphs_of(int count) {
    const DecodeFamily family = family_of(Choices::all, 1);
    std::vector<Graph> graphs;
    for (int i = 1; i <= count; ++i)
        graphs.push_back(family.graph(std::max(1, i * paper_graphs / count)));
    return graphs;
}

std::vector<std::size_t> groups_of(const std::vector<Graph>& graphs, Mode mode) {
    std::map<std::string, std::size_t> groups;
    std::vector<std::size_t> group_of;
    for (const Graph& graph : graphs)
        group_of.push_back(
            groups
                .try_emplace(mode == Mode::dedup ? kernel_signature(graph) : strong_key(graph),
                             groups.size())
                .first->second);
    return group_of;
}

std::vector<std::size_t> launches(const XPolicies& settings) {
    std::mt19937_64 random(settings.seed);
    const auto last = static_cast<std::int64_t>(settings.graphs) - 1;
    std::vector<std::size_t> launched;
    auto at = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(settings.graphs));
    for (int i = 0; i < settings.launches; ++i) {
        if (settings.load == Load::mixed)
            at = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(settings.graphs));
        else if (random() % 10 == 0)  // a sequence joined or ended
            at = std::clamp(at + (random() % 2 == 0 ? 1 : -1), std::int64_t{0}, last);
        launched.push_back(static_cast<std::size_t>(at));
    }
    return launched;
}

/// How often each is done before a server is ready, and at launches afterwards.
struct Course {
    std::array<std::int64_t, names_of(Make()).size()> before{}, later{};
    std::int64_t only_captured = 0, prepared = 0, of_updated = 0;
    std::size_t instantiated = 0;
};

Course course_of(const XPolicies& settings) {
    const auto group_of = groups_of(graphs_of(settings.graphs), settings.mode);
    Executables executables(settings.mode, group_of);
    Course course;
    for (const auto& [graph, make] : executables.before_ready()) {
        ++course.before[static_cast<std::size_t>(make)];
        executables.made(graph, make);
    }
    if (settings.mode == Mode::dedup)
        course.only_captured =
            settings.graphs - static_cast<std::int64_t>(executables.instantiated());
    if (restores(settings.mode) && settings.mode != Mode::no_templates)
        for (std::size_t graph = 0; graph < group_of.size(); ++graph)
            course.prepared += !executables.is_template(graph);
    std::vector<bool> updated(group_of.size());  // by group
    for (const std::size_t graph : launches(settings)) {
        const Make make = executables.next(graph);
        ++course.later[static_cast<std::size_t>(make)];
        if (make == Make::update) updated[group_of[graph]] = true;
        if (shares(settings.mode)) course.of_updated += updated[group_of[graph]];
        executables.made(graph, make);
    }
    course.instantiated = executables.instantiated();
    return course;
}

struct Spent {
    double ready_s = 0, later_s = 0;
};
Spent spent(const Course& course, const Costs& costs) {
    Spent result;
    for (const auto& [make, word] : names_of(Make())) {
        const auto at = static_cast<std::size_t>(make);
        result.ready_s += static_cast<double>(course.before[at]) * seconds(make, costs);
        result.later_s += static_cast<double>(course.later[at]) * seconds(make, costs);
    }
    const double preparing = std::ceil(static_cast<double>(course.prepared) / costs.threads);
    result.ready_s =
        std::max(result.ready_s, preparing * costs.prepare) +
        static_cast<double>(course.only_captured) * (costs.capture - costs.instantiate);
    if (course.before[static_cast<std::size_t>(Make::build)] > 0) result.ready_s += costs.images;
    return result;
}

void run(const XPolicies& settings, Recorder& recorder) {
    const Found found(recorder);
    const Course course = course_of(settings);
    Spent least{1e300, 1e300}, most;
    double least_total = 1e300, most_total = 0;
    for (const PaperChoice& choice : paper_choices(PaperModel::qwen3_14b, 8)) {
        const Spent one = spent(course, choice.costs);
        least = {std::min(least.ready_s, one.ready_s), std::min(least.later_s, one.later_s)};
        most = {std::max(most.ready_s, one.ready_s), std::max(most.later_s, one.later_s)};
        least_total = std::min(least_total, one.ready_s + one.later_s);
        most_total = std::max(most_total, one.ready_s + one.later_s);
    }
    const auto record = [](const Metric& metric, double low, double high) {
        metric(low, {{"end", std::string("least")}});
        metric(high, {{"end", std::string("most")}});
    };
    record(found.ready_s, least.ready_s, most.ready_s);
    record(found.later_s, least.later_s, most.later_s);
    record(found.total_s, least_total, most_total);
    found.executables(course.instantiated);
    found.updates(course.later[static_cast<std::size_t>(Make::update)]);
    found.launches_updated(static_cast<double>(course.of_updated) / settings.launches);
}

}  // namespace

Experiment x_policies() {
    Declaration<XPolicies> x_policies(
        {.id = "foundry/x_policies",
         .title = "What each way to restore graphs costs over a server's life",
         .source = "arXiv 2604.06664v1 and its public code; our own addition",
         .says =
             "A server restores graphs of 8 to 512 batch sizes and launches ten thousand steps, "
             "in virtual time. Costs are the paper's ends (foundry/coldstart, Qwen3-14B), "
             "groups those of a made-up family. steady: a tenth of the launches has one "
             "sequence more or fewer than the one before. mixed: each batch size is drawn. "
             "What runs slower after an update is counted, not charged. eager has no graphs, "
             "relocate and r2 no published costs: they are left out.",
         .metrics = declared<Found>(),
         .profiles = {{.profile = Profile::paper,
                       .provenances = {Provenance::simulated},
                       .rounds = 3,
                       .seconds_per_sample = 0.1}},
         .figure = {.metric = "total_s",
                    .x = "graphs",
                    .panels = {"load", "end"},
                    .x_title = "graphs (batch sizes up to 512)",
                    .y_title = "seconds for graphs, over 10,000 launches",
                    .log_y = true}});
    x_policies.axis("graphs", &XPolicies::graphs, "batch sizes with a graph",
                    {8, 16, 32, 64, 128, 256, 512}, between(1, 512));
    x_policies.axis("launches", &XPolicies::launches, "steps after the server is ready", {10000},
                    between(1, 1'000'000));
    x_policies.axis("load", &XPolicies::load, "how batch sizes follow each other");
    x_policies.variants(&XPolicies::mode, {Mode::capture, Mode::lazy_capture, Mode::no_templates,
                                           Mode::r1, Mode::r3_lazy, Mode::r3_eager, Mode::dedup});
    x_policies.given(&XPolicies::seed, &SampleSpec::seed);
    x_policies.calibration(
        [](const XPolicies&) { return paper_costs_json(PaperModel::qwen3_14b, 8); });
    return x_policies.runs(run);
}

}  // namespace assay::foundry
