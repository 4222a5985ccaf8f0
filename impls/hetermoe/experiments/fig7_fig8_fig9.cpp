// Figs. 7 to 9: throughput over the sequence length, on the paper's clusters and against pipelines.
#include "impls/hetermoe/experiments/experiments.hpp"
#include "impls/hetermoe/experiments/paper_experiment.hpp"

namespace assay::hetermoe {
namespace {

Axis panels(std::vector<Value> names) {
    return {"panel", "a model of Table 2 on a cluster of Table 1", std::move(names), true};
}

Point at_panel(const SampleSpec& spec) {
    return panel_point(assay::to_string(spec.axes.at("panel")));
}

const std::vector<std::string> measured_arms{"hetermoe", "zebra", "ep", "dist_ep", "ep_ideal"};

/// What profile gpu measures of a figure.
std::map<std::string, std::vector<Value>> at(const std::string& panel,
                                             std::vector<std::int64_t> k_tokens) {
    return {{"panel", {panel}}, {"sequence", {k_tokens.begin(), k_tokens.end()}}};
}

const std::vector<std::string> against_expert_parallelism{
    "hetermoe", "ep", "dist_ep", "ep_ideal", "zebra", "search", "ep_uneven", "balance"};

}  // namespace

Experiment fig7() {
    return paper_experiment(
        {.id = "hetermoe/fig7",
         .title = "Throughput on A40 and V100",
         .source = "arXiv 2504.03871v1, section 6.2, Fig. 7",
         .says = "Training on O1, O2 and O3 against expert parallelism in three forms. Which "
                 "model ran where is stated for D1 and W1 (O1) and W2 (O2); D2 on O3 goes by "
                 "divisibility.",
         .axes = {panels({"d1-o1", "w1-o1", "w2-o2", "d2-o3"}), all_sequences()},
         .variants = against_expert_parallelism,
         .figure = throughput_figure({"panel", "calibration"}),
         .point = at_panel,
         .on_parts = at("d1-o1", {4, 8, 16}),
         .on_parts_variants = measured_arms,
         .emulated = {{"panel", {"d1-o1", "d2-o3"}},
                      {"sequence", {std::int64_t{8}, std::int64_t{16}}},
                      {"calibration", {"anchored"}},
                      {"part", {std::int64_t{3}}}}});
}

Experiment fig8() {
    return paper_experiment(
        {.id = "hetermoe/fig8",
         .title = "Throughput on L40S and T4",
         .source = "arXiv 2504.03871v1, section 6.2, Fig. 8",
         .says = "The same on C1 and C2, AWS, with the 200 Gbit/s that the paper simulates. Models "
                 "are not stated: D1 and D3 go by divisibility.",
         .axes = {panels({"d1-c1", "d3-c2"}), all_sequences()},
         .variants = against_expert_parallelism,
         .figure = throughput_figure({"panel", "calibration"}),
         .point = at_panel,
         .on_parts = at("d1-c1", {4, 16}),
         .on_parts_variants = measured_arms});
}

Experiment fig9() {
    return paper_experiment(
        {.id = "hetermoe/fig9",
         .title = "Against pipelines of both kinds",
         .source = "arXiv 2504.03871v1, section 6.3, Fig. 9",
         .says = "A pipeline's stage computes whole layers, attention and experts, and holds all "
                 "their experts: pipelines of one A40 and one V100 (O1) and of one A40 and two "
                 "V100 (O2). The models are not stated: D1, since a layer of W2 with its states "
                 "does not fit a V100.",
         .axes = {panels({"d1-o1", "d1-o2"}), all_sequences()},
         .variants = {"hetermoe", "pp", "zebra"},
         .figure = throughput_figure({"panel", "calibration"}),
         .point = at_panel,
         .on_parts = at("d1-o1", {4, 16}),
         .on_parts_variants = {"hetermoe", "zebra"}});
}

}  // namespace assay::hetermoe
