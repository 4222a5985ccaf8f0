// check_claims() on what several machines and an edited calibration left in one database.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "suite/runner/runner.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay::runner {
namespace {

using assay::testing::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// a is to be twice as fast as b.
Registry pair_registry() {
    Experiment experiment;
    experiment.id = "pair/speed";
    experiment.variants = {"a", "b"};
    experiment.metrics = {{"speed", "1/s", "", Direction::higher, false, {}}};
    ProfilePlan toy;
    toy.provenances = {Provenance::emulated};
    experiment.profiles = {toy};
    Claim claim;
    claim.id = "pair/speed/twice";
    claim.experiment = experiment.id;
    claim.metric = "speed";
    claim.of.variant = "a";
    claim.over = Selector{"b", {}};
    claim.test.name = "at_least";
    claim.value = 2;
    claim.checkable = {{"toy", "emulated"}};
    System system;
    system.id = "pair";
    system.experiments = {experiment};
    system.claims = {claim};
    Registry registry;
    registry.add(std::move(system));
    return registry;
}

struct Measured {
    const char* variant;
    double speed;
    const char* calibration = "c";
    std::vector<std::string> fitted_from = {};  ///< of that calibration
};

class ClaimChecksTest : public ::testing::Test {
  protected:
    TemporaryFolder folder;
    Registry registry = pair_registry();

    static store::Store open(const std::filesystem::path& file) {
        return store::Store::open(file, store::Access::write);
    }

    static void run(store::Store& store, const std::string& machine, const std::string& id,
                    const std::vector<Measured>& measured) {
        store.put_machine({machine, {}});
        store::Session session;
        session.id = id + "0000000-0000-4000-8000-000000000000";
        session.machine = machine;
        session.suspects = {{"host", "host-" + machine.substr(0, 1)}};
        session.started = "2026-0" + id + "-01T00:00:00.000Z";
        store.begin_session(session);
        for (const Measured& one : measured) {
            store.put_calibration({one.calibration, "c", {}, nlohmann::json(one.fitted_from), ""});
            SampleSpec spec;
            spec.experiment = "pair/speed";
            spec.variant = one.variant;
            spec.provenance = Provenance::emulated;
            store::SeriesKey series{
                spec.experiment, spec.variant, {}, spec.profile, spec.provenance};
            series.hardware = machine;
            series.calibration = one.calibration;
            store::Sample sample;
            sample.id = store.begin_sample(session.id, spec, series);
            sample.status = "ok";
            sample.metrics = {{"speed", {}, one.speed}};
            store.finish_sample(sample);
        }
        store.finish_session(session.id, "finished");
    }

    ClaimCheck check(const store::Store& store) {
        return check_claims(registry, store, {registry.experiment("pair/speed")}, "").at(0);
    }

    /// A database with what one machine made, merged with one of another's.
    ClaimCheck merged(const std::vector<Measured>& mine, const std::vector<Measured>& theirs) {
        store::Store store = open(folder / "mine.db");
        run(store, "aaaaaaaaaaaaaaaa", "1", mine);
        {
            store::Store other = open(folder / "theirs.db");
            run(other, "bbbbbbbbbbbbbbbb", "2", theirs);
        }
        store.merge(folder / "theirs.db");
        return check(store);
    }
};

TEST_F(ClaimChecksTest, OneMachineOverAnotherIsNoEvidence) {
    const ClaimCheck found = merged({{"a", 30}}, {{"b", 10}});
    EXPECT_EQ(found.verdict, ClaimVerdict::not_run) << found.reason;
    EXPECT_THAT(found.reason, HasSubstr("only across machines"));
}

TEST_F(ClaimChecksTest, MachinesThatDifferAreNamedWithTheirHosts) {
    const ClaimCheck found = merged({{"a", 30}, {"b", 10}}, {{"a", 15}, {"b", 10}});
    EXPECT_EQ(found.verdict, ClaimVerdict::contradicted);
    EXPECT_THAT(found.reason,
                StartsWith("holds on aaaaaaaa (host-a), not on bbbbbbbb (host-b); on bbbbbbbb"));
}

TEST_F(ClaimChecksTest, AnEditedCalibrationReplacesTheOldOne) {
    store::Store store = open(folder / "mine.db");
    run(store, "aaaaaaaaaaaaaaaa", "1", {{"a", 10, "old"}, {"b", 10, "old"}});
    EXPECT_EQ(check(store).verdict, ClaimVerdict::contradicted);
    run(store, "aaaaaaaaaaaaaaaa", "2", {{"a", 30, "new"}});
    EXPECT_EQ(check(store).verdict, ClaimVerdict::not_run) << "new a over old b would be 3";
    run(store, "aaaaaaaaaaaaaaaa", "3", {{"b", 12, "new"}});
    EXPECT_EQ(check(store).verdict, ClaimVerdict::supported);
    EXPECT_EQ(check(store).obtained, 2.5);
}

TEST_F(ClaimChecksTest, ACalibrationThatWasFittedToAClaimDoesNotSupportIt) {
    store::Store store = open(folder / "mine.db");
    run(store, "aaaaaaaaaaaaaaaa", "1", {{"a", 30, "plain"}, {"b", 10, "plain"}});
    EXPECT_EQ(check(store).verdict, ClaimVerdict::supported);
    const std::vector<std::string> anchors{"pair/speed/twice", "some-session"};
    run(store, "aaaaaaaaaaaaaaaa", "2", {{"a", 30, "fit", anchors}, {"b", 10, "fit", anchors}});
    const ClaimCheck found = check(store);
    EXPECT_EQ(found.verdict, ClaimVerdict::calibrated) << found.reason;
    EXPECT_THAT(found.reason, HasSubstr("fitted to this very statement"));
    run(store, "aaaaaaaaaaaaaaaa", "3",
        {{"a", 30, "other", {"pair/speed"}}, {"b", 10, "other", {"pair/speed"}}});
    EXPECT_EQ(check(store).verdict, ClaimVerdict::supported) << "fitted to something else";
}

TEST_F(ClaimChecksTest, WhatWasNeverRunUnderBothCalibrationsIsNotMixedEither) {
    store::Store store = open(folder / "mine.db");
    run(store, "aaaaaaaaaaaaaaaa", "1", {{"b", 10, "old"}});
    run(store, "aaaaaaaaaaaaaaaa", "2", {{"a", 30, "new"}});
    const ClaimCheck found = check(store);
    EXPECT_EQ(found.verdict, ClaimVerdict::not_run);
    EXPECT_THAT(found.reason, HasSubstr("calibrations"));
}

}  // namespace
}  // namespace assay::runner
