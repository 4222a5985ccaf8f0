// Ranks that decode together with graphs that one process saved, and a switch of how many they are.
#include <algorithm>
#include <string>
#include <vector>

#include "impls/foundry/experiments/live/live_experiments.hpp"
#include "impls/foundry/experiments/live/on_driver.hpp"
#include "impls/foundry/live/ranks/rank_course.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::foundry {
namespace {

namespace fs = std::filesystem;

/// restored: out of one archive, patched to each rank. own_archives: each rank saved its own.
enum class Graphs { restored, own_archives, captured };
ASSAY_NAMES(Graphs, restored, own_archives, captured)

struct XRanks : OnDriver {
    int ranks = 2;
    Graphs graphs_are{};
};

struct Found : Metrics {
    using Metrics::Metrics;
    Metric equal =
        exact("equal", "share", "requests whose tokens are those of one process", higher);
    Metric archive_bytes = exact("archive_bytes", "bytes", "of all archives of these ranks", lower);
    Metric own_over_one =
        exact("own_over_one", "ratio",
              "bytes of an archive for each rank, over those of one for all", none, {"archives"});
    Metric words_patched =
        exact("words_patched", "count", "32-bit words of all graphs that the last rank patches");
    Metric ready_s = varying("ready_s", "s",
                             "until all ranks could serve, since all processes were there", lower);
    Metric switch_s =
        varying("switch_s", "s",
                "from the last answer before a switch of parallelism to the first one after it",
                lower, {"to"});
};

fs::path archive(const XRanks& x, int ranks, int rank) {
    fs::path path = fs::path(x.scratch) / (std::to_string(ranks) + "." + std::to_string(rank));
    if (!fs::exists(path))
        if (const auto why = save_rank(x.engine(), rank, ranks, path); !why.empty())
            throw SampleError(SampleStatus::failed, why);
    return path;
}
std::vector<std::string> archives(const XRanks& x, int ranks) {
    std::vector<std::string> all;
    const int count = x.graphs_are == Graphs::captured       ? 0
                      : x.graphs_are == Graphs::own_archives ? ranks
                                                             : 1;
    for (int rank = 0; rank < count; ++rank) all.push_back(archive(x, ranks, rank).string());
    return all;
}
double bytes(const std::vector<std::string>& folders) {
    double all = 0;
    for (const std::string& folder : folders) all += static_cast<double>(Archive(folder).bytes());
    return all;
}

/// So many ranks, then half as many, and as many again; each serves every graph.
RankCourse course(const XRanks& x) {
    RankCourse course{.engine = x.engine(),
                      .group = {.mode = x.graphs_are == Graphs::captured ? Mode::capture : Mode::r1,
                                .stages = {},
                                .requests = {}},
                      .sockets = fs::path(x.scratch) / "sockets"};
    const std::vector<std::size_t> requests = x.course(course.group.mode, 1).loader.requests;
    for (const int ranks : {x.ranks, x.ranks / 2, x.ranks}) {
        course.group.stages.push_back({ranks, requests.size(), archives(x, ranks)});
        course.group.requests.insert(course.group.requests.end(), requests.begin(), requests.end());
    }
    return course;
}

std::size_t words_patched(const XRanks& x) {
    const Archive one(archive(x, x.ranks, 0));
    std::size_t words = 0;
    for (std::size_t graph = 0; graph < one.graphs().size(); ++graph) {
        Graph patched = one.graphs().graph(graph);
        words += patch_rank(patched, *one.manifest().ranks, x.ranks - 1, x.ranks);
    }
    return words;
}

/// The archives of so many ranks, each of which saves by itself, over the first one's.
double own_over_one(const XRanks& x, int ranks) {
    XRanks own = x;
    own.graphs_are = Graphs::own_archives;
    const std::vector<std::string> all = archives(own, ranks);
    return bytes(all) / bytes({all.front()});
}

/// As many as the paper's archive serves.
constexpr int paper_ranks = 64;

void run(const XRanks& x, Recorder& recorder) {
    const RankCourse served = course(x);
    const RankOutcome outcome = run_ranks(served, recorder);
    if (!outcome.ok || outcome.restarts > 0)
        throw SampleError(SampleStatus::failed,
                          outcome.ok ? outcome.troubles.front() : outcome.why);
    RankCourse alone = served;
    alone.group.mode = Mode::capture;
    alone.group.stages = {{1, alone.group.requests.size(), {}}};
    alone.sockets /= "alone";
    const RankOutcome one_process = run_ranks(alone, recorder);
    if (!one_process.ok) throw SampleError(SampleStatus::failed, one_process.why);

    double equal = 0;
    for (std::size_t request = 0; request < outcome.results.size(); ++request)
        equal += outcome.results[request] == one_process.results[request];
    const Found found(recorder);
    found.equal(equal / static_cast<double>(outcome.results.size()));
    found.ready_s(outcome.groups.front().ready_s - outcome.groups.front().joined_s);
    for (std::size_t next = 1; next < outcome.groups.size(); ++next) {
        const GroupCourse &before = outcome.groups[next - 1], &after = outcome.groups[next];
        found.switch_s(after.first_s - before.last_s,
                       {{"to", after.ranks < before.ranks ? "half" : "twice"}});
    }
    if (x.graphs_are == Graphs::captured) return;
    found.archive_bytes(bytes(archives(x, x.ranks)));
    found.words_patched(x.graphs_are == Graphs::restored ? words_patched(x) : 0);
    if (x.graphs_are == Graphs::own_archives) return;
    for (const int ranks : {x.ranks, paper_ranks})
        found.own_over_one(own_over_one(x, ranks), {{"archives", std::int64_t{ranks}}});
}

}  // namespace

Experiment x_ranks() {
    std::vector<ProfilePlan> profiles = driver_profiles(4);
    for (ProfilePlan& plan : profiles) {
        plan.axes["graphs"] = {std::int64_t{4}};
        plan.axes["ranks"] = {std::int64_t{2}, std::int64_t{4}};
        if (plan.profile != Profile::toy) plan.axes["ranks"].emplace_back(std::int64_t{8});
    }
    Declaration<XRanks> x_ranks(
        {.id = "foundry/x_ranks",
         .title = "One archive for all ranks, and a switch of parallelism",
         .source = "ours; arXiv 2604.06664v1, multi-GPU",
         .says =
             "The toy step with a collective in each layer, decoded by several processes together: "
             "graphs saved by one process with a stub communicator and patched to each rank, saved "
             "by each rank, or captured. Then half as many ranks take over, and as many again: "
             "processes end and start, so that a switch is a start of a group. On the fake driver "
             "ranks are processes that share memory; times are of these processes on this machine. "
             "On a GPU all ranks share one, in turns of its time slices, and a kernel that waits "
             "for another rank takes a slice: times of one GPU for each rank are other. First "
             "replays of several ranks have no saved result to be held against.",
         .metrics = declared<Found>(),
         .profiles = profiles,
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "switch_s",
                    .x = "ranks",
                    .x_title = "ranks",
                    .y_title = "s from the last answer to the next"}});
    x_ranks.part(on_driver());
    x_ranks.axis("ranks", &XRanks::ranks, "processes that decode together; half as many in between",
                 {2, 4, 8}, between(2, 16));
    x_ranks.variants(&XRanks::graphs_are);
    x_ranks.unsupported([](const XRanks& settings) { return lacks_driver(settings); });
    return x_ranks.runs(run);
}

}  // namespace assay::foundry
