// Fig. 8, right, on a GPU: the profile. In builds with libtorch only.
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/tensor_functions.hpp"

namespace assay::lte {

Experiment with_gpu_profile(Experiment experiment) {
    const ProfilePlan* small = experiment.plan(Profile::small);
    ProfilePlan gpu = *small;
    gpu.profile = Profile::gpu;
    gpu.axes = {{"model", {"llama2-7b"}}};
    gpu.rounds = 3;
    gpu.seconds_per_sample = 40;
    experiment.profiles.push_back(gpu);
    const auto otherwise = experiment.unsupported;
    experiment.unsupported = [otherwise](const SampleSpec& spec) -> std::optional<std::string> {
        if (spec.profile != Profile::gpu) return otherwise(spec);
        if (auto lacks = tensors::module_lacks()) return lacks;
        return tensor_functions().gpu_decoding_lacks();
    };
    const auto inputs = experiment.inputs;
    experiment.inputs = [inputs](const SampleSpec& spec) {
        return spec.profile == Profile::gpu ? std::vector<Input>() : inputs(spec);
    };
    const auto run = experiment.run;
    experiment.run = [run](const SampleSpec& spec, Recorder& recorder) {
        if (spec.profile == Profile::gpu)
            return tensor_functions().run_fig8b_on_gpu(spec, recorder);
        run(spec, recorder);
    };
    return experiment;
}

}  // namespace assay::lte
