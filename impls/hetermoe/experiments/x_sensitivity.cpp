// Where splitting pays and where it loses: experts of a token, the network, micro-batches.
#include "impls/hetermoe/experiments/experiments.hpp"
#include "impls/hetermoe/experiments/paper_experiment.hpp"

namespace assay::hetermoe {
namespace {

struct XSensitivity : PaperSample {
    int top_k = 0;
    double gbps = 0;
};

Point point_of(const XSensitivity& sensitivity) {
    Point point = panel_point("d1-o1");
    point.model.top_k = sensitivity.top_k;
    point.network.link_bandwidth = {
        .value = sensitivity.gbps / 8 * 1e9, .kind = "assumed", .source = "axis gbps"};
    return point;
}

}  // namespace

Experiment x_sensitivity() {
    Declaration<XSensitivity> x_sensitivity(
        {.id = "hetermoe/x_sensitivity",
         .title = "Where splitting pays",
         .source = "our own; the paper varies neither",
         .says = "D1 on O1 with other numbers of experts for a token, other networks and other "
                 "numbers of micro-batches.",
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "tokens_per_s",
                    .x = "gbps",
                    .panels = {"top_k", "batch", "sequence"},
                    .x_title = "Gbit/s of a GPU",
                    .y_title = "tokens per second"}});
    x_sensitivity.axis("top_k", &XSensitivity::top_k, "experts of a token", {1, 2, 4, 8},
                       between(1, 24));
    x_sensitivity.axis("gbps", &XSensitivity::gbps, "of a GPU's link, Gbit/s",
                       whole({10, 25, 50, 100, 200, 400}), between(1e-3, 1e6));
    x_sensitivity.part(
        batch_axis("sequences of a step for each new GPU: most micro-batches", {1, 2, 4, 8, 16}));
    x_sensitivity.part(sequence_axis(whole({8, 32})));
    x_sensitivity.variants(&XSensitivity::arm,
                           {Arm::hetermoe, Arm::ep, Arm::ep_ideal, Arm::dist_ep});
    return paper_experiment(std::move(x_sensitivity), point_of,
                            {.sheet_only = true, .own_batch = true});
}

}  // namespace assay::hetermoe
