// What sessions know of their machines, what was read of them, and what is new since the last look.
#include "gui/data/machine.hpp"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>

#include "gui/data/fitness.hpp"
#include "gui/data/history.hpp"
#include "gui/data/kept_state.hpp"
#include "gui/models/machine_tables.hpp"
#include "suite/base/error.hpp"
#include "suite/store/ids.hpp"
#include "suite/store/nights.hpp"
#include "tests/store/example_rows.hpp"

namespace assay::gui {
namespace {

using store::testing::add_sample;
using store::testing::begin;
using store::testing::example_machine;
using store::testing::example_session;
using store::testing::example_spec;
using store::testing::Folder;

class MachineData : public ::testing::Test {
  protected:
    MachineData() : store(store::Store::open(folder / "r.db", store::Access::write)) {}
    /// A session of that machine and commit; its id.
    std::string add(const std::string& machine, const std::string& commit, const char* started) {
        store::Machine described = example_machine();
        described.fingerprint = machine;
        store.put_machine(described);
        store::Session session = example_session(started);
        session.machine = machine;
        session.suspects = {{"commit", commit}, {"kernel", "6.1"}, {"host", "of " + machine}};
        store.begin_session(session);
        store.finish_session(session.id, "finished");
        return session.id;
    }
    static const MachineFact& fact(const MachineContent& content, const std::string& name) {
        for (const MachineFact& one : content.facts)
            if (one.name == name) return one;
        throw std::out_of_range(name);
    }

    Folder folder;
    store::Store store;
};

TEST_F(MachineData, WhatDiffersFromTheSessionsBeforeIsTold) {
    EXPECT_FALSE(read_machine(store, "").session);
    const std::string first = add("aaaa", "c1", "2026-11-01T00:00:00.000Z");
    const std::string other = add("bbbb", "c2", "2026-11-02T00:00:00.000Z");
    const std::string last = add("aaaa", "c2", "2026-11-03T00:00:00.000Z");

    const MachineContent newest = read_machine(store, "");
    EXPECT_EQ(newest.session->id, last);
    EXPECT_EQ(newest.before->id, first);
    EXPECT_EQ(newest.elsewhere->id, other);
    EXPECT_EQ(fact(newest, "commit").value, "c2");
    EXPECT_TRUE(fact(newest, "commit").differs_before());
    EXPECT_FALSE(fact(newest, "commit").differs_elsewhere());
    EXPECT_FALSE(fact(newest, "machine").differs_before());
    EXPECT_TRUE(fact(newest, "host").differs_elsewhere());
    EXPECT_FALSE(fact(newest, "kernel").differs_before());

    // Before the first there is none on its machine, and the only other machine came later.
    const MachineContent oldest = read_machine(store, first);
    EXPECT_FALSE(oldest.before);
    EXPECT_EQ(oldest.elsewhere->id, other);
    EXPECT_FALSE(fact(oldest, "commit").before);
    EXPECT_EQ(read_machine(store, "latest~1").session->id, other);
    EXPECT_THROW(read_machine(store, "ffffffff"), UserError);

    QObject owner;
    FactsModel* model = make_facts_model(&owner);
    const QAbstractItemModelTester tester(model,
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    model->set(newest.facts);
    for (int row = 0; row < model->rowCount(); ++row)
        if (model->index(row, 0).data() == "commit") {
            EXPECT_EQ(model->index(row, 1).data().toString(), QStringLiteral("≠ before"));
            EXPECT_EQ(model->index(row, 3).data().toString(), QStringLiteral("≠ c1"));
            EXPECT_EQ(model->index(row, 4).data().toString(), QStringLiteral("c2"));
        }
}

// The database sums up what the samples have one by one.
TEST_F(MachineData, ReadingsAreSummedUpByDevice) {
    const std::string session = begin(store);
    std::vector<store::HardwareReading> all;
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        const SampleSpec spec = example_spec(seed);
        store::Sample sample;
        sample.id = store.begin_sample(session, spec, store::testing::key_of(spec));
        sample.session = session;
        sample.spec = spec;
        sample.status = "ok";
        for (int i = 0; i < 3; ++i) {
            store::HardwareReading reading{.t_s = double(i), .device = i == 2 ? "gpu0" : "cpu"};
            reading.clock_hz = 1e9 * (double(seed) + i);
            if (i == 1) reading.throttle_reasons = "thermal, power";
            sample.hardware.push_back(reading);
            all.push_back(reading);
        }
        store.finish_sample(sample);
    }
    const auto same = [](const std::vector<store::DeviceReadings>& devices) {
        ASSERT_EQ(devices.size(), 2u);
        EXPECT_EQ(devices[0].device, "cpu");
        EXPECT_EQ(devices[0].readings, 4);
        EXPECT_EQ(devices[0].throttled, 2);
        EXPECT_EQ(devices[0].reasons, (std::map<std::string, long>{{"power", 2}, {"thermal", 2}}));
        EXPECT_EQ(devices[0].clock_hz->low, 1e9);
        EXPECT_EQ(devices[0].clock_hz->high, 3e9);
        EXPECT_FALSE(devices[0].temperature_c);
        EXPECT_EQ(devices[1].readings, 2);
        EXPECT_EQ(devices[1].throttled, 0);
    };
    same(store::device_readings(all));
    same(store::device_readings(store.path(), session));
    EXPECT_TRUE(store::device_readings(store.path(), "none").empty());
}

TEST(Findings, AreTheDoctorsButOfTheDatabase) {
    const auto findings = read_findings(
        R"([{"check":"database","level":"fail","says":"x"},{"check":"disk","level":"ok","says":"y"}])");
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].check, "disk");
    EXPECT_THROW(read_findings("no"), UserError);
}

// ---- since the last look ------------------------------------------------------------------------

Overview overview_of(long ok, long failed, VerdictCounts claims) {
    Overview overview;
    overview.systems = {
        {"made",
         "Made up",
         {{"made/fig1", "A", std::move(claims), {{"ok", ok}, {"failed", failed}}, {}}}}};
    return overview;
}

TEST(LastLook, TellsWhatCameSince) {
    const Overview before = overview_of(3, 0, {{"supported", 2}});
    const LastLook look = look_at(before, "2026-11-22T18:04:00.000Z");
    EXPECT_TRUE(news_since(look, before).isEmpty());
    Overview now = overview_of(4, 1, {{"supported", 1}, {"contradicted", 1}});
    now.confirmed = 1;
    EXPECT_EQ(news_since(look, now),
              (QStringList{"2 new samples of made/fig1 (1 failed)",
                           "claims now contradicted: 1 of made/fig1", "1 regression confirmed"}));
}

TEST(KeptState, ComesBackForItsDatabaseOnly) {
    const Folder folder;
    const store::testing::Environment place("XDG_STATE_HOME", folder.path().c_str());
    EXPECT_FALSE(read_state(folder / "r.db").look);
    KeptState state{"geometry", "figure:made/fig1", "dark",
                    look_at(overview_of(3, 0, {{"supported", 2}}), "2026-11-22T18:04:00.000Z")};
    write_state(folder / "r.db", state);
    const KeptState back = read_state(folder / "r.db");
    EXPECT_EQ(back.geometry, state.geometry);
    EXPECT_EQ(back.view, state.view);
    EXPECT_EQ(back.theme, state.theme);
    ASSERT_TRUE(back.look);
    EXPECT_EQ(back.look->at, state.look->at);
    EXPECT_EQ(back.look->experiments.at("made/fig1").samples.at("ok"), 3);
    EXPECT_TRUE(read_state(folder / "other.db").view.isEmpty());
    EXPECT_FALSE(std::filesystem::exists(folder / "r.db"));  // never in the database
}

// ---- a row over its sessions --------------------------------------------------------------------

TEST_F(MachineData, AHistoryHasItsNightsNotesAndLevels) {
    const std::string session = begin(store);
    add_sample(store, session, example_spec());
    store.annotate(session, "new power supply");
    const std::string metric =
        store.metrics_of(store.series_of(example_spec().experiment).front()).front().name;
    const RowId row =
        store::row_id(store.series_of(example_spec().experiment).front(), {metric, {}});
    store::Nights nights(store);
    store::NightRecord night{.id = "",
                             .suite = "cpu",
                             .machine = example_machine().fingerprint,
                             .session = session,
                             .program = "",
                             .started = "2026-11-02T02:00:00.000Z",
                             .finished = "",
                             .verdict = ""};
    night.id = nights.begin(night);
    night.finished = "2026-11-02T03:00:00.000Z";
    night.verdict = "clean";
    nights.finish(night, nlohmann::json::object(), {{row, 1.5, "slower"}}, {});
    nights.accept({"cpu", row, session, "2026-11-03T00:00:00.000Z", "it is another plan", ""});

    const auto histories = read_history(Registry(), store, example_spec().experiment);
    ASSERT_EQ(histories.size(), 1u);
    EXPECT_EQ(histories[0].suite, "cpu");
    ASSERT_EQ(histories[0].nights.size(), 1u);
    EXPECT_EQ(histories[0].nights[0].night, night.id);
    ASSERT_EQ(histories[0].notes.size(), 1u);
    ASSERT_EQ(histories[0].levels.size(), 1u);
    std::map<std::string, std::string> says;
    for (const TrendEvent& event : events_of(histories[0])) says[event.what] = event.says;
    EXPECT_EQ(says.at("night"), "slower, 1.5");
    EXPECT_NE(says.at("note").find("new power supply"), std::string::npos);
    EXPECT_NE(says.at("level").find("it is another plan"), std::string::npos);
}

}  // namespace
}  // namespace assay::gui
