#include "impls/foundry/live/live_schedule.hpp"

#include <fmt/format.h>

#include <fstream>
#include "impls/foundry/campaign/draw.hpp"
#include "impls/foundry/live/course.hpp"
#include "suite/base/error.hpp"

namespace assay::foundry {
namespace {

namespace fs = std::filesystem;

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

/// The driver of one of the quirks, or one whose n-th call fails.
std::string driver_trouble(Draw& draw) {
    static constexpr const char* calls[] = {"cuGraphInstantiate",   "cuGraphExecUpdate",
                                            "cuGraphAddKernelNode", "cuMemCreate",
                                            "cuLibraryLoadData",    "cuStreamBeginCapture",
                                            "cuGraphLaunch",        "cuGraphAddMemsetNode"};
    switch (draw.below(6)) {
        case 0:
            return R"({"reserve_elsewhere": 1})";
        case 1:
            return R"({"bulk_edge_bug": 1})";
        case 2:
            return R"({"lazy_loading": 1, "refuse_memset_resize": 1})";
        case 3:
            return R"({"multiprocessors": 114})";
        default:
            return fmt::format(R"({{"fail": {{"{}": [{}, {}]}}}})",
                               calls[draw.below(std::size(calls))], 1 + draw.below(6),
                               draw.one_in(2) ? 2 : 999);
    }
}

FaultPlan faults(Draw& draw, bool saves) {
    FaultPlan plan;
    for (std::uint64_t n = draw.below(3); n > 0; --n) {
        const char* const kind = draw.one_in(3) ? "hang" : "kill";
        if (saves && draw.one_in(3))
            plan.faults.push_back(
                draw.one_in(2)
                    ? parse_fault(fmt::format("{}:role=saver,rank=0@t=0.0{}", kind, draw.below(6)))
                    : parse_fault("disk_full:role=saver,rank=0@t=0"));
        else if (draw.one_in(3))
            plan.faults.push_back(parse_fault(
                fmt::format("{}:role=server,rank=0,phase=prepare@step={}", kind, draw.below(3)),
                fault_phases()));
        else
            plan.faults.push_back(parse_fault(
                fmt::format("{}:role=server,rank={}@step={}", kind, draw.below(2), draw.below(6))));
    }
    return plan;
}

void flip_a_byte(const fs::path& folder, Draw& draw) {
    static constexpr const char* files[] = {"manifest.json", "graphs.bin", "deltas.bin",
                                            "images.bin",    "images.idx", "manifest.sha256"};
    const fs::path path = folder / files[draw.below(std::size(files))];
    const auto at = static_cast<std::int64_t>(draw.below(fs::file_size(path)));
    flip_bit(path, at, static_cast<int>(draw.below(8)));
}

std::string broken_rule(const LiveCourse& course, const LiveOutcome& outcome, bool damaged) {
    if (!outcome.ok) return "it did not come to its end: " + outcome.why;
    for (std::size_t request = 0; request < outcome.results.size(); ++request)
        if (outcome.results[request] !=
            reference_result(course.engine, static_cast<int>(request),
                             course.engine.batches[course.loader.requests[request]]))
            return fmt::format("request {} has other tokens than the reference", request);
    if (damaged || !fs::exists(course.loader.archives.front())) return {};
    try {
        const Archive whole(course.loader.archives.front());
    } catch (const UserError& error) {
        return fmt::format("what is left is no archive: {}", error.what());
    }
    return {};
}

}  // namespace

void flip_bit(const fs::path& path, std::int64_t at, int bit) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const int byte = file.get();
    file.seekp(at);
    file.put(static_cast<char>(byte ^ (1 << bit)));
}

drive::SeedOutcome run_live_schedule(std::uint64_t seed, const fs::path& scratch) {
    Draw draw(seed);
    LiveCourse course{.engine = engine(draw), .loader = {}, .progress_s = 1.5};
    course.loader.mode = static_cast<Mode>(draw.below(names_of(Mode()).size()));
    course.loader.archives = {(scratch / "archive").string()};
    course.loader.servers = 1 + static_cast<int>(draw.below(2));
    for (std::uint64_t n = 6 + draw.below(12); n > 0; --n)
        course.loader.requests.push_back(draw.below(course.engine.batches.size()));
    // A saver in the course meets the same faults; one before it leaves an archive to be damaged.
    course.saves = draw.one_in(2);
    bool damaged = false;
    if (!course.saves && !draw.one_in(5)) {
        if (const auto why = make_live_engine(course.engine)->save(course.loader.archives.front());
            !why.empty())
            return {.why = why};
        if (damaged = draw.one_in(3); damaged) flip_a_byte(course.loader.archives.front(), draw);
    }
    std::string trouble;
    if (draw.one_in(2)) {
        trouble = driver_trouble(draw);
        course.environment = {{"ASSAY_FAKE_DRIVER", trouble}};
    }
    course.faults = faults(draw, course.saves);

    MemoryRecorder recorder;
    const LiveOutcome outcome = run_live(course, recorder);
    drive::SeedOutcome result;
    result.why = broken_rule(course, outcome, damaged);
    result.ok = result.why.empty();
    result.says = fmt::format(
        "{}, {} graphs, {} requests, {} servers{}{}{}: {}", to_string(course.loader.mode),
        course.engine.batches.size(), course.loader.requests.size(), course.loader.servers,
        course.saves ? ", saved first" : "", damaged ? ", archive damaged" : "",
        trouble.empty() ? "" : ", driver " + trouble, to_string(course.faults));
    result.counts = {{"requests", static_cast<long>(outcome.results.size())},
                     {"restarts", outcome.restarts},
                     {"fault.struck", outcome.faults_struck},
                     {"refused", static_cast<long>(outcome.troubles.size())}};
    for (const auto& [make, count] : outcome.makes)
        result.counts[std::string(to_string(make))] += count;
    return result;
}

}  // namespace assay::foundry
