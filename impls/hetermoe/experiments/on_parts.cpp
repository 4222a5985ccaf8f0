#include "impls/hetermoe/experiments/on_parts.hpp"

#include <fmt/format.h>

#include "impls/hetermoe/parts/parts_point.hpp"

#ifdef ASSAY_HETERMOE_LIVE
#include "impls/hetermoe/tensor_functions.hpp"
#endif

namespace assay::hetermoe {

const char* const parts_say =
    " Measured (profile gpu), trends only: one GPU plays all of them, parts of it that share no "
    "multiprocessor (green contexts), in the paper's ratios of experts and, above four GPUs, as "
    "few as have their ratio: tokens per second are then those of as many such groups as the paper "
    "has; those that stand for V100 and T4 have no fused attention. Ranks are threads, one to a "
    "part, and take the training's own step with four layers of the model, bf16, random bytes, "
    "plain gradient descent. Memory, its bandwidth and the links, copies within it, belong to all: "
    "exchanges take next to no time, which favours the arms that do not hide them.";

std::optional<std::string> parts_lack(std::string_view arm) {
    if (!has_parts_version(arm))
        return fmt::format(
            "{} has no version for parts of a GPU: hetermoe, zebra, ep, dist_ep and ep_ideal do",
            arm);
#ifdef ASSAY_HETERMOE_LIVE
    if (auto why = tensors::module_lacks()) return why;
    return tensor_functions().module_timing_lacks();
#else
    return "this build has no libtorch or no Gloo headers, which the training needs";
#endif
}

void measure_on_parts([[maybe_unused]] const Point& point, std::string_view arm,
                      [[maybe_unused]] Recorder& recorder) {
    if (auto why = parts_lack(arm)) throw SampleError(SampleStatus::unsupported, *std::move(why));
#ifdef ASSAY_HETERMOE_LIVE
    tensor_functions().run_on_parts(parts_for(point), arm, recorder);
#endif
}

std::vector<MetricSpec> parts_metrics() {
    const std::vector<Provenance> only{Provenance::measured};
    return {
        {.name = "attention_ratio",
         .unit = "ratio",
         .says = "time on an older part over that on a newer one, forward, both at work at once",
         .only = only},
        {.name = "experts_ratio",
         .unit = "ratio",
         .says = "the same of a token's experts",
         .only = only},
        {.name = "multiprocessors",
         .unit = "count",
         .says = "of a part",
         .labels = {"part"},
         .only = only}};
}

ProfilePlan parts_profile(std::map<std::string, std::vector<Value>> axes,
                          std::vector<std::string> variants) {
    ProfilePlan gpu;
    gpu.profile = Profile::gpu;
    gpu.provenances = {Provenance::measured};
    gpu.axes = std::move(axes);
    gpu.axes["calibration"] = gpu.axes["network"] = {};
    gpu.variants = std::move(variants);
    gpu.seconds_per_sample = 9;
    gpu.timeout_s = 120;
    return gpu;
}

}  // namespace assay::hetermoe
