// Fig. 10: what it costs to make one graph launchable, each way.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "impls/foundry/experiments/live/live_experiments.hpp"
#include "impls/foundry/experiments/live/on_driver.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/metrics.hpp"
#include "suite/measure/statistics/quantile.hpp"

namespace assay::foundry {
namespace {

/// prepare: a member's parameters out of an archive, without the driver. write_nodes: an update
/// node by node.
enum class Way { prepare, capture, build, own, update, write_nodes };
ASSAY_NAMES(Way, prepare, capture, build, own, update, write_nodes)

struct Fig10 : OnDriver {
    Way way{};
    int repeats = 30;
};

struct Found : Metrics {
    using Metrics::Metrics;
    Metric graph_ms = varying("graph_ms", "ms", "median for one graph", lower);
    Metric nodes = exact("nodes", "count", "of the largest graph");
};

using Clock = std::chrono::steady_clock;
template <class Work>
double milliseconds(Work work) {
    const auto begin = Clock::now();
    work();
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

void must(const std::string& why) {
    if (!why.empty()) throw SampleError(SampleStatus::failed, why);
}

std::vector<double> preparing(const Fig10& fig10, const Archive& archive) {
    std::vector<double> times;
    PreparedGraph prepared;
    for (int repeat = 0; repeat < fig10.repeats; ++repeat)
        for (std::size_t graph = 0; graph < archive.graphs().size(); ++graph)
            times.push_back(milliseconds([&] { archive.graphs().prepare(graph, prepared); }));
    return times;
}

/// The mode in which a graph is made that way at its launch.
Mode mode_of(Way way) {
    switch (way) {
        case Way::capture:
            return Mode::lazy_capture;
        case Way::own:
            return Mode::r3_lazy;
        case Way::update:
            return Mode::r1;
        case Way::write_nodes:
            return Mode::r2;
        case Way::prepare:
        case Way::build:
            break;
    }
    return Mode::no_templates;
}
Make make_of(Way way) {
    return way == Way::capture ? Make::capture
           : way == Way::own   ? Make::own
           : way == Way::build ? Make::build
                               : Make::update;
}

std::vector<double> making(const Fig10& fig10) {
    const auto engine = make_live_engine(fig10.engine());
    must(engine->open({mode_of(fig10.way), {fig10.archive().string()}}));
    const std::vector<std::size_t> groups = engine->group_of();
    const Executables executables(mode_of(fig10.way), groups);
    for (const auto& task : executables.before_ready()) must(engine->make(task));
    const bool of_template = restores(mode_of(fig10.way)) && fig10.way != Way::build;
    std::vector<double> times;
    for (int repeat = 0; repeat < fig10.repeats; ++repeat)
        for (std::size_t graph = 0; graph < groups.size(); ++graph) {
            if (of_template) {
                // A template is its own source.
                if (executables.is_template(graph)) continue;
                // Back to it, untimed: an update to what is there already changes nothing.
                must(engine->make({executables.template_of(graph), make_of(fig10.way)}));
            }
            times.push_back(milliseconds([&] { must(engine->make({graph, make_of(fig10.way)})); }));
        }
    return times;
}

void run(const Fig10& fig10, Recorder& recorder) {
    must(make_live_engine(fig10.engine())->save(fig10.archive().string()));
    const Archive archive(fig10.archive());
    const std::vector<double> times =
        fig10.way == Way::prepare ? preparing(fig10, archive) : making(fig10);
    if (times.empty()) throw SampleError(SampleStatus::unsupported, "no group has a second graph");
    std::size_t nodes = 0;
    for (std::size_t graph = 0; graph < archive.graphs().size(); ++graph)
        nodes = std::max(nodes, archive.graphs().graph(graph).nodes.size());
    const Found found(recorder);
    found.graph_ms(statistics::median(times));
    found.nodes(nodes);
}

}  // namespace

Experiment fig10() {
    const auto measured = [](Profile profile) {
        return ProfilePlan{.profile = profile,
                           .provenances = {Provenance::measured},
                           .rounds = 3,
                           .seconds_per_sample = 0.3};
    };
    ProfilePlan toy = measured(Profile::toy), gpu = measured(Profile::gpu);
    toy.variants = {"prepare"};
    gpu.axes = {{"graphs", {std::int64_t{16}, std::int64_t{128}}},
                {"layers", {std::int64_t{24}, std::int64_t{80}}}};
    Declaration<Fig10> fig10(
        {.id = "foundry/fig10",
         .title = "What making one graph launchable costs",
         .source = "arXiv 2604.06664v1, Fig. 10",
         .says =
             "The toy step's graphs made by capture, node by node, by rewriting a template and "
             "instantiating it, by an update, or an update node by node; and what a member's "
             "parameters cost to prepare. A driver's costs need a GPU: the fake driver's are "
             "of no driver, so that profile toy has the preparation alone. The step is launched "
             "from C++, so that a capture costs less than the paper's, whose engine is in Python; "
             "launch_us adds work of a host.",
         .metrics = declared<Found>(),
         .profiles = {toy, gpu},
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "graph_ms",
                    .x = "graphs",
                    .panels = {"layers"},
                    .x_title = "graphs",
                    .y_title = "ms for one graph",
                    .log_y = true}});
    fig10.part(on_driver());
    fig10.axis("repeats", &Fig10::repeats, "of each graph", between(1, 10'000));
    fig10.variants(&Fig10::way);
    fig10.unsupported([](const Fig10& settings) { return lacks_driver(settings); });
    fig10.check([](const Fig10& settings) {
        if (settings.is_fake() && settings.way != Way::prepare)
            throw UserError("variant " + std::string(to_string(settings.way)) +
                            ": the fake driver's times are of no driver; use --profile gpu");
    });
    return fig10.runs(run);
}

}  // namespace assay::foundry
