// Fig. 2: what a newer generation of GPU gains on attention and on experts.
#include "impls/hetermoe/experiments/fig2.hpp"

#include "impls/hetermoe/experiments/experiments.hpp"
#include "impls/hetermoe/experiments/on_parts.hpp"
#include "suite/experiment/declaration.hpp"

namespace assay::hetermoe {
namespace {

ProfilePlan gpu() {
    ProfilePlan gpu;
    gpu.profile = Profile::gpu;
    gpu.provenances = {Provenance::measured};
    gpu.rounds = 3;
    gpu.seconds_per_sample = 8;
    return gpu;
}

}  // namespace

Experiment fig2() {
    Declaration<Fig2> fig2(
        {.id = "hetermoe/fig2",
         .title = "What a newer GPU gains on attention and on experts",
         .source = "arXiv 2504.03871v1, section 2.3, Fig. 2",
         .says =
             "One attention and one expert module of Mixtral 8x7B, forward and backward, one "
             "sequence, bf16, with random weights; an expert computes its even share of the "
             "sequence's tokens. One GPU plays both generations: two parts of it that share no "
             "multiprocessor (green contexts), of 40 and 32 multiprocessors for A40 and V100, 56 "
             "and 8 for L40S and T4, of which the older has no fused attention: it writes the "
             "scores to memory in tiles and reads them again, as GPUs without FlashAttention do. "
             "The numbers of multiprocessors were chosen to have the paper's ratios of experts, "
             "1.25 and 7.0: of experts only that the ratio is flat is found, not its value. Each "
             "module runs on one part at a time, while the other rests. Device memory and its "
             "bandwidth are not divided, so that the older part has more of it than its model: "
             "what is shown is the mechanism, not the paper's values. multiprocessors says what "
             "the parts really have.",
         .metrics = {{"speedup", "ratio",
                      "time on the older part over that on the newer, median over rounds",
                      Direction::none, false},
                     {"against_4k", "ratio",
                      "speedup over that at 4K tokens, timed in the same sample: 1 where the "
                      "length does not matter",
                      Direction::none, false},
                     {"module_s",
                      "s",
                      "forward and backward, median over rounds",
                      Direction::lower,
                      false,
                      {"part"}},
                     {"multiprocessors", "count", "of the part", Direction::none, false, {"part"}}},
         .profiles = {gpu()},
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "speedup",
                    .x = "sequence_k",
                    .panels = {"pair"},
                    .x_title = "thousands of tokens",
                    .y_title = "newer over older"}});
    fig2.axis("pair", &Fig2::pair, "which generations the parts stand for");
    fig2.axis("sequence_k", &Fig2::sequence_k, "thousands (1,024) of tokens", {4, 8, 16, 32, 64},
              between(1, 128));
    fig2.variants(&Fig2::module);
    fig2.given(&Fig2::seed, &SampleSpec::seed);
    fig2.unsupported([](const Fig2&) { return parts_lack(); });
    return fig2.runs(time_modules);
}

}  // namespace assay::hetermoe
