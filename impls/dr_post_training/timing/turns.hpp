// Things to be timed side by side in one process, in turns: A B … B A, so that what the machine
// does meanwhile meets all of them alike.
#pragma once

#include <c10/core/impl/VirtualGuardImpl.h>

#include <chrono>
#include <functional>
#include <vector>

#include "suite/measure/statistics/quantile.hpp"

namespace assay::dr_post_training {

/// Waits until a GPU has done what it was asked; nothing on the CPU.
inline void wait_for(c10::Device device) {
    if (!device.is_cpu())
        c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
}

/// Seconds of each, round by round, in the order given; every other round runs backwards. A first
/// round is not counted.
inline std::vector<std::vector<double>> take_turns(const std::vector<std::function<void()>>& things,
                                                   int rounds, c10::Device device = at::kCPU) {
    using Clock = std::chrono::steady_clock;
    std::vector<std::vector<double>> seconds(things.size());
    for (int round = -1; round < rounds; ++round) {
        for (std::size_t i = 0; i < things.size(); ++i) {
            const std::size_t which = round % 2 == 0 ? i : things.size() - 1 - i;
            const auto began = Clock::now();
            things[which]();
            wait_for(device);
            const std::chrono::duration<double> took = Clock::now() - began;
            if (round >= 0) seconds[which].push_back(took.count());
        }
    }
    return seconds;
}

/// Median over rounds of a round's ratio: of what is disturbed, both sides are.
inline double median_ratio(const std::vector<double>& over, const std::vector<double>& under) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < over.size(); ++i) ratios.push_back(over[i] / under[i]);
    return statistics::median(ratios);
}

}  // namespace assay::dr_post_training
