// A fleet in virtual time: times worked out by hand, what must hold whatever is drawn, and what its
// claims read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "impls/foundry/experiments/experiments.hpp"
#include "impls/foundry/experiments/fleet/fleet_run.hpp"
#include "impls/foundry/method/ready_time.hpp"
#include "suite/claim/claim.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::foundry {
namespace {

constexpr double close = 1e-9;

std::vector<Mode> fleet_modes() {
    std::vector<Mode> modes;
    for (const std::string& variant : x_fleet().variants)
        for (const auto& [mode, word] : names_of(Mode()))
            if (variant == word) modes.push_back(mode);
    return modes;
}

/// One server and two requests, of the first and the last of 6 graphs in 2 groups.
FleetSetup small(Mode mode) {
    FleetSetup setup;
    setup.loader.mode = mode;
    setup.loader.requests = {0, 5};
    setup.arrivals_s = {0, 100};
    setup.group_of = {0, 0, 0, 0, 1, 1};
    setup.costs = {.capture = 1,
                   .build = 0.5,
                   .instantiate = 0.125,
                   .rewrite = 0.0625,
                   .images = 4,
                   .update = 0.25};
    setup.rest_s = 32;
    setup.request_s = 2;
    return setup;
}

TEST(FoundryFleet, OneServersTimesAreThoseByHand) {
    const auto expect = [](Mode mode, double ready_s, double first_s, double second_s) {
        const FleetCourse course = run_fleet(small(mode));
        ASSERT_EQ(course.servers.size(), 1u);
        EXPECT_NEAR(course.servers[0].ready_s, ready_s, close) << to_string(mode);
        EXPECT_NEAR(course.served_s[0], first_s, close) << to_string(mode);
        EXPECT_NEAR(course.served_s[1], second_s, close) << to_string(mode);
        EXPECT_NEAR(course.ended_s, second_s, close) << to_string(mode);
    };
    expect(Mode::capture, 38, 40, 102);
    expect(Mode::eager, 32, 34, 102);
    expect(Mode::lazy_capture, 32, 35, 103);
    expect(Mode::no_templates, 32 + 4 + 6 * 0.625, 41.75, 102);
    expect(Mode::r1, 37.25, 39.25, 102.25);         // the second is no template: updated
    expect(Mode::r3_lazy, 37.25, 39.25, 102.1875);  // … or gets an executable of its own
    expect(Mode::r3_eager, 38, 40, 102);
    expect(Mode::dedup, 2 + 4 * 0.875 + 32, 39.5, 102.25);
}

TEST(FoundryFleet, ReadyIsTheClosedFormsWhereMembersAreLate) {
    FleetSetup setup = small(Mode::r1);
    setup.costs.prepare = 3;  // four members take longer than two templates
    setup.costs.threads = 3;
    const ReadyTimes times = ready_times(setup.costs, 6, 2);
    EXPECT_NEAR(times.r1, 4 + 2 * 3, close);
    EXPECT_NEAR(run_fleet(setup).servers[0].ready_s, 32 + times.r1, close);
    setup.loader.mode = Mode::r3_eager;
    EXPECT_NEAR(run_fleet(setup).servers[0].ready_s, 32 + times.r3_eager, close);
}

TEST(FoundryFleet, AServerIsKilledReplacedAndItsRequestServedAnew) {
    FleetSetup setup = small(Mode::capture);
    setup.faults = parse_fault_plan("kill:role=server,rank=0@t=101");
    setup.detect_s = 3;
    setup.boot_s = 7;
    setup.not_repeated_s = 30;
    const FleetCourse course = run_fleet(setup);
    EXPECT_EQ(course.struck, 1);
    ASSERT_EQ(course.servers.size(), 2u);
    EXPECT_NEAR(course.servers[0].ended_s, 104, close);
    EXPECT_NEAR(course.servers[1].spawned_s, 104, close);
    EXPECT_NEAR(course.servers[1].ready_s, 104 + 7 + 2 + 6, close);
    EXPECT_NEAR(course.served_s[0], 40, close);
    EXPECT_NEAR(course.served_s[1], 121, close);
}

TEST(FoundryFleet, OneMoreServerForEachRequestThatWaits) {
    FleetSetup setup = small(Mode::eager);
    setup.loader.requests = {0, 0, 0, 0};
    setup.arrivals_s = {40, 40, 40, 40};
    setup.request_s = 100;
    setup.loader.patience_s = 5;
    const auto started = [&](int growth) {
        setup.loader.growth = growth;
        return run_fleet(setup).servers.size() - 1;
    };
    EXPECT_EQ(started(0), 0u);
    EXPECT_EQ(started(2), 2u);
    EXPECT_EQ(started(9), 3u);  // the first of them never waits
    const FleetCourse course = run_fleet(setup);
    EXPECT_NEAR(course.servers[1].spawned_s, 45, close);
    EXPECT_THAT(course.served_s, testing::ElementsAre(140, 177, 177, 177));
    setup.loader.patience_s = 500;
    EXPECT_EQ(started(9), 0u);
}

TEST(FoundryFleet, WithoutCostsAllWaysAreEqual) {
    FleetSetup setup;
    setup.group_of = {0, 1, 0, 1, 0};
    setup.loader.servers = 2;
    setup.loader.growth = 3;
    setup.loader.patience_s = 0.5;
    setup.request_s = 0.25;
    setup.detect_s = 1;
    setup.faults = parse_fault_plan("kill:role=server,rank=1@t=3");
    for (std::size_t i = 0; i < 200; ++i) {
        setup.loader.requests.push_back(i % 5);
        setup.arrivals_s.push_back(0.1 * static_cast<double>(i * i % 97));
    }
    const std::vector<double> served_s = run_fleet(setup).served_s;
    for (const Mode mode : fleet_modes()) {
        setup.loader.mode = mode;
        EXPECT_EQ(run_fleet(setup).served_s, served_s) << to_string(mode);
    }
    setup.costs.capture = 1;
    setup.loader.mode = Mode::capture;
    EXPECT_NE(run_fleet(setup).served_s, served_s);
}

TEST(FoundryFleet, WhoseServersAreAllGoneFails) {
    FleetSetup setup = small(Mode::capture);
    setup.faults = parse_fault_plan("kill:role=server,rank=0@t=1");
    setup.loader.restarts = 0;
    try {
        run_fleet(setup);
        ADD_FAILURE() << "it served all without a server";
    } catch (const SampleError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("no worker is left"));
    }
}

TEST(FoundryFleet, ADamagedArchiveIsRefusedAndItsServerCaptures) {
    FleetSetup setup = small(Mode::r1);
    setup.faults = parse_fault_plan("corrupt:role=server,rank=0,target=tensor@t=0");
    EXPECT_NEAR(run_fleet(setup).served_s[0], 32 + 4 + 6 + 2, close);
}

std::vector<MemoryRecorder::Metric> sample(const Experiment& experiment, SampleSpec spec) {
    MemoryRecorder recorder;
    experiment.run(spec, recorder);
    return recorder.metrics;
}

TEST(FoundryFleet, TheExperimentIsAFunctionOfItsSeed) {
    const Experiment experiment = x_fleet();
    for (const std::string& variant : experiment.variants) {
        SampleSpec spec{.variant = variant};
        for (const auto& [axis, values] : experiment.plan(Profile::toy)->axes)
            spec.axes[axis] = values.front();
        experiment.validate(spec);
        const auto recorded = [&](std::uint64_t seed) {
            spec.seed = seed;
            std::vector<double> found;
            for (const auto& metric : sample(experiment, spec)) found.push_back(metric.value);
            return found;
        };
        EXPECT_EQ(recorded(1), recorded(1)) << variant;
        EXPECT_NE(recorded(1), recorded(2)) << variant;
    }
}

TEST(FoundryFleet, GivenFaultsStrikeBesideThoseDrawn) {
    SampleSpec spec{.variant = "r1"};
    spec.axes["kills"] = std::int64_t{1};
    spec.scenario = "kill:role=server,rank=3@t=250";
    MemoryRecorder recorder;
    x_fleet().run(spec, recorder);
    EXPECT_EQ(recorder.value("struck"), 2);
}

// ---- claims -------------------------------------------------------------------------------------

/// Samples of all cases, but without kills, as a store would give them.
std::vector<Observation> observed(const Experiment& experiment,
                                  const std::vector<std::string>& variants, int seeds) {
    std::vector<SampleSpec> specs{{.experiment = experiment.id}};
    const auto spread = [&specs](const auto& values, const auto& set) {
        std::vector<SampleSpec> more;
        for (const SampleSpec& spec : specs)
            for (const auto& value : values) set(more.emplace_back(spec), value);
        specs = std::move(more);
    };
    spread(variants, [](SampleSpec& spec, const std::string& variant) { spec.variant = variant; });
    for (const Axis& axis : experiment.axes)
        spread(axis.name == "kills" ? std::vector<Value>{std::int64_t{0}} : axis.values,
               [&](SampleSpec& spec, const Value& value) { spec.axes[axis.name] = value; });
    std::vector<Observation> all;
    for (SampleSpec& spec : specs)
        for (spec.seed = 1; spec.seed <= static_cast<std::uint64_t>(seeds); ++spec.seed)
            for (const auto& metric : sample(experiment, spec)) {
                Observation& one = all.emplace_back();
                one.experiment = spec.experiment;
                one.variant = spec.variant;
                one.axes = spec.axes;
                one.profile = Profile::paper;
                one.provenance = Provenance::simulated;
                one.metric = metric.name;
                one.labels = metric.labels;
                one.value = metric.value;
                one.seed = spec.seed;
                one.fitted_from = experiment.calibration(spec).at("fitted_from");
            }
    return all;
}

// What follows from the demonstration's and the paper's own numbers is no evidence for them.
TEST(FoundryFleet, WhatItsClaimsSayHoldsAndIsCalibrated) {
    const auto claims =
        read_claims(std::filesystem::path(ASSAY_TEST_DATASETS) / "claims" / "foundry.toml");
    const auto fleet = observed(x_fleet(), {"capture", "r1", "eager"}, 3);
    const auto recovery = observed(x_recovery(), x_recovery().variants, 1);
    int checked = 0;
    for (const Claim& claim : claims) {
        const bool ours = claim.experiment == "foundry/x_fleet";
        if ((!ours && claim.experiment != "foundry/x_recovery") || claim.test.name.empty())
            continue;
        ++checked;
        EXPECT_EQ(ours, claim.kind == ClaimKind::ours) << claim.id;
        const ClaimCheck result = check(claim, ours ? fleet : recovery, {});
        EXPECT_EQ(result.verdict, ClaimVerdict::calibrated) << claim.id << ": " << result.reason;
    }
    EXPECT_EQ(checked, 5);
}

TEST(FoundryFleet, TheDemonstrationsLaunchIsTakenAndItsRecoveryFollows) {
    const auto values = [](const char* variant, std::int64_t not_repeated_s) {
        SampleSpec spec{.variant = variant};
        spec.axes["not_repeated_s"] = not_repeated_s;
        MemoryRecorder recorder;
        x_recovery().run(spec, recorder);
        return std::vector<double>{recorder.value("serving_s"), recorder.value("recovered_s")};
    };
    const auto are = [](double serving_s, double recovered_s) {
        return testing::ElementsAre(testing::DoubleNear(serving_s, 1e-6),
                                    testing::DoubleNear(recovered_s, 1e-6));
    };
    EXPECT_THAT(values("no_graphs", 0), are(32, 32));
    EXPECT_THAT(values("captured", 0), are(99, 99));
    EXPECT_THAT(values("restored", 0), are(37, 37));
    EXPECT_THAT(values("no_graphs", 9), are(32, 23));
    EXPECT_THAT(values("captured", 9), are(99, 90));
    EXPECT_THAT(values("restored", 9), are(37, 28));

    // One node of four, and slower: by the ratio of a token's times.
    MemoryRecorder recorder;
    x_recovery().run({.variant = "captured"}, recorder);
    const auto rate = [&](const char* phase) {
        return recorder.value("served_per_s", {{"phase", std::string(phase)}});
    };
    EXPECT_NEAR(rate("before"), 4 / (50 * 0.0194), 0.02);
    EXPECT_NEAR(rate("outage"), 1 / (50 * 0.0285), 0.02);
    EXPECT_NEAR(rate("after"), rate("before"), 0.02);
}

}  // namespace
}  // namespace assay::foundry
