#include "impls/foundry/live/live_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "impls/foundry/live/course.hpp"
#include "impls/foundry/live/damage.hpp"
#include "suite/base/error.hpp"
#include "suite/base/sha256.hpp"

namespace assay::foundry {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Schedule {
    LiveCourse course;
    bool damaged = false;  ///< the first archive, before anything is started
    std::string says;
};

EngineSettings engine(Draw& draw) {
    EngineSettings settings;
    settings.driver = fake_driver().string();
    const int batches = 4 + static_cast<int>(draw.below(6));
    settings.step.most_rows = batches;
    settings.step.layers = 1 + static_cast<int>(draw.below(3));
    if (!draw.one_in(3)) settings.step.split_from = 2 + static_cast<int>(draw.below(4));
    if (draw.one_in(2)) settings.step.programmatic_from = 3;
    if (draw.one_in(2)) settings.step.cluster_from = {4};
    settings.step.seed = draw.below(1000);
    for (int batch = 1; batch <= batches; ++batch) settings.batches.push_back(batch);
    settings.before_bytes = draw.below(2) * 3'000'000;
    return settings;
}

/// What servers run on, in turn: one type of GPU and driver, or two.
std::vector<json> types(Draw& draw) {
    std::vector<json> types{json::object()};
    if (draw.one_in(3)) {
        if (draw.one_in(2))
            types.push_back(
                {{"device_name", "NVIDIA H100 PCIe (emulated)"}, {"multiprocessors", 114}});
        else
            types.push_back({{"driver_version", 12080}});
    }
    return types;
}

/// The driver of one of the quirks, or one whose n-th call fails.
json driver_trouble(Draw& draw) {
    static constexpr const char* calls[] = {"cuGraphInstantiate",   "cuGraphExecUpdate",
                                            "cuGraphAddKernelNode", "cuMemCreate",
                                            "cuLibraryLoadData",    "cuStreamBeginCapture",
                                            "cuGraphLaunch",        "cuGraphAddMemsetNode"};
    switch (draw.below(6)) {
        case 0:
            return {{"reserve_elsewhere", 1}};
        case 1:
            return {{"bulk_edge_bug", 1}};
        case 2:
            return {{"lazy_loading", 1}, {"refuse_memset_resize", 1}};
        case 3:
            return {{"hang_at_update", 1 + draw.below(4)}, {"watchdog", draw.below(2)}};
        default:
            return {{"fail",
                     {{calls[draw.below(std::size(calls))],
                       {1 + draw.below(6), draw.one_in(2) ? 2 : 999}}}}};
    }
}

Fault of_saver(Draw& draw) {
    static constexpr const char* at_once[] = {"torn", "torn", "disk_full", "gpu_error"};
    if (draw.one_in(2))
        return parse_fault(
            fmt::format("{}:role=saver,rank=0@step=0", at_once[draw.below(std::size(at_once))]));
    return parse_fault(fmt::format("{}:role=saver,rank=0@t=0.0{}", draw.one_in(3) ? "hang" : "kill",
                                   draw.below(6)));
}

Fault of_server(Draw& draw) {
    static constexpr const char* kinds[] = {"kill", "kill", "hang", "slow", "gpu_error", "corrupt"};
    const std::string kind = kinds[draw.below(std::size(kinds))];
    const auto rank = draw.below(2);
    if (kind == "corrupt")  // the archive that it opens at first
        return parse_fault(fmt::format("corrupt:role=server,rank={},target=tensor@step=0", rank));
    if (kind == "slow")
        return parse_fault(
            fmt::format("slow:role=server,rank={},factor=4@step={},for=0.3", rank, draw.below(4)));
    if (kind != "gpu_error" && draw.one_in(3))
        return parse_fault(
            fmt::format("{}:role=server,rank={},phase=prepare@step={}", kind, rank, draw.below(3)),
            fault_phases());
    return parse_fault(fmt::format("{}:role=server,rank={}@step={}", kind, rank, draw.below(6)));
}

void save(const LiveCourse& course, const json& type, const std::string& archive) {
    EngineSettings engine = course.engine;
    engine.device = type.dump();
    if (const auto why = make_live_engine(engine)->save(archive); !why.empty())
        throw UserError(why);
}

/// A saver in the course meets the same faults as servers; one before it leaves an archive to be
/// damaged, and one of another type of GPU an archive that only servers on that can take.
void draw_archives(Draw& draw, const std::vector<json>& types, const fs::path& scratch,
                   Schedule& schedule) {
    LiveCourse& course = schedule.course;
    std::vector<std::string>& archives = course.loader.archives;
    archives = {(scratch / "archive").string()};
    course.saves = draw.one_in(2);
    if (!course.saves && !draw.one_in(5)) {
        save(course, types.front(), archives.front());
        schedule.damaged = draw.one_in(3);
        if (schedule.damaged) flip_a_bit(archives.front(), draw);
    }
    if (types.size() > 1 && draw.one_in(2)) {
        archives.push_back((scratch / "other").string());
        save(course, types.back(), archives.back());
    }
    if (draw.one_in(4))  // of a saver that was killed before
        fs::create_directories(scratch / ".archive.assay-part" / "images.bin");
}

Schedule draw_schedule(std::uint64_t seed, const fs::path& scratch) {
    Draw draw(seed);
    Schedule schedule{.course = {.engine = engine(draw), .loader = {}, .progress_s = 1.5}};
    LiveCourse& course = schedule.course;
    course.loader.mode = static_cast<Mode>(draw.below(names_of(Mode()).size()));
    std::vector<json> devices = types(draw);
    course.loader.servers = static_cast<int>(devices.size() - 1 + draw.below(2)) + 1;
    for (std::uint64_t n = 6 + draw.below(12); n > 0; --n)
        course.loader.requests.push_back(draw.below(course.engine.batches.size()));
    draw_archives(draw, devices, scratch, schedule);
    const json trouble = draw.one_in(2) ? driver_trouble(draw) : json::object();
    for (json& device : devices) {
        device.update(trouble);
        course.devices.push_back(device.dump());
    }
    for (std::uint64_t n = draw.below(4); n > 0; --n)
        course.faults.faults.push_back(course.saves && !draw.one_in(3) ? of_saver(draw)
                                                                       : of_server(draw));
    schedule.says = fmt::format(
        "{}, {} graphs, {} requests, {} servers on {}{}{}{}: {}", to_string(course.loader.mode),
        course.engine.batches.size(), course.loader.requests.size(), course.loader.servers,
        fmt::join(course.devices, ", "), course.saves ? ", saved first" : "",
        course.loader.archives.size() > 1 ? ", an archive of each" : "",
        schedule.damaged ? ", archive damaged" : "", to_string(course.faults));
    return schedule;
}

/// As `sha256sum -c` sees it, and not what reads archives: each file is there as it was written,
/// and there is no other.
bool is_whole(const fs::path& archive) {
    if (!fs::exists(archive)) return false;
    std::ifstream sums(archive / "manifest.sha256");
    std::string sha256, name;
    std::set<std::string> files{"manifest.sha256"};
    while (sums >> sha256 >> name) {
        const fs::path file = archive / name;
        if (!fs::exists(file) || sha256_file_hex(file) != sha256) return false;
        files.insert(name);
    }
    return std::ranges::all_of(fs::directory_iterator(archive), [&](const auto& entry) {
        return files.contains(entry.path().filename().string());
    });
}

/// What is wrong with what was left in the archives' folder; empty: nothing.
std::string left_behind(const std::vector<std::string>& archives, bool may_be_damaged) {
    for (const auto& entry : fs::directory_iterator(fs::path(archives.front()).parent_path()))
        if (std::ranges::find(archives, entry.path().string()) == archives.end())
            return fmt::format("{} is left behind", entry.path().string());
    for (const std::string& archive : archives)
        if (fs::exists(archive) && !is_whole(archive) && !may_be_damaged)
            return fmt::format("{} is not whole", archive);
    return {};
}

}  // namespace

std::string broken_rule(const LiveCourse& course, const LiveOutcome& outcome, bool may_be_damaged) {
    if (!outcome.ok) return "it did not come to its end: " + outcome.why;
    for (std::size_t request = 0; request < outcome.results.size(); ++request)
        if (outcome.results[request] !=
            reference_result(course.engine, static_cast<int>(request),
                             course.engine.batches[course.loader.requests[request]]))
            return fmt::format("request {} has other tokens than the reference", request);
    const std::vector<std::string>& archives = course.loader.archives;
    if (auto left = left_behind(archives, may_be_damaged); !left.empty()) return left;
    if (!restores(course.loader.mode) || std::ranges::any_of(archives, is_whole)) return {};
    if (outcome.makes.contains(Make::build) || outcome.makes.contains(Make::own))
        return "graphs were restored, and no archive is whole";
    const bool said = std::ranges::any_of(outcome.troubles, [&](const std::string& why) {
        return why.find(archives.front()) != why.npos || why.find("die before") != why.npos;
    });
    return said ? "" : "no archive is whole, and it was not said";
}

drive::SeedOutcome run_live_schedule(std::uint64_t seed, const fs::path& scratch) {
    const Schedule schedule = draw_schedule(seed, scratch);
    MemoryRecorder recorder;
    const LiveOutcome outcome = run_live(schedule.course, recorder);
    drive::SeedOutcome result;
    result.says = schedule.says;
    result.counts = {{"requests", static_cast<long>(outcome.results.size())},
                     {"restarts", outcome.restarts},
                     {"refused", static_cast<long>(outcome.troubles.size())}};
    for (const auto& [make, count] : outcome.makes)
        result.counts[std::string(to_string(make))] += count;
    for (const auto& event : recorder.events)
        if (event.kind == "fault")
            ++result.counts["fault." + event.detail.at("kind").get<std::string>()];
    result.why = broken_rule(schedule.course, outcome,
                             schedule.damaged || result.counts.contains("fault.torn"));
    result.ok = result.why.empty();
    return result;
}

}  // namespace assay::foundry
