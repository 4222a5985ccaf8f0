// What experiments on a driver have in common: which driver, the toy step, and a course over it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "impls/foundry/live/course.hpp"
#include "suite/experiment/declaration.hpp"

namespace assay::foundry {

struct OnDriver {
    int graphs = 4;  ///< batch sizes, from 1 on
    int layers = 2;
    double launch_us = 0;  ///< host work for each kernel launched
    std::uint64_t seed = 1;
    Profile profile{};
    std::string scratch;

    /// At profile gpu the GPU's driver, else the fake one.
    bool is_fake() const { return profile != Profile::gpu; }
    EngineSettings engine() const;
    std::filesystem::path archive() const { return std::filesystem::path(scratch) / "archive"; }
    /// One server, by that mode. Each graph serves `rounds` requests, every other one after the
    /// other, so that members of a group follow each other. Graphs that are restored were saved by
    /// another process before.
    LiveCourse course(Mode mode, int rounds = 2) const;
};
/// graphs, layers, launch_us, and what else of a sample is part of the settings.
Axes<OnDriver> on_driver();

/// toy and small on the fake driver, gpu on a real one.
std::vector<ProfilePlan> driver_profiles(double seconds_per_sample);
/// Why there is none here for these samples.
std::optional<std::string> lacks_driver(const OnDriver& settings);

}  // namespace assay::foundry
