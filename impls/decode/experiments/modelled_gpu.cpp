#include "impls/decode/experiments/modelled_gpu.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "impls/decode/modelled/device_cost.hpp"
#include "impls/model/named_models.hpp"
#include "suite/scenario/device_profile.hpp"

namespace assay::decode {
namespace {

constexpr const char* shape = "llama2-7b";
constexpr const char* device = "a100";
// PCIe 4.0 with 16 lanes: 16 GT/s each, 128 bits in 130.
constexpr double host_bytes_per_s = 16e9 * 16 / 8 * 128 / 130;

}  // namespace

StepCost modelled_gpu_cost() {
    StepCost cost = device_step_cost(model::named_shape(shape), device_profile(device));
    const double bytes_per_s = device_profile(device).memory_bandwidth.value *
                               device_profile(device).memory_efficiency.value;
    cost.block_s = block_positions * cost.position_s * bytes_per_s / host_bytes_per_s;
    return cost;
}

nlohmann::json modelled_gpu_calibration() {
    const StepCost cost = modelled_gpu_cost();
    return {{"shape", shape},
            {"type", "bf16"},
            {"device", to_json(device_profile(device))},
            {"host_bytes_per_s", host_bytes_per_s},
            {"step",
             {{"fixed_s", cost.fixed_s},
              {"weights_s", cost.weights_s},
              {"token_s", cost.token_s},
              {"position_s", cost.position_s},
              {"block_s", cost.block_s}}}};
}

BatchRunOptions on_modelled_gpu(int blocks) {
    BatchRunOptions options;
    options.engine.chunk = 512;  // a GPU needs more tokens than a processor to be busy
    options.back_ends = modelled_back_ends({.vocabulary = modelled_vocabulary,
                                            .context = modelled_context,
                                            .blocks = blocks,
                                            .cost = modelled_gpu_cost()});
    return options;
}

std::vector<ProfilePlan> simulated_profiles(double seconds_per_sample) {
    std::vector<ProfilePlan> plans;
    for (const Profile profile : {Profile::toy, Profile::small, Profile::paper}) {
        ProfilePlan plan;
        plan.profile = profile;
        plan.provenances = {Provenance::simulated};
        plan.rounds = rounds_of_verdicts;
        plan.seconds_per_sample = seconds_per_sample;
        plans.push_back(plan);
    }
    return plans;
}

}  // namespace assay::decode
