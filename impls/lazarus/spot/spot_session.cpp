#include "impls/lazarus/spot/spot_session.hpp"

#include <fmt/format.h>

#include "impls/lazarus/policy/rivals/systems.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {
namespace {

constexpr int real_context = 32;

}  // namespace

SessionOptions spot_session(const SpotTraining& training, const std::filesystem::path& corpus,
                            const std::filesystem::path& scratch) {
    if (const auto lacks = tensors_lack(competing_system(training.system)))
        throw NotSupportedHere(*lacks);
    const ModelledTraining modelled = modelled_training(training);
    SessionOptions options;
    options.controller = modelled.controller;
    options.training.model = {.layers = training.real_layers,
                              .width = 16,
                              .heads = 2,
                              .experts = modelled.routing.experts,
                              .hidden = 16,
                              .context = real_context};
    options.training.sequences = static_cast<int>(modelled.modelling.real_tokens) / real_context;
    options.training.seed = training.seed;
    options.training.corpus = corpus.string();
    options.training.routing = training.routing;
    options.training.modelled_steps = training.modelled_steps;
    options.training.group = modelled.modelling.dispatch.group;
    options.supervisor.heartbeat_timeout = cluster::Seconds(3.0);
    options.checkpoints = scratch / "checkpoints";
    options.duration_s = modelled.duration_s;
    options.pacing =
        PacingOptions{.modelling = modelled.modelling, .relaunch_s = modelled.relaunch_s};
    return options;
}

SessionOptions unpaced_spot_session(const SpotTraining& training, double speed,
                                    const std::filesystem::path& corpus,
                                    const std::filesystem::path& scratch) {
    auto options = spot_session(training, corpus, scratch);
    options.pacing.reset();
    options.speed = speed;
    return options;
}

void require_paced(const drive::PacingSummary& pacing) {
    constexpr double most = 0.05;
    if (pacing.overrun() <= most) return;
    throw SampleError(SampleStatus::invalid,
                      fmt::format("real work was late by {:.1f} % of the modelled time (5 % are "
                                  "allowed): {}",
                                  100 * pacing.overrun(),
                                  pacing.link_stays_bad
                                      ? "a link fault without an end is not part of it; say with "
                                        "'for' how long the fault lasts"
                                      : "is something else using this machine's processors?"));
}

}  // namespace assay::lazarus
