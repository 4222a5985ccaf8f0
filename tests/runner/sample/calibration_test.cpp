// What a modelled sample takes for granted: hashed into its series, stored once.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "suite/base/sha256.hpp"
#include "suite/runner/runner.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/runner/dummy_system.hpp"

namespace assay::runner {
namespace {

using assay::testing::EnvironmentVariable;
using assay::testing::TemporaryFolder;
using ::testing::HasSubstr;

class CalibrationTest : public ::testing::Test {
  protected:
    TemporaryFolder folder;
    EnvironmentVariable lock_file{"ASSAY_LOCK", (folder / "lock").string()};
    store::Store store = store::Store::open(folder / "results.db", store::Access::write);
    double speed = 5;
    int asked = 0;
    Registry registry;
    Request request;

    CalibrationTest() {
        System system = assay::testing::make_dummy_system();
        system.claims.clear();
        system.experiments.resize(1);  // dummy/sum, which can be exact or simulated
        system.experiments[0].calibration = [this](const SampleSpec& spec) {
            ++asked;
            if (speed < 0) throw UserError("no cluster profile 'nowhere'");
            return nlohmann::json{{"speed", speed}, {"n", to_json(spec.axes)["n"]}};
        };
        registry.add(std::move(system));
        request.patterns = {"dummy/sum"};
        request.profile = Profile::small;
        request.provenance = Provenance::simulated;
        request.axes["kind"] = {std::string("plain")};
        request.rounds = 1;
    }
    Outcome run() { return execute(registry, make_plan(registry, request), request, store, {}); }

    /// Series in the file with the calibration they name, ordered by n and variant.
    std::vector<std::string> hashes() {
        SQLite::Database file((folder / "results.db").string());
        SQLite::Statement rows(
            file, "SELECT calibration FROM series ORDER BY axes, variant, calibration");
        std::vector<std::string> all;
        while (rows.executeStep()) all.push_back(rows.getColumn(0).getString());
        return all;
    }
    int stored() {
        SQLite::Database file((folder / "results.db").string());
        return file.execAndGet("SELECT count(*) FROM calibration").getInt();
    }
};

TEST_F(CalibrationTest, TheSeriesNamesItAndItIsStoredOnce) {
    const Outcome outcome = run();
    ASSERT_EQ(outcome.samples.size(), 6U);
    EXPECT_EQ(outcome.samples[0].status, "ok") << outcome.samples[0].reason;
    // Worked out apart from the program: members in name order, no white space.
    const std::string two = sha256_hex(R"({"n":2,"speed":5.0})");
    const std::string three = sha256_hex(R"({"n":3,"speed":5.0})");
    EXPECT_THAT(hashes(), ::testing::ElementsAre(two, two, two, three, three, three));
    EXPECT_EQ(stored(), 2);
    ASSERT_TRUE(store.calibration(two).has_value());
    EXPECT_EQ(store.calibration(two)->parameters["speed"], 5);
    EXPECT_EQ(store.calibration(two)->name, "dummy/sum");
    EXPECT_TRUE(store.check().ok);

    run();
    EXPECT_EQ(stored(), 2);
    EXPECT_EQ(hashes().size(), 6U) << "the same series again";
}

TEST_F(CalibrationTest, OtherNumbersAreAnotherSeriesAndAnotherPlan) {
    const std::string before = make_plan(registry, request).hash;
    EXPECT_EQ(make_plan(registry, request).hash, before);
    const Outcome first = run();
    speed = 6;
    EXPECT_NE(make_plan(registry, request).hash, before)
        << "an interrupted session is not gone on with under other numbers";
    const Outcome second = run();
    EXPECT_NE(first.samples[0].series, second.samples[0].series);
    EXPECT_EQ(stored(), 4);
}

TEST_F(CalibrationTest, AReplaysSpecGivesTheSameSeries) {
    const Outcome outcome = run();
    const store::Sample stored_sample = store.sample(outcome.samples[3].id);
    const Experiment& experiment = *registry.experiment("dummy/sum");
    const std::string again = store::calibration_hash(experiment.calibration(stored_sample.spec));
    EXPECT_THAT(hashes(), ::testing::Contains(again).Times(3));
    EXPECT_EQ(run_once(stored_sample.spec, [](const Notice&) {}).status, "ok");
}

TEST_F(CalibrationTest, ExactSamplesHaveNone) {
    request.provenance = Provenance::exact;
    run();
    EXPECT_EQ(asked, 0);
    EXPECT_EQ(stored(), 0);
    EXPECT_THAT(hashes(), ::testing::Each(""));
}

TEST_F(CalibrationTest, OneThatCannotBeHadIsRefusedBeforeAnythingRuns) {
    speed = -1;
    try {
        run();
        FAIL() << "ran";
    } catch (const UserError& error) {
        EXPECT_THAT(error.what(), HasSubstr("no cluster profile 'nowhere'"));
    }
    EXPECT_TRUE(store.sessions().empty());
}

TEST_F(CalibrationTest, WhatNumbersWereFittedFromIsKeptBesideThem) {
    registry = {};
    System system = assay::testing::make_dummy_system();
    system.claims.clear();
    system.experiments.resize(1);
    system.experiments[0].calibration = [](const SampleSpec&) {
        return nlohmann::json{
            {"devices",
             {{"d",
               {{"speed", {{"value", 1}, {"fitted_from", {"dummy/sum/b", "dummy/sum/a"}}}},
                {"other", {{"value", 2}, {"fitted_from", {"dummy/sum/a"}}}}}}}},
            {"list", {{{"fitted_from", {"a session"}}}, 3, "fitted_from"}}};
    };
    registry.add(std::move(system));
    const Plan plan = make_plan(registry, request);
    ASSERT_EQ(plan.calibrations.size(), 1U);
    EXPECT_EQ(plan.calibrations.begin()->second.fitted_from.dump(),
              R"(["a session","dummy/sum/a","dummy/sum/b"])");
}

}  // namespace
}  // namespace assay::runner
