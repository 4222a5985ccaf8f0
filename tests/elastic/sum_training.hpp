// A training of SumMembers on a driver of any clock.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "impls/elastic/training_run.hpp"
#include "impls/lazarus/policy/controller/controller.hpp"
#include "tests/elastic/sum_member.hpp"

namespace assay::elastic {

struct SumTraining {
    std::vector<drive::Decision<lazarus::Controller>> decisions;
    std::map<WorkerId, std::int64_t> sums;  ///< of those that trained last and are alive
};

inline lazarus::ControllerConfig sum_settings() {
    return {.layers = 1, .experts = 1, .slots = 1, .min_replicas = 1, .steps = 8};
}
inline std::int64_t expected_sum() {
    std::int64_t sum = 0;
    for (Step step = 0; step < sum_settings().steps; ++step) sum += share(step, 0, 1);
    return sum;
}

/// Throws BrokenRule where it breaks a rule of any training, or does not come to its last step.
inline SumTraining train(drive::Driver& driver) {
    for (int i = 0; i < sum_settings().initial_workers; ++i) driver.spawn({});
    TrainingRun<lazarus::Controller> run(lazarus::Controller(sum_settings()), driver,
                                         {.steps = sum_settings().steps});
    const auto stop = run.run();
    if (!stop || !stop->ok) throw BrokenRule{stop ? stop->why : "all wait for ever"};
    SumTraining training{.decisions = run.decisions(), .sums = {}};
    driver.listen([&](const drive::DriverEvent& event) {
        const auto* const said = std::get_if<drive::Said>(&event);
        if (said && said->message.is<Digests>())
            training.sums[said->worker] =
                static_cast<std::int64_t>(said->message.to<Digests>().digests.at(nn::dense_key));
    });
    for (const WorkerId rank : run.ranks())
        driver.send(rank, drive::AnyMessage::of_json({{"type", "finish"}}));
    const auto is_heard = [&](WorkerId rank) {
        return training.sums.contains(rank) || !driver.alive(rank);
    };
    while (!std::all_of(run.ranks().begin(), run.ranks().end(), is_heard) && driver.turn()) {
    }
    return training;
}

}  // namespace assay::elastic
