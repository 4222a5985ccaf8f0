// Which changes of a graph a topology key overlooks: graphs that it puts under one template
// although an update would not make the one of the other.
#include "impls/foundry/experiments/experiments.hpp"
#include "impls/foundry/method/graphs/decode_family.hpp"
#include "impls/foundry/method/graphs/grouping.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/exact_profiles.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::foundry {
namespace {

struct XKeys {
    Change change{};
    int graphs = 64;
    Key key{};
};

struct Found : Metrics {
    using Metrics::Metrics;
    Metric groups = exact("groups", "count", "templates");
    Metric topologies = exact("topologies", "count", "that the graphs really have");
    Metric merged_wrongly = exact("merged_wrongly", "share",
                                  "members whose template an update cannot turn into them", lower);
};

void run(const XKeys& x_keys, Recorder& recorder) {
    const DecodeFamily family{
        .layers = 2,
        .rules = {{x_keys.change, x_keys.graphs / 4 + 1}, {x_keys.change, x_keys.graphs / 2 + 1}}};
    const Grouping grouping =
        group(family.graphs(x_keys.graphs), x_keys.key, TemplateChoice::first);
    const Found found(recorder);
    found.groups(grouping.templates.size());
    found.topologies(family.groups(x_keys.graphs, Key::strong));
    found.merged_wrongly(static_cast<double>(grouping.mixed) /
                         static_cast<double>(grouping.members.size()));
}

}  // namespace

Experiment x_keys() {
    Declaration<XKeys> x_keys(
        {.id = "foundry/x_keys",
         .title = "What topology keys overlook",
         .source = "arXiv 2604.06664v1 and its public code; our own addition",
         .says = "Of the batch sizes, a quarter are launched otherwise than the rest, in one "
                 "respect. A "
                 "key that does not see it gives them a template that an update cannot turn into "
                 "them: node attributes and edges are not carried over, so they would run with the "
                 "template's. What comes of that in tokens, foundry/x_detect tells.",
         .metrics = declared<Found>(),
         .profiles = exact_profiles(0.05),
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "merged_wrongly",
                    .x = "change",
                    .x_title = "in what they differ",
                    .y_title = "share of members with a wrong template"}});
    x_keys.axis("change", &XKeys::change, "in what a quarter of the graphs differ");
    x_keys.axis("graphs", &XKeys::graphs, "batch sizes", {64}, between(8, 4096));
    x_keys.variants(&XKeys::key);
    return x_keys.runs(run);
}

}  // namespace assay::foundry
