// assay campaign hetermoe.
#include "impls/hetermoe/campaign/virtual_schedule.hpp"
#include "impls/hetermoe/commands/commands.hpp"
#include "impls/tensors/needs.hpp"
#include "suite/base/error.hpp"

#ifdef ASSAY_HETERMOE_LIVE
#include "impls/hetermoe/tensor_functions.hpp"
#include "impls/tensors/module.hpp"
#include "suite/runner/sample/sample_folders.hpp"
#endif

namespace assay::hetermoe {
namespace {

void prepare_live() {
    if (const auto lacks = tensors::lacks(tensors::Needs::text)) throw NotSupportedHere(*lacks);
#ifdef ASSAY_HETERMOE_LIVE
    tensors::functions<TensorFunctions>();      // loaded once, not by every seed
    runner::ScratchFolder::remove_abandoned();  // by seeds that were killed
#endif
}

drive::SeedOutcome run_live([[maybe_unused]] std::uint64_t seed, const std::string&) {
    const auto text = tensors::training_text();  // says so where nothing can train
#ifdef ASSAY_HETERMOE_LIVE
    const runner::ScratchFolder scratch;
    return tensors::functions<TensorFunctions>().run_live_schedule(seed, text, scratch.path());
#else
    return {};
#endif
}

}  // namespace

drive::Campaign campaign_modes() {
    drive::Campaign campaign;
    campaign.says =
        "Seeded schedules of faults against the controller of HeterMoE's training: workers of both "
        "kinds are killed, frozen, asked to leave, join, and come to another pace; checks every "
        "rule of the protocol in each.";
    campaign.modes = {drive::in_virtual_time([](std::uint64_t seed, const std::string&) {
                          return run_virtual_schedule(seed);
                      }),
                      drive::with_processes(prepare_live, run_live)};
    campaign.told = {{"commits", "steps committed"}, {"discarded", "discarded"},
                     {"moves", "states moved"},      {"fallbacks", "fallbacks to a checkpoint"},
                     {"retries", "retries"},         {"evictions", "evictions"}};
    return campaign;
}

}  // namespace assay::hetermoe
