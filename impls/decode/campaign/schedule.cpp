#include "impls/decode/campaign/schedule.hpp"

#include "impls/decode/campaign/scheduled_service.hpp"
#include "suite/drive/processes/process_driver.hpp"
#include "suite/drive/simulated/event_queue.hpp"
#include "suite/drive/simulated/virtual_cluster.hpp"

namespace assay::decode {
namespace {

/// Most messages take little, some so long that what was waited for is given up before.
class DrawnLatencies final : public drive::Latencies {
  public:
    explicit DrawnLatencies(std::uint64_t seed) : random_(seed * 2 + 1) {}
    double message(drive::WorkerId) override {
        return random_() % 8 == 0 ? uniform(0, 8) : uniform(0, 0.25);
    }
    double detection(drive::WorkerId) override { return uniform(5, 40); }
    double boot(drive::WorkerId) override { return uniform(0, 10); }

  private:
    double uniform(double least, double most) {
        return least + (most - least) * static_cast<double>(random_() % 4096) / 4096;
    }
    std::mt19937_64 random_;
};

EngineModel model_for(const ScheduleBounds& bounds, Misdeed misdeed) {
    if (misdeed != Misdeed::trusts_any_cache) return bounds.model.model;
    return modelled_models({.vocabulary = bounds.model.vocabulary,
                            .context = bounds.model.context,
                            .identity = "of whatever weights"});
}

}  // namespace

drive::SeedOutcome run_virtual_schedule(std::uint64_t seed, Misdeed misdeed) {
    std::mt19937_64 random(seed);
    const int vocabulary = 5 + static_cast<int>(random() % 200);
    const int context = 40 + static_cast<int>(random() % 100);
    const ScheduleBounds bounds{.seed = seed,
                                .model = served_hashes(vocabulary, context),
                                .cost = {.fixed_s = 0.25, .weights_s = 1, .token_s = 0.0625},
                                .requests = {.fewest = 3,
                                             .more = 12,
                                             .fewest_tokens = 1,
                                             .more_tokens = 50,
                                             .one_stops_of = 3,
                                             .one_stops_by_text_of = 5,
                                             .one_is_kept_of = 2,
                                             .priorities = true},
                                .fewest_engines = 1,
                                .horizon_s = 80,
                                .most_hang_s = 60,
                                .most_load_s = 10,
                                .patience_s = 25,
                                .longest_s = 20'000};
    MemoryRecorder recorder;
    drive::EventQueue time;
    DrawnLatencies latencies(seed);
    drive::VirtualCluster driver({engine_role(model_for(bounds, misdeed))}, time, latencies, {},
                                 recorder);
    return ScheduledService(bounds, misdeed, random, driver, recorder).run();
}

drive::SeedOutcome run_live_schedule(std::uint64_t seed, Misdeed misdeed) {
    std::mt19937_64 random(seed);
    const ScheduleBounds bounds{
        .seed = seed,
        .model = seed % 2 == 0 ? served_hashes() : served_decoder(),
        .cost = {.fixed_s = 0.002, .weights_s = 0.002, .token_s = 0.0001},
        .requests = {.fewest = 5, .more = 8, .fewest_tokens = 10, .more_tokens = 80},
        .fewest_engines = 2,
        .horizon_s = 0.5,
        .most_hang_s = 0.6,
        .most_load_s = 0.02,
        .patience_s = 0.15,
        .longest_s = 60};
    drive::ProcessOptions options;
    options.pace = drive::Pace::steady;
    options.detect_s = 0.3;
    MemoryRecorder recorder;
    drive::ProcessDriver driver({engine_role(bounds.model.model)}, options, recorder);
    return ScheduledService(bounds, misdeed, random, driver, recorder).run();
}

}  // namespace assay::decode
