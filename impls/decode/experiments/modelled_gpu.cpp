#include "impls/decode/experiments/modelled_gpu.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "impls/model/decode_cost.hpp"
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
    const DeviceProfile profile = device_profile(device);
    const double flops_per_s = profile.matmul_flops.value * profile.matmul_efficiency.value;
    const double bytes_per_s = profile.memory_bandwidth.value * profile.memory_efficiency.value;
    const model::StoredModel stored =
        model::stored_shape(model::named_shape(shape), nn::TensorType::bf16);
    StepCost cost;
    double position_bytes = 0;
    for (const model::PartWork& part : model::decode_step(stored, 1, 0)) {
        if (part.part == "cache") {
            position_bytes = part.bytes;  // of the one position that a first token has
            continue;
        }
        cost.weights_s += part.bytes / bytes_per_s;
        cost.token_s += part.flops / flops_per_s;
    }
    cost.position_s = position_bytes / bytes_per_s;
    cost.block_s = block_positions * position_bytes / host_bytes_per_s;
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
    options.make_back_end = [blocks, cost = modelled_gpu_cost()]() -> std::unique_ptr<BackEnd> {
        return std::make_unique<ModelledBackEnd>(ModelledSettings{.vocabulary = modelled_vocabulary,
                                                                  .context = modelled_context,
                                                                  .blocks = blocks,
                                                                  .cost = cost});
    };
    return options;
}

std::vector<BatchJob> random_jobs(int count, int prompt, int shared, int max_tokens,
                                  std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto draw = [&] { return static_cast<int>(random() % modelled_vocabulary); };
    std::vector<int> beginning(static_cast<std::size_t>(shared));
    for (int& id : beginning) id = draw();
    std::vector<BatchJob> jobs(static_cast<std::size_t>(count));
    for (BatchJob& job : jobs) {
        job.request.prompt = beginning;
        while (static_cast<int>(job.request.prompt.size()) < prompt)
            job.request.prompt.push_back(draw());
        job.request.max_tokens = max_tokens;
    }
    return jobs;
}

double tokens_made(const BatchRun& run) {
    std::size_t tokens = 0;
    for (const BatchAnswer& answer : run.answers) tokens += answer.ids.size();
    return static_cast<double>(tokens);
}

bool same_tokens(std::span<const BatchAnswer> a, std::span<const BatchAnswer> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const BatchAnswer& one, const BatchAnswer& other) {
                          return one.ids == other.ids &&
                                 one.log_probabilities == other.log_probabilities;
                      });
}

std::vector<ProfilePlan> simulated_profiles(double seconds_per_sample) {
    std::vector<ProfilePlan> plans;
    for (const Profile profile : {Profile::toy, Profile::small, Profile::paper}) {
        ProfilePlan plan;
        plan.profile = profile;
        plan.provenances = {Provenance::simulated};
        plan.seconds_per_sample = seconds_per_sample;
        plans.push_back(plan);
    }
    return plans;
}

}  // namespace assay::decode
