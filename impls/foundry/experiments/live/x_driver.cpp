// What a driver answers where documents leave it open: the probes of specification 8.3 that need no
// other library, and what the fake driver guesses.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "impls/foundry/chain/chain.hpp"
#include "impls/foundry/chain/probes.hpp"
#include "impls/foundry/experiments/live/live_experiments.hpp"
#include "impls/foundry/experiments/live/on_driver.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::foundry {
namespace {

enum class Probe { reserve, handles, edges, updates, captures, costs, executables, mapping };
ASSAY_NAMES(Probe, reserve, handles, edges, updates, captures, costs, executables, mapping)

struct XDriver : OnDriver {  // without its axes
    Probe probe{};
    int processes = 5, allocations = 200, repeats = 20;
};

/// Where a region might begin; the first is the specification's, the last its tests'.
constexpr std::array<std::uint64_t, 4> bases{0x600000000000, 0x500000000000, 0x400000000000,
                                             0x2f0000000000};
constexpr std::array node_counts{100, 300, 1000};

/// Each probe has its own.
struct Found : Metrics {
    using Metrics::Metrics;
    Metric reserved = answer("reserved", "share", "of processes that get the base", {"base"});
    Metric shows_function = answer("shows_function", "bool", "a kernel node shows one", {"node"});
    Metric shows_kernel = answer("shows_kernel", "bool", "a kernel node shows one", {"node"});
    Metric edges_kept = answer("edges_kept", "share", "that read back as given", {"edges"});
    Metric update_result =
        answer("update_result", "code", "CUgraphExecUpdateResult; 0: taken over", {"change"});
    Metric call_result = answer("call_result", "code", "CUresult of a call while a stream captures",
                                {"call", "mode"});
    Metric capture_ended =
        answer("capture_ended", "bool", "the capture is invalid after it", {"call", "mode"});
    Metric executable_bytes =
        answer("executable_bytes", "bytes", "device memory of an executable", {"nodes"});
    Metric node_bytes = answer("node_bytes", "bytes", "of it, for each node more", {});
    Metric kept = answer("kept", "share", "of mapped allocations that hold their data", {"mapped"});
    Metric mapped_bytes = answer("mapped_bytes", "bytes", "device memory of each", {"mapped"});
    Metric cost_ms = time("cost_ms", "ms", "median on the host, for a chain", {"nodes", "what"});
    Metric map_us = time("map_us", "us", "of the host, for each allocation", {"mapped"});

  private:
    Metric answer(const char* name, const char* unit, const char* says,
                  std::vector<std::string> labels) {
        return metric({.name = name,
                       .unit = unit,
                       .says = says,
                       .deterministic = true,
                       .labels = std::move(labels),
                       .varies = {Provenance::measured}});
    }
    /// The fake driver's are of no driver.
    Metric time(const char* name, const char* unit, const char* says,
                std::vector<std::string> labels) {
        return metric({.name = name,
                       .unit = unit,
                       .says = says,
                       .better = lower,
                       .labels = std::move(labels),
                       .only = {Provenance::measured}});
    }
};

void reserve(const XDriver& settings, const Found& found) {
    std::array<int, bases.size()> had{};
    for (int process = 0; process < settings.processes; ++process) {
        const auto got = reserved_in_new_process(settings.engine().driver, bases);
        for (std::size_t i = 0; i < bases.size(); ++i) had[i] += got[i] == bases[i];
    }
    for (std::size_t i = 0; i < bases.size(); ++i)
        found.reserved(static_cast<double>(had[i]) / settings.processes,
                       {{"base", fmt::format("{:#x}", bases[i])}});
}

void executables(const Device& device, const Found& found) {
    std::vector<double> bytes;
    for (const int nodes : node_counts) {
        bytes.push_back(executable_bytes(device, nodes));
        found.executable_bytes(bytes.back(), {{"nodes", std::int64_t{nodes}}});
    }
    found.node_bytes((bytes.back() - bytes.front()) / (node_counts.back() - node_counts.front()));
}

void mapping(const XDriver& settings, const Device& device, const Found& found) {
    for (const bool ahead : {false, true}) {
        const MappedMemory memory = map_memory(device, settings.allocations, ahead);
        const Labels mapped{{"mapped", std::string(ahead ? "ahead" : "one by one")}};
        found.kept(memory.kept, mapped);
        found.mapped_bytes(memory.device_bytes, mapped);
        if (!settings.is_fake()) found.map_us(memory.us, mapped);
    }
}

void run(const XDriver& settings, Recorder& recorder) {
    const Found found(recorder);
    if (settings.probe == Probe::reserve) return reserve(settings, found);
    const Device device(open_chain_driver(settings.engine().driver));
    switch (settings.probe) {
        case Probe::reserve:
            break;
        case Probe::handles:
            for (const auto& [node, function, kernel] : shown_handles(device)) {
                found.shows_function(function, {{"node", node}});
                found.shows_kernel(kernel, {{"node", node}});
            }
            break;
        case Probe::edges:
            for (const auto& [edges, kept] : kept_edges(device))
                found.edges_kept(kept, {{"edges", edges}});
            break;
        case Probe::updates:
            for (const auto& [change, result] : update_answers(device))
                found.update_result(int{result}, {{"change", change}});
            break;
        case Probe::captures:
            for (const auto& [call, mode, result, ended] : capture_answers(device)) {
                found.call_result(int{result}, {{"call", call}, {"mode", mode}});
                found.capture_ended(ended, {{"call", call}, {"mode", mode}});
            }
            break;
        case Probe::costs:
            for (const int nodes : node_counts)
                for (const auto& [what, ms] : graph_costs(device, nodes, settings.repeats))
                    found.cost_ms(ms, {{"nodes", std::int64_t{nodes}}, {"what", what}});
            break;
        case Probe::executables:
            executables(device, found);
            break;
        case Probe::mapping:
            mapping(settings, device, found);
            break;
    }
}

}  // namespace

Experiment x_driver() {
    std::vector<ProfilePlan> profiles = driver_profiles(1);
    for (ProfilePlan& plan : profiles) {
        if (plan.profile == Profile::gpu) {
            plan.rounds = 3;
            plan.axes["processes"] = {std::int64_t{34}};  // a hundred in all
            plan.axes["allocations"] = {std::int64_t{4000}};
            plan.seconds_per_sample = 20;
        } else {
            for (const auto& [probe, word] : names_of(Probe()))
                if (probe != Probe::costs) plan.variants.emplace_back(word);
        }
    }
    Declaration<XDriver> x_driver(
        {.id = "foundry/x_driver",
         .title = "What a driver answers where documents leave it open",
         .source = "our own addition",
         .says =
             "Whether new processes get a region's addresses, which handle a captured node shows, "
             "whether edges keep their kind, what an update refuses, which calls a capture does "
             "not survive, what graphs cost in time and in device memory, and small allocations "
             "mapped a granule each. The fake driver's answers are what was put in, and guesses "
             "where nothing is written; its times are of no driver, so that costs need a GPU. "
             "Kernels of other libraries (cuBLASLt) are not asked about.",
         .metrics = declared<Found>(),
         .profiles = profiles,
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "reserved",
                    .x = "base",
                    .x_title = "asked for",
                    .y_title = "share of processes that get it"}});
    x_driver.axis("processes", &XDriver::processes, "that reserve a region", between(1, 1000));
    x_driver.axis("allocations", &XDriver::allocations, "mapped a granule each",
                  between(1, 50'000));
    x_driver.axis("repeats", &XDriver::repeats, "of what costs time", between(1, 10'000));
    x_driver.variants(&XDriver::probe);
    x_driver.given(&XDriver::profile, &SampleSpec::profile);
    x_driver.unsupported([](const XDriver& settings) { return lacks_driver(settings); });
    x_driver.check([](const XDriver& settings) {
        if (settings.is_fake() && settings.probe == Probe::costs)
            throw UserError(
                "variant costs: the fake driver's times are of no driver; use "
                "--profile gpu");
    });
    return x_driver.runs(run);
}

}  // namespace assay::foundry
