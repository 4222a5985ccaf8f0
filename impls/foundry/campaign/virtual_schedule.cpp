#include "impls/foundry/campaign/virtual_schedule.hpp"

#include <fmt/format.h>

#include <string_view>

#include "impls/foundry/campaign/draw.hpp"
#include "impls/foundry/method/loader/loader.hpp"
#include "suite/drive/policy_run.hpp"
#include "suite/drive/simulated/event_queue.hpp"
#include "suite/drive/simulated/virtual_cluster.hpp"

namespace assay::foundry {
namespace {

// Of all that a worker does in one piece, saving takes longest, and four times as long where it is
// slowed down.
constexpr double horizon_s = 20, patience_s = 25;
constexpr const char *archive = "archive", *other_archive = "archive-of-the-other";

struct Schedule {
    LoaderSettings loader;
    ModelledSettings engines;
    ModelledDisk disk;
    std::vector<double> arrivals_s;
    FaultPlan faults;
    bool saves = false;
};

std::vector<std::size_t> groups(Draw& draw) {
    std::vector<std::size_t> group_of;
    std::size_t groups = 0;
    for (std::uint64_t graph = 3 + draw.below(20); graph > 0; --graph) {
        const auto group =
            static_cast<std::size_t>(draw.below(groups + (draw.one_in(3) ? 1 : 0) + 1));
        group_of.push_back(std::min(group, groups));
        groups = std::max(groups, group_of.back() + 1);
    }
    return group_of;
}

FaultPlan faults(Draw& draw, bool saves, std::uint64_t servers) {
    static constexpr std::string_view kinds[] = {"kill",      "hang", "slow",     "corrupt",
                                                 "gpu_error", "torn", "disk_full"};
    FaultPlan plan;
    for (std::uint64_t n = draw.below(5); n > 0; --n) {
        const std::string_view kind = kinds[draw.below(std::size(kinds))];
        const bool of_files = kind == "torn" || kind == "disk_full";
        const bool of_saver = saves && (of_files || draw.one_in(4));
        if (of_files && !of_saver) continue;
        std::string text = fmt::format("{}:role={},rank={}", kind, of_saver ? "saver" : "server",
                                       of_saver ? 0 : draw.below(servers + 1));
        if (kind == "slow") text += ",factor=4";
        if (kind == "corrupt") text += ",target=tensor";
        if (of_files || kind == "corrupt" || (of_saver && kind == "gpu_error"))
            text += "@step=0";  // before it saves, or opens an archive
        else
            text += of_saver ? "@t=0.01" : fmt::format("@t={:.3f}", draw.seconds(horizon_s));
        if (kind == "hang" && draw.one_in(2))
            text += fmt::format(",for={:.3f}", 0.1 + draw.seconds(4));
        plan.faults.push_back(parse_fault(text));
    }
    return plan;
}

Schedule draw_schedule(std::uint64_t seed, Misdeed misdeed) {
    Draw draw(seed);
    Schedule schedule;
    LoaderSettings& loader = schedule.loader;
    ModelledSettings& engines = schedule.engines;
    loader.mode = static_cast<Mode>(draw.below(names_of(Mode()).size()));
    loader.archives = {archive};
    loader.servers = 1 + static_cast<int>(draw.below(4));
    loader.restarts = 60;
    engines.seed = seed;
    engines.misdeed = misdeed;
    engines.group_of = groups(draw);
    engines.chips = draw.one_in(4) ? std::vector<std::string>{"H100", "B200"}
                                   : std::vector<std::string>{"H100"};
    if (engines.chips.size() > 1 && draw.one_in(2)) {
        loader.archives.push_back(other_archive);
        schedule.disk.archives[other_archive] = {.chip = engines.chips.back()};
    }
    engines.costs = {.capture = 0.2,
                     .build = 0.04,
                     .instantiate = 0.001,
                     .rewrite = 0.0005,
                     .images = 0.1,
                     .update = 0.002};
    if (draw.one_in(2)) engines.make_fails = draw.seconds(0.2);
    if (draw.one_in(4)) engines.update_hangs = 0.05;
    for (std::uint64_t n = 5 + draw.below(40); n > 0; --n) {
        loader.requests.push_back(draw.below(engines.group_of.size()));
        schedule.arrivals_s.push_back(draw.one_in(3) ? 0 : draw.seconds(horizon_s));
    }
    schedule.saves = draw.one_in(2);
    if (!schedule.saves && !draw.one_in(8))
        schedule.disk.archives[archive] = {.chip = draw.one_in(6) ? "A100" : "H100",
                                           .damaged = draw.one_in(5),
                                           .stale = draw.one_in(5)};
    schedule.faults = faults(draw, schedule.saves, static_cast<std::uint64_t>(loader.servers));
    return schedule;
}

/// The first rule that the end breaks; empty: none.
std::string broken_rule(const Schedule& schedule, const drive::PolicyCourse<Loader>& course,
                        const Loader& loader) {
    if (!course.ok) return "it did not come to its end: " + course.why;
    for (std::size_t request = 0; request < schedule.loader.requests.size(); ++request) {
        const auto right =
            right_result(static_cast<int>(request), schedule.loader.requests[request]);
        if (!loader.result(request)) return fmt::format("request {} was not served", request);
        if (*loader.result(request) != right)
            return fmt::format("request {} has another result than a capture's", request);
    }
    return {};
}

}  // namespace

drive::SeedOutcome run_virtual_schedule(std::uint64_t seed, Misdeed misdeed) {
    Schedule schedule = draw_schedule(seed, misdeed);
    drive::EventQueue time;
    drive::ConstantLatencies latencies(0.001 + 0.0001 * static_cast<double>(seed % 7), 0.5, 0.2);
    MemoryRecorder recorder;
    drive::VirtualCluster driver(
        loader_roles(modelled_engines(schedule.engines, schedule.disk), patience_s), time,
        latencies, {.faults = schedule.faults}, recorder);
    drive::PolicyRun<Loader> run(Loader(schedule.loader), driver);
    for (std::size_t request = 0; request < schedule.arrivals_s.size(); ++request)
        driver.start(drive::StartTimer{request, schedule.arrivals_s[request]});
    if (schedule.saves)
        driver.spawn({"saver", ""});
    else
        for (int i = 0; i < schedule.loader.servers; ++i) driver.spawn({"server", ""});
    const auto course = run.run();

    drive::SeedOutcome outcome;
    outcome.why = broken_rule(schedule, course, run.policy());
    outcome.ok = outcome.why.empty();
    outcome.says = fmt::format("{}, {} graphs, {} requests, {} servers{}: {}",
                               to_string(schedule.loader.mode), schedule.engines.group_of.size(),
                               schedule.loader.requests.size(), schedule.loader.servers,
                               schedule.saves ? ", saved first" : "", to_string(schedule.faults));
    outcome.counts["requests"] = static_cast<long>(run.policy().served());
    outcome.counts["restarts"] = run.policy().restarts();
    for (const auto& event : recorder.events)
        if (event.kind == "fault")
            ++outcome.counts["fault." + event.detail.at("kind").get<std::string>()];
    for (const auto& [make, count] : run.policy().makes())
        outcome.counts[std::string(to_string(make))] += count;
    for (const std::string& why : run.policy().troubles()) {
        outcome.counts["refused"] +=
            why.starts_with(archive) || why.starts_with("there is no archive");
        outcome.counts["unfit"] += why.starts_with("the first replay");
    }
    return outcome;
}

}  // namespace assay::foundry
