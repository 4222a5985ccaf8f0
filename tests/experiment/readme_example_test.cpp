#include "suite/experiment/declaration.hpp"
#include "suite/experiment/exact_profiles.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::queueing {
namespace {
enum class Service { exponential, constant };
ASSAY_NAMES(Service, exponential, constant)

struct Fig1 {
    double load = 0;  ///< requests per service time
    Service service{};
};

struct Found : Metrics {
    using Metrics::Metrics;
    Metric wait = exact("wait", "service times", "mean time in the queue", lower);
};

void run(const Fig1& fig1, Recorder& recorder) {
    const double variation = fig1.service == Service::exponential ? 1 : 0;
    const Found found(recorder);
    found.wait(fig1.load * (1 + variation) / (2 * (1 - fig1.load)));
}
}  // namespace

Experiment fig1() {
    Declaration<Fig1> fig1({.id = "queueing/fig1",
                            .title = "Waiting in front of one server",
                            .source = "Khinchine 1932",
                            .says = "Requests come at random; one server takes them in turn.",
                            .metrics = declared<Found>(),
                            .profiles = exact_profiles(0.01),
                            .figure = {.metric = "wait", .x = "load"}});
    fig1.axis("load", &Fig1::load, "requests per service time", {0.5, 0.9}, between(0, 0.999));
    fig1.variants(&Fig1::service);
    return fig1.runs(run);
}

}  // namespace assay::queueing

// The figure above is the one that suite/experiment/README.md shows.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "suite/experiment/system.hpp"

namespace assay::queueing {
namespace {

std::string text_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

const std::filesystem::path here = __FILE__;

/// The page's first block of that language.
std::string shown(const std::string& language) {
    const std::filesystem::path root = here.parent_path().parent_path().parent_path();
    const std::string page = text_of(root / "suite" / "experiment" / "README.md");
    const std::string fence = "```" + language + "\n";
    const auto begin = page.find(fence) + fence.size();
    return page.substr(begin, page.find("```", begin) - begin);
}

TEST(Readme, ShowsAFigureThatRuns) {
    EXPECT_EQ(shown("cpp"), text_of(here).substr(0, shown("cpp").size()));

    const Experiment experiment = fig1();
    MemoryRecorder recorder;
    experiment.run({.variant = "constant", .axes = {{"load", 0.5}}}, recorder);
    EXPECT_EQ(recorder.value("wait"), 0.5);
    EXPECT_THROW(experiment.validate({.variant = "constant", .axes = {{"load", 1.5}}}), UserError);
}

TEST(Readme, ShowsAClaimOfIt) {
    System system;
    system.id = "queueing";
    system.experiments = {fig1()};
    system.claims = read_claims(shown("toml"), "README.md");
    ASSERT_EQ(system.claims.size(), 1U);
    EXPECT_NO_THROW(Registry().add(std::move(system)));
}

}  // namespace
}  // namespace assay::queueing
