#include "suite/experiment/declaration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "suite/base/error.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay {
namespace {

enum class Arm { plain, guarded, other };
ASSAY_NAMES(Arm, plain, guarded, other)

struct Cluster {
    std::string trace;
    int nodes = 0;
};

struct Base {
    double share = 0;
};

struct Settings : Base {
    int workers = 6;
    double rate = 0.5, length = 0;
    bool replan = false;
    Arm kind{}, arm{};
    Cluster cluster;
    std::optional<double> overlap, chosen;
    std::optional<std::string> name;
    std::uint64_t seed = 0;
    std::string corpus;
};

struct Found : Metrics {
    using Metrics::Metrics;
    Metric workers = exact("workers", "count", "at the end", higher);
    Metric seconds = varying("seconds", "s", "of a step", lower, {"step"});
};

void run(const Settings& settings, Recorder& recorder) {
    const Found found(recorder);
    found.workers(settings.workers);
    found.seconds(settings.rate, {{"step", std::int64_t{1}}});
}
[[maybe_unused]] void run(const Cluster&, Recorder&) {}  // an overload

Axes<Cluster> cluster_axes() {
    Axes<Cluster> axes;
    axes.axis("trace", &Cluster::trace, "of spot nodes", {"p3"}, or_others);
    axes.axis("nodes", &Cluster::nodes, "at most", {10}, between(1, 64));
    axes.check([](const Cluster& cluster) {
        if (cluster.trace == "p3" && cluster.nodes > 32) throw UserError("p3 has 32 nodes");
    });
    return axes;
}

Axes<Base> base_axes() {
    Axes<Base> axes;
    axes.axis("share", &Base::share, "of tokens", {0.25}, between(0, 1));
    return axes;
}

Declaration<Settings> declared_example() {
    Declaration<Settings> example({.id = "x/y", .metrics = declared<Found>()});
    example.axis("workers", &Settings::workers, "at the start", between(1, 9));
    example.part(cluster_axes(), &Settings::cluster);
    example.axis("rate", &Settings::rate, "of steps", {0.5, 0.25}, between(0, 1));
    example.axis("length", &Settings::length, "in thousands", whole({4, 8}), between(0.125, 64));
    example.axis("replan", &Settings::replan, "as times demand");
    example.axis("kind", &Settings::kind, "of worker");
    example.part(base_axes());
    example.optional_axis("overlap", &Settings::overlap, "share that is hidden", "of the profile",
                          {0.0, 1.0}, between(0, 1));
    example.optional_axis("chosen", &Settings::chosen, "rate", "grid", {}, or_others);
    example.optional_axis("name", &Settings::name, "of a model", "none", {"a"});
    example.variants(&Settings::arm, {Arm::plain, Arm::guarded});
    example.given(&Settings::seed, &SampleSpec::seed);
    example.check([](const Settings& settings) {
        if (settings.replan && settings.workers < 2) throw UserError("one worker cannot replan");
    });
    return example;
}
Experiment example() { return declared_example().runs(run); }

SampleSpec sample(Case axes) { return {.variant = "guarded", .axes = std::move(axes), .seed = 7}; }

TEST(Declaration, SaysWhatIsBound) {
    const Experiment experiment = example();
    std::vector<std::string> names, closed;
    for (const Axis& axis : experiment.axes) {
        names.push_back(axis.name);
        if (!axis.open) closed.push_back(axis.name);
    }
    EXPECT_THAT(names, testing::ElementsAre("workers", "trace", "nodes", "rate", "length", "replan",
                                            "kind", "share", "overlap", "chosen", "name"));
    EXPECT_THAT(closed, testing::ElementsAre("replan", "kind", "name"));
    const auto values = [&](const char* axis) { return experiment.axis(axis)->values; };
    EXPECT_EQ(values("workers"), std::vector<Value>{std::int64_t{6}});
    EXPECT_EQ(values("rate"), (std::vector<Value>{0.5, 0.25}));
    EXPECT_EQ(values("length"), (std::vector<Value>{std::int64_t{4}, std::int64_t{8}}));
    EXPECT_EQ(values("replan"), (std::vector<Value>{"off", "on"}));
    EXPECT_EQ(values("kind"), (std::vector<Value>{"plain", "guarded", "other"}));
    EXPECT_EQ(values("overlap"), (std::vector<Value>{"of the profile", 0.0, 1.0}));
    EXPECT_EQ(experiment.variants, (std::vector<std::string>{"plain", "guarded"}));
    EXPECT_EQ(experiment.metrics[1].labels, std::vector<std::string>{"step"});
}

TEST(Declaration, RefusesWhatNoAxisAllows) {
    const Experiment experiment = example();
    EXPECT_NO_THROW(experiment.validate(sample({{"workers", std::int64_t{9}}})));
    for (const Case& wrong : std::vector<Case>{{{"workers", std::int64_t{10}}},
                                               {{"workers", 2.5}},
                                               {{"rate", "fast"}},
                                               {{"kind", "third"}},
                                               {{"replan", "maybe"}},
                                               {{"share", 1.5}},
                                               {{"overlap", 2.0}},
                                               {{"overlap", "much"}},
                                               {{"chosen", "gird"}},
                                               {{"workers", std::int64_t{1}}, {"replan", "on"}},
                                               {{"nodes", std::int64_t{33}}}})
        EXPECT_THROW(experiment.validate(sample(wrong)), UserError) << assay::to_string(wrong);
    EXPECT_NO_THROW(
        experiment.validate(sample({{"nodes", std::int64_t{33}}, {"trace", "mine.json"}})));
    SampleSpec unlisted = sample({});
    unlisted.variant = "nosuch";
    EXPECT_THROW(experiment.validate(unlisted), UserError);
}

TEST(Declaration, ReadsWhatASampleNamesAndTheFirstValueOfTheRest) {
    const Settings settings =
        declared_example().read(sample({{"workers", std::int64_t{3}},
                                        {"length", 0.5},
                                        {"overlap", "of the profile"},
                                        {"chosen", "0.25"},  // an axis of words has words
                                        {"name", "a"}}));
    EXPECT_EQ(settings.workers, 3);
    EXPECT_EQ(settings.length, 0.5);
    EXPECT_EQ(settings.rate, 0.5);
    EXPECT_EQ(settings.share, 0.25);
    EXPECT_EQ(settings.cluster.trace, "p3");
    EXPECT_EQ(settings.cluster.nodes, 10);
    EXPECT_FALSE(settings.overlap);
    EXPECT_EQ(settings.chosen, 0.25);
    EXPECT_EQ(settings.name, "a");
    EXPECT_EQ(settings.arm, Arm::guarded);
    EXPECT_EQ(settings.seed, 7U);
}

TEST(Declaration, RunsWithSettings) {
    Declaration<Settings> declaration = declared_example();
    declaration.given_to_run(&Settings::corpus, [] { return "only where it runs"; });
    const Experiment experiment =
        declaration.runs([](const Settings& settings, Recorder& recorder) {
            EXPECT_EQ(settings.corpus, "only where it runs");
            run(settings, recorder);
        });
    MemoryRecorder recorder;
    experiment.run(sample({{"workers", std::int64_t{3}}}), recorder);
    EXPECT_EQ(recorder.value("workers"), 3);
    EXPECT_EQ(recorder.value("seconds", {{"step", std::int64_t{1}}}), 0.5);
}

struct Part {
    std::optional<std::string> lacks() const { return "the module is missing"; }
    std::vector<Input> inputs() const { return {{.name = "text", .file = "bible", .sha256 = {}}}; }
    void operator()(const Settings&, Recorder&) const {}
};

TEST(Declaration, SaysWhatIsLackingAndRead) {
    Declaration<Settings> declaration = declared_example();
    declaration.unsupported([](const Settings& settings) -> std::optional<std::string> {
        if (settings.workers > 8) return "too many workers";
        return std::nullopt;
    });
    declaration.inputs([](const Settings& settings) {
        return std::vector<Input>{{.name = "trace", .file = settings.cluster.trace, .sha256 = {}}};
    });
    declaration.calibration([](const Settings& settings) {
        return nlohmann::json{{"workers", settings.workers}};
    });
    const Experiment experiment = declaration.runs(Part());
    EXPECT_EQ(experiment.unsupported(sample({{"workers", std::int64_t{9}}})), "too many workers");
    EXPECT_EQ(experiment.unsupported(sample({})), "the module is missing");
    EXPECT_EQ(experiment.inputs(sample({})).size(), 2U);
    EXPECT_EQ(experiment.calibration(sample({})), (nlohmann::json{{"workers", 6}}));
    EXPECT_FALSE(example().unsupported);
    EXPECT_FALSE(example().inputs);
    EXPECT_FALSE(example().calibration);
}

}  // namespace
}  // namespace assay
