// Fig. 12 and Table 3: what moving experts gains on O1, and how busy it keeps both kinds.
#include "impls/hetermoe/experiments/experiments.hpp"
#include "impls/hetermoe/experiments/paper_experiment.hpp"

namespace assay::hetermoe {

Experiment fig12() {
    Declaration<OnPanel> fig12(
        {.id = "hetermoe/fig12",
         .title = "What moving experts gains",
         .source = "arXiv 2504.03871v1, section 6.4.3, Fig. 12",
         .says = "The same groups without and with moved experts; and the length of a sequence "
                 "from which attention takes as long as experts, so that none need move.",
         .figure = throughput_figure({"panel", "calibration"})});
    fig12.part(panel_axes("W1 and D1 on O1", {"w1-o1", "d1-o1"}));
    fig12.variants(&OnPanel::arm, {Arm::hetermoe, Arm::zebra, Arm::search});
    return paper_experiment(
        std::move(fig12), point_at,
        {.on_parts = {{"panel", {"d1-o1"}}, {"sequence", {std::int64_t{4}, std::int64_t{16}}}},
         .on_parts_variants = {"hetermoe", "zebra"},
         .crossing = true,
         .emulated = {{"panel", {"d1-o1"}},
                      {"sequence", {std::int64_t{4}, std::int64_t{12}, std::int64_t{24}}},
                      {"calibration", {"anchored"}},
                      {"part", {std::int64_t{3}}}}});
}

Experiment tab3() {
    Declaration<PaperSample> tab3(
        {.id = "hetermoe/tab3",
         .title = "How busy both kinds are",
         .source = "arXiv 2504.03871v1, section 6.4.3, Table 3",
         .says = "D1 on O1: the share of a step in which a GPU computes, without (zebra) and with "
                 "(hetermoe) moved experts, and where both kinds take turns (dist_ep).",
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "new_busy",
                    .x = "sequence",
                    .panels = {"calibration"},
                    .x_title = "thousands of tokens of a sequence",
                    .y_title = "share of the step in which A40s compute"}});
    tab3.part(sequence_axis(whole({8, 16})));
    tab3.variants(&PaperSample::arm, {Arm::zebra, Arm::hetermoe, Arm::dist_ep});
    return paper_experiment(
        std::move(tab3), [](const PaperSample&) { return panel_point("d1-o1"); },
        {.on_parts = {{"sequence", {std::int64_t{8}, std::int64_t{16}}}},
         .on_parts_variants = {"zebra", "hetermoe", "dist_ep"},
         .emulated = {{"calibration", {"anchored"}}, {"part", {std::int64_t{3}}}}});
}

}  // namespace assay::hetermoe
