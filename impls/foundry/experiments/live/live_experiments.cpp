#include "impls/foundry/experiments/live/live_experiments.hpp"

#include "impls/foundry/live/live_schedule.hpp"
#include "suite/runner/sample/sample_folders.hpp"

namespace assay::foundry {

std::vector<Experiment> live_experiments() {
    return {tokens(), fig9(), fig10(), x_detect(), x_driver(), x_penalty(), x_ranks()};
}

std::function<drive::SeedOutcome(std::uint64_t, const std::string&)> live_schedule() {
    return [](std::uint64_t seed, const std::string&) {
        const runner::ScratchFolder scratch;
        return run_live_schedule(seed, scratch.path());
    };
}

}  // namespace assay::foundry
