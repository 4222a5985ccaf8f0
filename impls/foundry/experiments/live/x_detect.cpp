// Which check sees which difference between the process that saved graphs and the one that loads
// them, and what comes of those that none sees.
#include <cstring>
#include <filesystem>
#include <random>
#include <string>

#include "impls/foundry/experiments/live/live_experiments.hpp"
#include "impls/foundry/experiments/live/on_driver.hpp"
#include "impls/foundry/live/damage.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::foundry {
namespace {

enum class Difference {
    none,
    start_up,         ///< start-up allocates more, which it may
    late_allocation,  ///< one allocation more behind the boundary
    other_gpu,
    other_driver,
    other_batches,
    base_taken,    ///< the region's addresses are not to be had
    damaged_file,  ///< a byte of the archive
    wrong_word,    ///< a word of a kernel's parameters, saved so
    dead_pointer,  ///< an address in them at which nothing lives, saved so
    bulk_edges,    ///< the driver gives all edges of a call the first one's kind
};
ASSAY_NAMES(Difference, none, start_up, late_allocation, other_gpu, other_driver, other_batches,
            base_taken, damaged_file, wrong_word, dead_pointer, bulk_edges)

/// Which checks there are, beside those of the archive's hashes, batch sizes and region.
enum class Looks { all, none, fingerprint, cursor, audit, read_back, golden };
ASSAY_NAMES(Looks, all, none, fingerprint, cursor, audit, read_back, golden)

struct XDetect : OnDriver {
    Difference difference{};
    Looks looks{};
};

struct Found : Metrics {
    using Metrics::Metrics;
    Metric seen = exact("seen", "bool", "something was refused, and said", none);
    Metric right = exact("right", "share", "requests answered with the reference's tokens", higher);
    Metric captured = exact("captured", "count", "graphs captured instead of restored", lower);
    Metric died = exact("died", "count", "processes that the driver ended", lower);
};

Checks checks(Looks looks) {
    const auto on = [&](Looks one) { return looks == Looks::all || looks == one; };
    return {.fingerprint = on(Looks::fingerprint),
            .audit = on(Looks::audit),
            .cursor = on(Looks::cursor),
            .read_back = on(Looks::read_back),
            .golden = on(Looks::golden)};
}

/// The archive once more with other parameters, its hashes right.
void save_otherwise(const std::filesystem::path& folder, Difference difference,
                    std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto other = folder.parent_path() / "other";
    {
        const Archive archive(folder);
        const Manifest& manifest = archive.manifest();
        GraphEncoder graphs;
        const std::size_t chosen = random() % archive.graphs().size();
        for (std::size_t at = 0; at < archive.graphs().size(); ++at) {
            Graph graph = archive.graphs().graph(at);
            std::vector<std::byte*> words;
            for (Node& node : graph.nodes)
                for (std::size_t word = 0; word + 8 <= node.launch.params.size(); word += 8) {
                    std::byte* const place = node.launch.params.data() + word;
                    std::uint64_t value = 0;
                    std::memcpy(&value, place, sizeof value);
                    if (manifest.region->settings.range().holds(value)) words.push_back(place);
                }
            if (at == chosen) {
                std::byte* const word = words.at(random() % words.size());
                std::uint64_t value = 0;
                std::memcpy(&value, word, sizeof value);
                value = difference == Difference::dead_pointer
                            ? manifest.region->settings.range().hi - 4096
                            : value ^ std::uint64_t{8} << random() % 8;
                std::memcpy(word, &value, sizeof value);
            }
            graphs.add(graph);
        }
        ArchiveContent content{.graphs = graphs};
        for (const StoredImage& image : archive.images())
            content.images.push_back({image.sha256, archive.content(image), image.image});
        content.fingerprint = manifest.fingerprint;
        content.region = manifest.region;
        content.trace = archive.trace().value_or("");
        content.golden = manifest.golden;
        write_archive(other, content);
    }
    std::filesystem::remove_all(folder);
    std::filesystem::rename(other, folder);
}

void differ(const XDetect& settings, LiveCourse& course) {
    const auto driver_is = [&](const char* json) { course.devices = {json}; };
    switch (settings.difference) {
        case Difference::none:
            break;
        case Difference::start_up:
            course.engine.before_bytes = 5'000'000;
            break;
        case Difference::late_allocation:
            course.engine.after_bytes = 1;
            break;
        case Difference::other_gpu:
            driver_is(R"({"device_name": "another GPU", "multiprocessors": 114})");
            break;
        case Difference::other_driver:
            driver_is(R"({"driver_version": 13010})");
            break;
        case Difference::other_batches:
            std::swap(course.engine.batches.front(), course.engine.batches.back());
            break;
        case Difference::base_taken:
            driver_is(R"({"reserve_elsewhere": 1})");
            break;
        case Difference::damaged_file:
            flip_bit(settings.archive() / "graphs.bin", 200, 0);
            break;
        case Difference::wrong_word:
        case Difference::dead_pointer:
            save_otherwise(settings.archive(), settings.difference, settings.seed);
            break;
        case Difference::bulk_edges:
            driver_is(R"({"bulk_edge_bug": 1})");
            break;
    }
}

void run(const XDetect& settings, Recorder& recorder) {
    LiveCourse course = settings.course(Mode::r3_lazy, 1);
    if (const auto saved = make_live_engine(course.engine)->save(settings.archive().string());
        !saved.empty())
        throw SampleError(SampleStatus::failed, saved);
    course.saves = false;
    course.engine.checks = checks(settings.looks);
    differ(settings, course);
    const LiveOutcome outcome = run_live(course, recorder);
    if (!outcome.ok) throw SampleError(SampleStatus::failed, outcome.why);
    double right = 0;
    for (std::size_t request = 0; request < outcome.results.size(); ++request)
        right += outcome.results[request] ==
                 reference_result(course.engine, static_cast<int>(request),
                                  course.engine.batches[course.loader.requests[request]]);
    const auto captured = outcome.makes.find(Make::capture);
    const Found found(recorder);
    found.seen(!outcome.troubles.empty());
    found.right(right / static_cast<double>(outcome.results.size()));
    found.captured(captured == outcome.makes.end() ? 0 : captured->second);
    found.died(outcome.restarts);
}

}  // namespace

Experiment x_detect() {
    Declaration<XDetect> x_detect(
        {.id = "foundry/x_detect",
         .title = "Which check sees which difference between saving and loading",
         .source = "arXiv 2604.06664v1 and its public code; our own addition",
         .says =
             "Graphs are saved, something is different when they are loaded, and of the checks "
             "before they serve all, one or none is made. What is seen is captured instead; "
             "what is not seen may do no harm, end the process, or give wrong tokens. The "
             "archive's own hashes, its batch sizes and the region's place are always looked at, "
             "and the driver refuses to map what is mapped. What bulk_edges does is avoided by "
             "how graphs are built: nothing is to be seen. On the fake driver, with a step "
             "whose tokens show any wrong word.",
         .metrics = declared<Found>(),
         .profiles = {{.profile = Profile::toy,
                       .provenances = {Provenance::emulated},
                       .rounds = 3,
                       .seconds_per_sample = 0.5},
                      {.profile = Profile::small,
                       .provenances = {Provenance::emulated},
                       .rounds = 10,
                       .seconds_per_sample = 0.5}},
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "right",
                    .x = "difference",
                    .x_title = "what differs",
                    .y_title = "share of requests with right tokens"}});
    x_detect.part(on_driver());
    x_detect.rest.profiles.front().axes["graphs"] = {std::int64_t{4}};
    x_detect.rest.profiles.back().axes["graphs"] = {std::int64_t{8}};
    x_detect.axis("difference", &XDetect::difference, "what differs when graphs are loaded");
    x_detect.variants(&XDetect::looks);
    x_detect.unsupported([](const XDetect& settings) { return lacks_driver(settings); });
    return x_detect.runs(run);
}

}  // namespace assay::foundry
