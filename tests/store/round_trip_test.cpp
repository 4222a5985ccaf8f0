// Everything that goes in comes out again, from another connection.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <set>

#include "suite/base/sha256.hpp"
#include "suite/store/store.hpp"
#include "tests/store/example_rows.hpp"

namespace assay::store::testing {
namespace {

void expect_same_bits(const std::vector<double>& a, const std::vector<double>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i)
        EXPECT_EQ(std::bit_cast<std::uint64_t>(a[i]), std::bit_cast<std::uint64_t>(b[i]))
            << "at " << i;
}

class RoundTrip : public ::testing::Test {
  protected:
    RoundTrip() : store(Store::open(folder / "results.db", Access::write)), session(begin(store)) {}
    Store reader() { return Store::open(folder / "results.db", Access::read); }

    Folder folder;
    Store store;
    std::string session;
};

TEST_F(RoundTrip, MachineAndSession) {
    const auto found = reader().sessions().at(0);
    const auto put = example_session(found.started);
    EXPECT_EQ(found.id, session);
    EXPECT_EQ(found.command, put.command);
    EXPECT_EQ(found.suspects, put.suspects);
    EXPECT_EQ(found.planned, 12);
    EXPECT_EQ(found.state, "running");
    EXPECT_EQ(found.finished, "");
    store.finish_session(session, "finished");
    EXPECT_EQ(reader().sessions().at(0).state, "finished");
    EXPECT_GE(reader().sessions().at(0).finished, found.started);
    EXPECT_EQ(reader().machine("f1ng3r")->description, example_machine().description);
    EXPECT_FALSE(reader().machine("another").has_value());
    EXPECT_EQ(reader().session(session)->command, put.command);
    EXPECT_FALSE(reader().session("another").has_value());
    EXPECT_FALSE(reader().session(session.substr(0, 8)).has_value()) << "whole ids only";
}

TEST_F(RoundTrip, SampleWithEverything) {
    auto spec = example_spec(0xfedcba9876543210);  // beyond a signed integer
    const auto id = store.begin_sample(session, spec, key_of(spec));
    const auto put = full_sample(id, session, spec);
    store.finish_sample(put);
    const auto got = reader().sample(id.substr(0, 8));

    EXPECT_EQ(got.id, id);
    EXPECT_EQ(got.session, session);
    EXPECT_EQ(to_json(got.spec), to_json(spec));
    EXPECT_EQ(got.spec.seed, spec.seed);
    EXPECT_EQ(got.status, "ok");
    EXPECT_EQ(got.started, put.started);
    EXPECT_EQ(got.seconds, put.seconds);
    ASSERT_EQ(got.metrics.size(), put.metrics.size());
    for (std::size_t i = 0; i < put.metrics.size(); ++i) {
        EXPECT_EQ(got.metrics[i].name, put.metrics[i].name);
        EXPECT_EQ(got.metrics[i].labels, put.metrics[i].labels);
        if (std::isnan(put.metrics[i].value)) {
            EXPECT_TRUE(std::isnan(got.metrics[i].value));
        } else {
            EXPECT_EQ(got.metrics[i].value, put.metrics[i].value);
        }
    }
    ASSERT_EQ(got.events.size(), put.events.size());
    for (std::size_t i = 0; i < put.events.size(); ++i) {
        EXPECT_EQ(got.events[i].t_s, put.events[i].t_s);
        EXPECT_EQ(got.events[i].kind, put.events[i].kind);
        EXPECT_EQ(got.events[i].rank, put.events[i].rank);
        EXPECT_EQ(got.events[i].detail, put.events[i].detail);
    }
    ASSERT_EQ(got.series_data.size(), put.series_data.size());
    for (std::size_t i = 0; i < put.series_data.size(); ++i) {
        EXPECT_EQ(got.series_data[i].name, put.series_data[i].name);
        EXPECT_EQ(got.series_data[i].unit, put.series_data[i].unit);
        EXPECT_EQ(got.series_data[i].labels, put.series_data[i].labels);
        expect_same_bits(got.series_data[i].t_s, put.series_data[i].t_s);
        expect_same_bits(got.series_data[i].values, put.series_data[i].values);
    }
    ASSERT_EQ(got.tables.size(), put.tables.size());
    for (std::size_t i = 0; i < put.tables.size(); ++i) {
        EXPECT_EQ(got.tables[i].name, put.tables[i].name);
        EXPECT_EQ(got.tables[i].rows, put.tables[i].rows);
        ASSERT_EQ(got.tables[i].columns.size(), put.tables[i].columns.size());
        for (std::size_t c = 0; c < put.tables[i].columns.size(); ++c) {
            EXPECT_EQ(got.tables[i].columns[c].name, put.tables[i].columns[c].name);
            EXPECT_EQ(got.tables[i].columns[c].unit, put.tables[i].columns[c].unit);
        }
    }
    ASSERT_EQ(got.artifacts.size(), put.artifacts.size());
    for (std::size_t i = 0; i < put.artifacts.size(); ++i) {
        EXPECT_EQ(got.artifacts[i].name, put.artifacts[i].name);
        EXPECT_EQ(got.artifacts[i].media_type, put.artifacts[i].media_type);
        EXPECT_EQ(got.artifacts[i].bytes, put.artifacts[i].bytes);
    }
    ASSERT_EQ(got.hardware.size(), put.hardware.size());
    for (std::size_t i = 0; i < put.hardware.size(); ++i) {
        EXPECT_EQ(got.hardware[i].device, put.hardware[i].device);
        EXPECT_EQ(got.hardware[i].clock_hz, put.hardware[i].clock_hz);
        EXPECT_EQ(got.hardware[i].memory_clock_hz, put.hardware[i].memory_clock_hz);
        EXPECT_EQ(got.hardware[i].temperature_c, put.hardware[i].temperature_c);
        EXPECT_EQ(got.hardware[i].power_w, put.hardware[i].power_w);
        EXPECT_EQ(got.hardware[i].throttle_reasons, put.hardware[i].throttle_reasons);
    }
    const auto report = reader().check();
    EXPECT_TRUE(report.ok) << report.problems.at(0);
    for (const auto& [table, rows] : report.rows)
        if (table == "artifact_blob") {
            EXPECT_EQ(rows, 2) << "equal contents are stored once";
        }
}

TEST_F(RoundTrip, ClaimChecksNewestOfEach) {
    store.put_claim_checks(session,
                           {{"a", ClaimVerdict::contradicted, "first", Provenance::exact, 1.0},
                            {"b", ClaimVerdict::not_checkable_here, "needs a GPU", {}, {}}});
    store.put_claim_checks("",
                           {{"a", ClaimVerdict::undecided, "second", Provenance::emulated, 0.5}});
    const auto checks = reader().newest_claim_checks();
    ASSERT_EQ(checks.size(), 2u);
    EXPECT_EQ(checks[0].check.verdict, ClaimVerdict::undecided);
    EXPECT_EQ(checks[0].check.reason, "second");
    EXPECT_EQ(checks[0].check.provenance, Provenance::emulated);
    EXPECT_EQ(checks[0].check.obtained, 0.5);
    EXPECT_EQ(checks[0].session, "");
    EXPECT_EQ(checks[0].rules, claim_rules);
    EXPECT_EQ(checks[1].session, session);
    EXPECT_EQ(checks[1].check.verdict, ClaimVerdict::not_checkable_here);
    EXPECT_FALSE(checks[1].check.obtained || checks[1].check.provenance);
}

TEST_F(RoundTrip, CalibrationBaselineAnnotation) {
    store.put_calibration({"hash", "cpu model", {{"flops", 1.5e11}}, {"sample"}, ""});
    EXPECT_EQ(reader().calibration("hash")->parameters.at("flops"), 1.5e11);
    EXPECT_FALSE(reader().calibration("other").has_value());

    store.set_baseline("main", session.substr(0, 6));
    EXPECT_EQ(reader().baselines().at(0).session, session);

    const auto spec = example_spec();
    const auto sample = store.begin_sample(session, spec, key_of(spec));
    store.annotate(sample, "fan was loud");
    store.annotate(session, "before the driver update");
    EXPECT_EQ(reader().annotations(sample).at(0).text, "fan was loud");
    EXPECT_EQ(reader().annotations(session).at(0).text, "before the driver update");
    EXPECT_NE(error_of([&] { store.annotate("0000000000", "?"); }), "");
}

TEST_F(RoundTrip, WhatCannotBeRightIsTakenOutAndTheRestIsStored) {
    const auto spec = example_spec();
    const auto id = store.begin_sample(session, spec, key_of(spec));
    const auto right = full_sample(id, session, spec);
    auto sample = right;
    auto twice = sample.metrics.front();
    twice.value = 99;
    sample.metrics.push_back(twice);
    sample.metrics.push_back(twice);
    sample.metrics.push_back({"loss", {{"step", std::nan("")}}, 1});
    sample.series_data.push_back({"short", "s", {}, {1, 2}, {1}});
    sample.tables.push_back({"narrow", {{"a", ""}, {"b", ""}}, {{1.0, 2.0}, {1.0}}});
    const auto take_out_what_is_refused = [](Sample& of) {
        RowCheck check;
        std::set<std::string> why;
        const auto refused = [&](const auto& row) {
            const auto sentence = check.refusal(row);
            if (sentence) why.insert(*sentence);
            return sentence.has_value();
        };
        std::erase_if(of.metrics, refused);
        std::erase_if(of.series_data, refused);
        std::erase_if(of.tables, refused);
        return why;
    };
    EXPECT_EQ(take_out_what_is_refused(sample),
              (std::set<std::string>{
                  "recorded the metric loss{step=10} twice; a label must tell the values apart",
                  "the label or axis \"step\" has the value nan; only finite numbers and words can "
                  "name a value",
                  "the curve short has 2 times but 1 values",
                  "row 1 of the table narrow has 1 cells, the table 2 columns"}));
    store.finish_sample(sample);
    const auto stored = reader().sample(id);
    EXPECT_EQ(stored.metrics.size(), right.metrics.size());
    EXPECT_EQ(stored.metrics.front().value, right.metrics.front().value) << "the first one";
    EXPECT_EQ(stored.series_data.size(), right.series_data.size());
    EXPECT_EQ(stored.tables.size(), right.tables.size());
    EXPECT_EQ(stored.events.size(), right.events.size());
    sample = right;
    EXPECT_TRUE(take_out_what_is_refused(sample).empty());
}

TEST_F(RoundTrip, WhatCannotBeRightIsRefusedWholly) {
    const auto spec = example_spec();
    const auto id = store.begin_sample(session, spec, key_of(spec));
    const auto refused = [&](auto change) {
        auto sample = full_sample(id, session, spec);
        change(sample);
        return error_of([&] { store.finish_sample(sample); });
    };
    EXPECT_NE(refused([](Sample& s) {
                  s.metrics.push_back(s.metrics.front());
              }).find("loss{step=10} twice"),
              std::string::npos);
    EXPECT_NE(
        refused([](Sample& s) { s.series_data[0].t_s.pop_back(); }).find("2 times but 3 values"),
        std::string::npos);
    EXPECT_NE(refused([](Sample& s) { s.tables[0].rows[1].pop_back(); }).find("2 cells"),
              std::string::npos);
    EXPECT_NE(refused([](Sample& s) { s.status = "good"; }).find("\"good\""), std::string::npos);
    EXPECT_NE(refused([](Sample& s) { s.id = "unknown"; }).find("not running"), std::string::npos);
    EXPECT_EQ(store.sample(id).status, "running");
    EXPECT_TRUE(store.sample(id).metrics.empty());
    EXPECT_EQ(refused([](Sample&) {}), "");
    EXPECT_NE(refused([](Sample&) {}).find("ended already"), std::string::npos)
        << "samples never change";
}

}  // namespace
}  // namespace assay::store::testing
