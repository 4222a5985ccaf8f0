// Figs. 10 and 11: other numbers of old GPUs, and the same number of equal ones.
#include "impls/hetermoe/experiments/experiments.hpp"
#include "impls/hetermoe/experiments/paper_experiment.hpp"

namespace assay::hetermoe {
namespace {

ModelShape d1_with(int experts) {
    ModelShape model = model_shape("d1");
    model.experts = experts;
    return model;
}

struct Fig10 : PaperSample {
    int old = 0;
};

Point point_of(const Fig10& fig10) {
    return point_on(d1_with(4 * fig10.old), "hetermoe-on-premise", "a40", 4, "v100", fig10.old);
}

enum class Gpus { hetermoe, ep_4_a40, ep_4_v100, ep_2_a100 };
ASSAY_NAMES(Gpus, hetermoe, ep_4_a40, ep_4_v100, ep_2_a100)

struct Fig11 : PaperSample {
    Gpus gpus{};
};

// Expert parallelism over equal GPUs: two halves of them. Equal batches of all: that of two new
// GPUs.
Point point_of(const Fig11& fig11) {
    const auto on = [&](const char* new_device, const char* old_device, int of_each) {
        Point point =
            point_on(d1_with(8), "hetermoe-on-premise", new_device, of_each, old_device, of_each);
        point.batch = fig11.batch * 2 / of_each;
        return point;
    };
    switch (fig11.gpus) {
        case Gpus::ep_4_a40:
            return on("a40", "a40", 2);
        case Gpus::ep_4_v100:
            return on("v100", "v100", 2);
        case Gpus::ep_2_a100:
            return on("a100", "a100", 1);
        case Gpus::hetermoe:
            break;
    }
    return on("a40", "v100", 2);
}

}  // namespace

Experiment fig10() {
    Declaration<Fig10> fig10(
        {.id = "hetermoe/fig10",
         .title = "Ratios of A40 to V100",
         .source = "arXiv 2504.03871v1, section 6.4.1, Fig. 10",
         .says = "Four A40 and two to eight V100; D1 with four experts for each V100, the "
                 "scale at which O1 has its 24.",
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "tokens_per_s",
                    .x = "old",
                    .panels = {"sequence", "calibration"},
                    .x_title = "V100s with four A40",
                    .y_title = "tokens per second"}});
    fig10.axis("old", &Fig10::old, "V100s", {2, 3, 4, 5, 6, 7, 8}, between(1, 64));
    fig10.part(sequence_axis(whole({4, 12, 20, 32})));
    fig10.variants(&Fig10::arm,
                   {Arm::hetermoe, Arm::ep_ideal, Arm::zebra, Arm::search, Arm::balance});
    const std::vector<Value> few{std::int64_t{2}, std::int64_t{4}, std::int64_t{8}};
    return paper_experiment(std::move(fig10), point_of,
                            {.on_parts = {{"old", few}, {"sequence", {std::int64_t{4}}}},
                             .on_parts_variants = {"hetermoe", "zebra", "ep_ideal"},
                             .emulated = {{"old", few},
                                          {"sequence", {std::int64_t{12}}},
                                          {"calibration", {"anchored"}},
                                          {"part", {std::int64_t{2}}}}});
}

Experiment fig11() {
    Declaration<Fig11> fig11(
        {.id = "hetermoe/fig11",
         .title = "Against equal GPUs",
         .source = "arXiv 2504.03871v1, section 6.4.2, Fig. 11",
         .says = "HeterMoE on two A40 and two V100 against expert parallelism on four A40, four "
                 "V100 and two A100; D1 with eight experts, all on one network.",
         .figure = throughput_figure({"calibration"})});
    fig11.part(all_sequences());
    fig11.variants(&Fig11::gpus);
    fig11.given(&Fig11::arm, [](const SampleSpec& spec) {
        return of_word<Gpus>(spec.variant) == Gpus::hetermoe ? Arm::hetermoe : Arm::ep;
    });
    return paper_experiment(
        std::move(fig11), point_of,
        {.on_parts = {{"sequence", {std::int64_t{4}, std::int64_t{16}}}},
         .on_parts_variants = {"hetermoe", "ep_4_a40", "ep_4_v100", "ep_2_a100"}});
}

}  // namespace assay::hetermoe
