#include "impls/foundry/experiments/live/on_driver.hpp"

#include <algorithm>

#include "suite/base/error.hpp"

namespace assay::foundry {

EngineSettings OnDriver::engine() const {
    EngineSettings settings;
    settings.driver = is_fake() ? fake_driver().string() : "libcuda.so.1";
    settings.step.layers = layers;
    settings.step.most_rows = graphs;
    settings.step.cache_blocks = std::max(64, graphs);
    settings.step.seed = seed;
    if (graphs > 1) settings.step.split_from = graphs / 2 + 1;
    if (graphs >= 8) {
        settings.step.programmatic_from = graphs / 4 + 1;
        settings.step.cluster_from = {3 * graphs / 4 + 1};
    }
    for (int batch = 1; batch <= graphs; ++batch) settings.batches.push_back(batch);
    settings.launch_us = launch_us;
    return settings;
}

LiveCourse OnDriver::course(Mode mode, int rounds) const {
    LiveCourse course{.engine = engine(), .loader = {.mode = mode}, .saves = restores(mode)};
    if (restores(mode)) course.loader.archives = {archive().string()};
    for (int round = 0; round < rounds; ++round)
        for (const int first : {0, 1})
            for (int graph = first; graph < graphs; graph += 2)
                course.loader.requests.push_back(static_cast<std::size_t>(graph));
    return course;
}

Axes<OnDriver> on_driver() {
    Axes<OnDriver> axes;
    axes.axis("graphs", &OnDriver::graphs, "batch sizes with a graph, from 1 on", {4, 16},
              between(1, 512));
    axes.axis("layers", &OnDriver::layers, "of the toy step; four or five nodes each", {2},
              between(1, 64));
    axes.axis("launch_us", &OnDriver::launch_us, "µs of host work for each kernel launched", {0},
              between(0, 1000));
    axes.given(&OnDriver::seed, &SampleSpec::seed);
    axes.given(&OnDriver::profile, &SampleSpec::profile);
    axes.given(&OnDriver::scratch, &SampleSpec::scratch);
    return axes;
}

std::vector<ProfilePlan> driver_profiles(double seconds_per_sample) {
    const auto plan = [&](Profile profile, Provenance provenance) {
        return ProfilePlan{.profile = profile,
                           .provenances = {provenance},
                           .seconds_per_sample = seconds_per_sample};
    };
    return {plan(Profile::toy, Provenance::emulated), plan(Profile::small, Provenance::emulated),
            plan(Profile::gpu, Provenance::measured)};
}

std::optional<std::string> lacks_driver(const OnDriver& settings) {
    try {
        open_driver(settings.is_fake() ? fake_driver() : std::filesystem::path("libcuda.so.1"));
    } catch (const NotSupportedHere& error) {
        return error.what();
    }
    return std::nullopt;
}

}  // namespace assay::foundry
