#include "impls/hetermoe/experiments/on_parts.hpp"

#include <fmt/format.h>

namespace assay::hetermoe {

const char* const parts_say =
    " Measured (profile gpu), trends only: one GPU plays all of them, parts of it that share no "
    "multiprocessor (green contexts), in the paper's ratios of experts and, above four GPUs, as "
    "few as have their ratio: tokens per second are then those of as many such groups as the paper "
    "has; those that stand for V100 and T4 have no fused attention. Ranks are threads, one to a "
    "part, and take the training's own step with four layers of the model, bf16, random bytes, "
    "plain gradient descent. Memory, its bandwidth and the links, copies within it, belong to all: "
    "exchanges take next to no time, which favours the arms that do not hide them.";

std::optional<std::string> parts_lack() {
    if (auto why = divided_gpu_missing.lacks()) return why;
    return divided_gpu_missing();
}

std::optional<std::string> parts_lack(Arm arm) {
    if (!has_parts_version(arm))
        return fmt::format(
            "{} has no version for parts of a GPU: hetermoe, zebra, ep, dist_ep and ep_ideal do",
            to_string(arm));
    if (auto why = run_on_parts.lacks()) return why;
    return parts_lack();
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
