// Figs. 10 and 11: other numbers of old GPUs, and the same number of equal ones.
#include <map>

#include "impls/hetermoe/experiments/experiments.hpp"
#include "impls/hetermoe/experiments/paper_experiment.hpp"

namespace assay::hetermoe {
namespace {

ModelShape d1_with(int experts) {
    ModelShape model = model_shape("d1");
    model.experts = experts;
    return model;
}

struct Gpus {
    const char *new_device, *old_device;
    int of_each;
};

// Expert parallelism over equal GPUs: two halves of them.
const std::map<std::string, Gpus, std::less<>> fig11_gpus{{"hetermoe", {"a40", "v100", 2}},
                                                          {"ep_4_a40", {"a40", "a40", 2}},
                                                          {"ep_4_v100", {"v100", "v100", 2}},
                                                          {"ep_2_a100", {"a100", "a100", 1}}};

}  // namespace

Experiment fig10() {
    std::vector<Value> old;
    for (std::int64_t gpus = 2; gpus <= 8; ++gpus) old.emplace_back(gpus);
    return paper_experiment(
        {.id = "hetermoe/fig10",
         .title = "Ratios of A40 to V100",
         .source = "arXiv 2504.03871v1, section 6.4.1, Fig. 10",
         .says = "Four A40 and two to eight V100; D1 with four experts for each V100, the "
                 "scale at which O1 has its 24.",
         .axes = {{"old", "V100s", old, true},
                  sequence_axis(
                      {std::int64_t{4}, std::int64_t{12}, std::int64_t{20}, std::int64_t{32}})},
         .variants = {"hetermoe", "ep_ideal", "zebra", "search", "balance"},
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "tokens_per_s",
                    .x = "old",
                    .panels = {"sequence", "calibration"},
                    .x_title = "V100s with four A40",
                    .y_title = "tokens per second"},
         .point =
             [](const SampleSpec& spec) {
                 const int old_gpus = static_cast<int>(integer_axis(spec, "old", 1, 64));
                 return point_on(d1_with(4 * old_gpus), "hetermoe-on-premise", "a40", 4, "v100",
                                 old_gpus);
             },
         .on_parts = {{"old", {std::int64_t{2}, std::int64_t{4}, std::int64_t{8}}},
                      {"sequence", {std::int64_t{4}}}},
         .on_parts_variants = {"hetermoe", "zebra", "ep_ideal"},
         .emulated = {{"old", {std::int64_t{2}, std::int64_t{4}, std::int64_t{8}}},
                      {"sequence", {std::int64_t{12}}},
                      {"calibration", {"anchored"}},
                      {"part", {std::int64_t{2}}}}});
}

Experiment fig11() {
    return paper_experiment(
        {.id = "hetermoe/fig11",
         .title = "Against equal GPUs",
         .source = "arXiv 2504.03871v1, section 6.4.2, Fig. 11",
         .says = "HeterMoE on two A40 and two V100 against expert parallelism on four A40, four "
                 "V100 and two A100; D1 with eight experts, all on one network.",
         .axes = {all_sequences()},
         .variants = {"hetermoe", "ep_4_a40", "ep_4_v100", "ep_2_a100"},
         .figure = throughput_figure({"calibration"}),
         .point =
             [](const SampleSpec& spec) {
                 const Gpus& gpus = fig11_gpus.at(spec.variant);
                 Point point = point_on(d1_with(8), "hetermoe-on-premise", gpus.new_device,
                                        gpus.of_each, gpus.old_device, gpus.of_each);
                 // Equal batches of all: that of two new GPUs.
                 point.batch =
                     static_cast<int>(integer_axis(spec, "batch", 1, 1024)) * 2 / gpus.of_each;
                 return point;
             },
         .arm =
             [](const SampleSpec& spec) { return spec.variant == "hetermoe" ? "hetermoe" : "ep"; },
         .on_parts = {{"sequence", {std::int64_t{4}, std::int64_t{16}}}},
         .on_parts_variants = {"hetermoe", "ep_4_a40", "ep_4_v100", "ep_2_a100"}});
}

}  // namespace assay::hetermoe
