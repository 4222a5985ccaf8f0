// Fig. 11: how many of 512 graphs become templates, of families whose number of topologies is known
// beforehand.
#include "impls/foundry/experiments/decode_families.hpp"
#include "impls/foundry/experiments/experiments.hpp"
#include "impls/foundry/method/graphs/grouping.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/exact_profiles.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::foundry {
namespace {

struct Fig11 {
    int graphs = 512, layers = 8;
    Choices choices{};
    Key key{};
};

struct Found : Metrics {
    using Metrics::Metrics;
    Metric templates = exact("templates", "count", "graphs built node by node", lower);
    Metric on_demand = exact("on_demand", "share", "graphs made of a template", higher);
    Metric expected = exact("expected", "count", "topologies by the family's rules alone");
    Metric off = exact("off", "count", "templates less these");
    Metric mixed = exact("mixed", "count",
                         "members that differ from their template in what an update does not carry "
                         "over",
                         lower);
    Metric words_changed = exact("words_changed", "share",
                                 "32-bit words of members' parameters that differ from their "
                                 "template's");
};

void run(const Fig11& fig11, Recorder& recorder) {
    const DecodeFamily family = family_of(fig11.choices, fig11.layers);
    const auto graphs = family.graphs(fig11.graphs);
    const Grouping grouping = group(graphs, fig11.key, TemplateChoice::first);
    double words = 0, changed = 0;
    for (const Member& member : grouping.members) {
        changed += static_cast<double>(member.changed.words);
        for (const Node& node : graphs[member.graph].nodes)
            words += static_cast<double>(node.launch.params.size()) / 4;
    }
    const Found found(recorder);
    found.templates(grouping.templates.size());
    found.on_demand(static_cast<double>(grouping.members.size()) /
                    static_cast<double>(graphs.size()));
    found.expected(family.groups(fig11.graphs, fig11.key));
    found.off(std::ssize(grouping.templates) - family.groups(fig11.graphs, fig11.key));
    found.mixed(grouping.mixed);
    if (words > 0) found.words_changed(changed / words);
}

}  // namespace

Experiment fig11() {
    Declaration<Fig11> fig11(
        {.id = "foundry/fig11",
         .title = "Templates among the graphs of all batch sizes",
         .source = "arXiv 2604.06664v1, Fig. 11",
         .says =
             "Graphs of the batch sizes from 1 on are grouped by their topology, with the key of "
             "the public code (paper) and with one that covers all that an update does not "
             "carry over (strong). The graphs are made by rules, not captured of the paper's "
             "models, so that how many groups there must be is known; numbers of templates are "
             "no reproduction of the paper's 12 to 25.",
         .metrics = declared<Found>(),
         .profiles = exact_profiles(0.4),
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "templates",
                    .x = "choices",
                    .panels = {"graphs"},
                    .x_title = "what a library chooses by batch size",
                    .y_title = "templates"}});
    fig11.axis("graphs", &Fig11::graphs, "batch sizes, from 1 on", {512}, between(1, 4096));
    fig11.axis("layers", &Fig11::layers, "of the decoder; nine nodes each", {8}, between(1, 128));
    fig11.axis("choices", &Fig11::choices, "what a library chooses by batch size");
    fig11.variants(&Fig11::key);
    return fig11.runs(run);
}

}  // namespace assay::foundry
