// Fig. 2: what a newer generation of GPU gains on attention and on experts. Timed by
// modules/module_timing.cpp, in the module of tensors.
#include "impls/hetermoe/experiments/experiments.hpp"
#include "suite/experiment/recorder.hpp"

#ifdef ASSAY_HAVE_TORCH
#include "impls/hetermoe/tensor_functions.hpp"
#endif

namespace assay::hetermoe {
namespace {

std::optional<std::string> lacks(const SampleSpec&) {
#ifdef ASSAY_HAVE_TORCH
    if (auto why = tensors::module_lacks()) return why;
    return tensor_functions().module_timing_lacks();
#else
    return "this build has no libtorch, which times the modules";
#endif
}

void run(const SampleSpec& spec, Recorder& recorder) {
#ifdef ASSAY_HAVE_TORCH
    tensor_functions().run_fig2(spec, recorder);
#else
    static_cast<void>(spec);
    static_cast<void>(recorder);
#endif
}

}  // namespace

Experiment fig2() {
    Experiment experiment;
    experiment.id = "hetermoe/fig2";
    experiment.title = "What a newer GPU gains on attention and on experts";
    experiment.source = "arXiv 2504.03871v1, section 2.3, Fig. 2";
    experiment.says =
        "One attention and one expert module of Mixtral 8x7B, forward and backward, one sequence, "
        "bf16, with random weights; an expert computes its even share of the sequence's tokens. "
        "One GPU plays both generations: two parts of it that share no multiprocessor (green "
        "contexts), of 40 and 32 multiprocessors for A40 and V100, 56 and 8 for L40S and T4, of "
        "which the older has no fused attention: it writes the scores to memory in tiles and reads "
        "them again, as GPUs without FlashAttention do. The numbers of multiprocessors were chosen "
        "to "
        "have the paper's ratios of experts, 1.25 and 7.0: of experts only that the ratio is flat "
        "is found, not its value. Each module runs on one part at a time, "
        "while the other rests. Device memory and its bandwidth are not divided, so that the older "
        "part has more of it than its model: what is shown is the mechanism, not the paper's "
        "values. multiprocessors says what the parts really have.";
    experiment.axes = {
        {"pair", "which generations the parts stand for", {"a40-v100", "l40s-t4"}, false},
        {"sequence_k",
         "thousands (1,024) of tokens",
         {std::int64_t{4}, std::int64_t{8}, std::int64_t{16}, std::int64_t{32}, std::int64_t{64}},
         true}};
    experiment.variants = {"attention", "experts"};
    experiment.metrics = {
        {"speedup", "ratio", "time on the older part over that on the newer, median over rounds",
         Direction::none, false},
        {"against_4k", "ratio",
         "speedup over that at 4K tokens, timed in the same sample: 1 where the length does not "
         "matter",
         Direction::none, false},
        {"module_s",
         "s",
         "forward and backward, median over rounds",
         Direction::lower,
         false,
         {"part"}},
        {"multiprocessors", "count", "of the part", Direction::none, false, {"part"}}};
    ProfilePlan gpu;
    gpu.profile = Profile::gpu;
    gpu.provenances = {Provenance::measured};
    gpu.rounds = 3;
    gpu.seconds_per_sample = 8;
    experiment.profiles = {gpu};
    experiment.figure = {.kind = Figure::Kind::lines,
                         .metric = "speedup",
                         .x = "sequence_k",
                         .panels = {"pair"},
                         .x_title = "thousands of tokens",
                         .y_title = "newer over older"};
    experiment.unsupported = lacks;
    experiment.run = run;
    return experiment;
}

}  // namespace assay::hetermoe
