// Figs. 7 to 9: throughput over the sequence length, on the paper's clusters and against pipelines.
#include "impls/hetermoe/experiments/experiments.hpp"
#include "impls/hetermoe/experiments/paper_experiment.hpp"

namespace assay::hetermoe {
namespace {

constexpr const char* panel_says = "a model of Table 2 on a cluster of Table 1";

const std::vector<Arm> against_expert_parallelism{Arm::hetermoe,  Arm::ep,     Arm::dist_ep,
                                                  Arm::ep_ideal,  Arm::zebra,  Arm::search,
                                                  Arm::ep_uneven, Arm::balance};
const std::vector<std::string> measured_arms{"hetermoe", "zebra", "ep", "dist_ep", "ep_ideal"};

/// What profile gpu measures of a figure.
PaperVersions::Sweeps at(const std::string& panel, std::vector<std::int64_t> k_tokens) {
    return {{"panel", {panel}}, {"sequence", {k_tokens.begin(), k_tokens.end()}}};
}

}  // namespace

Experiment fig7() {
    Declaration<OnPanel> fig7(
        {.id = "hetermoe/fig7",
         .title = "Throughput on A40 and V100",
         .source = "arXiv 2504.03871v1, section 6.2, Fig. 7",
         .says = "Training on O1, O2 and O3 against expert parallelism in three forms. Which "
                 "model ran where is stated for D1 and W1 (O1) and W2 (O2); D2 on O3 goes by "
                 "divisibility.",
         .figure = throughput_figure({"panel", "calibration"})});
    fig7.part(panel_axes(panel_says, {"d1-o1", "w1-o1", "w2-o2", "d2-o3"}));
    fig7.variants(&OnPanel::arm, against_expert_parallelism);
    return paper_experiment(std::move(fig7), point_at,
                            {.on_parts = at("d1-o1", {4, 8, 16}),
                             .on_parts_variants = measured_arms,
                             .emulated = {{"panel", {"d1-o1", "d2-o3"}},
                                          {"sequence", {std::int64_t{8}, std::int64_t{16}}},
                                          {"calibration", {"anchored"}},
                                          {"part", {std::int64_t{3}}}}});
}

Experiment fig8() {
    Declaration<OnPanel> fig8(
        {.id = "hetermoe/fig8",
         .title = "Throughput on L40S and T4",
         .source = "arXiv 2504.03871v1, section 6.2, Fig. 8",
         .says = "The same on C1 and C2, AWS, with the 200 Gbit/s that the paper simulates. Models "
                 "are not stated: D1 and D3 go by divisibility.",
         .figure = throughput_figure({"panel", "calibration"})});
    fig8.part(panel_axes(panel_says, {"d1-c1", "d3-c2"}));
    fig8.variants(&OnPanel::arm, against_expert_parallelism);
    return paper_experiment(std::move(fig8), point_at,
                            {.on_parts = at("d1-c1", {4, 16}), .on_parts_variants = measured_arms});
}

Experiment fig9() {
    Declaration<OnPanel> fig9(
        {.id = "hetermoe/fig9",
         .title = "Against pipelines of both kinds",
         .source = "arXiv 2504.03871v1, section 6.3, Fig. 9",
         .says = "A pipeline's stage computes whole layers, attention and experts, and holds all "
                 "their experts: pipelines of one A40 and one V100 (O1) and of one A40 and two "
                 "V100 (O2). The models are not stated: D1, since a layer of W2 with its states "
                 "does not fit a V100.",
         .figure = throughput_figure({"panel", "calibration"})});
    fig9.part(panel_axes(panel_says, {"d1-o1", "d1-o2"}));
    fig9.variants(&OnPanel::arm, {Arm::hetermoe, Arm::pp, Arm::zebra});
    return paper_experiment(
        std::move(fig9), point_at,
        {.on_parts = at("d1-o1", {4, 16}), .on_parts_variants = {"hetermoe", "zebra"}});
}

}  // namespace assay::hetermoe
