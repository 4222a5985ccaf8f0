// Which samples a report and a claim check see.
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <thread>

#include "tests/store/example_rows.hpp"

namespace assay::store::testing {
namespace {

TEST(NewestSamples, OfEachCaseAndVariantTheNewestSessionThatHasAny) {
    Folder folder;
    auto store = Store::open(folder / "r.db", Access::write);
    const auto add_session = [&](const char* started) { return begin(store, started); };
    const auto old_session = add_session("2026-01-01T00:00:00.000Z");
    const auto new_session = add_session("2026-02-01T00:00:00.000Z");
    const auto failing_session = add_session("2026-03-01T00:00:00.000Z");
    add_sample(store, old_session, example_spec(1), 10);
    add_sample(store, old_session, example_spec(1, "ds"), 20);
    add_sample(store, new_session, example_spec(1), 11);
    add_sample(store, new_session, example_spec(2), 12);
    add_sample(store, failing_session, example_spec(1), 99, "failed");
    auto other_case = example_spec(1);
    other_case.axes["nodes"] = std::int64_t{20};
    add_sample(store, old_session, other_case, 30);
    auto other_provenance = example_spec(1);
    other_provenance.provenance = Provenance::simulated;
    add_sample(store, old_session, other_provenance, 40);
    auto other_experiment = example_spec(1);
    other_experiment.experiment = "lazarus/fig9";
    add_sample(store, new_session, other_experiment, 50);

    std::multiset<double> values;
    for (const auto& observation : store.observations("lazarus/fig8")) {
        EXPECT_EQ(observation.experiment, "lazarus/fig8");
        EXPECT_EQ(observation.metric, "throughput");
        EXPECT_EQ(observation.profile, Profile::small);
        values.insert(observation.value);
    }
    EXPECT_EQ(values, (std::multiset<double>{11, 12, 20, 30, 40}));
    EXPECT_TRUE(store.newest_samples("lazarus/fig10b").empty());
}

TEST(NewestSamples, AreThoseOfTheSessionThatEndedLast) {
    Folder folder;
    auto store = Store::open(folder / "r.db", Access::write);
    const auto value = [&] { return store.observations("lazarus/fig8").at(0).value; };
    const auto resumed = begin(store, "2026-01-01T00:00:00.000Z");
    add_sample(store, resumed, example_spec(1), 10);
    store.finish_session(resumed, "interrupted");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const auto between = begin(store, "2026-01-02T00:00:00.000Z");
    add_sample(store, between, example_spec(1), 11);
    store.finish_session(between, "interrupted");
    EXPECT_EQ(value(), 11);
    store.resume_session(resumed);
    EXPECT_EQ(value(), 10) << "while it runs";
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    store.finish_session(resumed, "finished");
    EXPECT_EQ(value(), 10);
    auto rerun = example_session("2026-02-01T00:00:00.000Z");
    rerun.suspects[rerun_mark] = "of a night's candidates";
    store.begin_session(rerun);
    add_sample(store, rerun.id, example_spec(1), 12);
    store.finish_session(rerun.id, "interrupted");
    EXPECT_EQ(value(), 10) << "a night's reruns do not count";
    EXPECT_NE(store.newest_unfinished(rerun.plan_hash, rerun.build).value_or(Session()).id,
              rerun.id);
    EXPECT_EQ(store.experiments(), std::vector<std::string>{"lazarus/fig8"});
}

/// A sample of the machine `hardware` under that calibration and data.
void add(Store& store, const std::string& session, const SampleSpec& spec, double value,
         const Origin& origin) {
    SeriesKey key = key_of(spec);
    key.hardware = origin.hardware;
    key.calibration = origin.calibration;
    key.data = origin.data;
    if (!key.calibration.empty()) store.put_calibration({key.calibration, "c", {}, {}, ""});
    Sample sample;
    sample.id = store.begin_sample(session, spec, key);
    sample.status = "ok";
    sample.metrics = {{"throughput", {}, value}};
    store.finish_sample(sample);
}

std::multiset<double> values_of(const std::vector<Observation>& observations) {
    std::multiset<double> values;
    for (const Observation& observation : observations) values.insert(observation.value);
    return values;
}

TEST(NewestSamples, OfEachMachineItsOwnAndTheySayWhereTheyComeFrom) {
    Folder folder;
    auto store = Store::open(folder / "mine.db", Access::write);
    const auto session = begin(store, "2026-01-01T00:00:00.000Z");
    add(store, session, example_spec(1), 10, {"m1"});
    {
        auto other = Store::open(folder / "other.db", Access::write);
        other.put_machine({"m2", {}});
        auto theirs = example_session("2026-02-01T00:00:00.000Z");
        theirs.machine = "m2";
        theirs.suspects["host"] = "node7";
        other.begin_session(theirs);
        add(other, theirs.id, example_spec(1), 20, {"m2", "c", "d"});
        other.finish_session(theirs.id, "finished");
    }
    store.merge(folder / "other.db");
    const auto observations = store.observations("lazarus/fig8");
    ASSERT_EQ(values_of(observations), (std::multiset<double>{10, 20}));
    EXPECT_EQ(observations[0].origin, (Origin{"m1", "", "", session}));
    EXPECT_EQ(observations[0].host, "");
    EXPECT_EQ(observations[1].origin.hardware, "m2");
    EXPECT_EQ(observations[1].origin.calibration, "c");
    EXPECT_EQ(observations[1].origin.data, "d");
    EXPECT_EQ(observations[1].host, "node7");
    EXPECT_EQ(store.newest_samples("lazarus/fig8").size(), 2u);
}

TEST(NewestSamples, OfAnEditedCalibrationReplaceAllOfTheOldOneInClaims) {
    Folder folder;
    auto store = Store::open(folder / "r.db", Access::write);
    const SampleSpec a = example_spec(1, "a"), b = example_spec(1, "b");
    SampleSpec elsewhere = b;
    elsewhere.axes["nodes"] = std::int64_t{20};
    const auto first = begin(store, "2026-01-01T00:00:00.000Z");
    for (const auto& [spec, value] : {std::pair(a, 1.0), {b, 2.0}, {elsewhere, 3.0}})
        add(store, first, spec, value, {"m", "old", "d"});
    SampleSpec other_profile = a;
    other_profile.profile = Profile::toy;
    add(store, first, other_profile, 4, {"m", "old", "d"});
    add(store, first, a, 5, {"another", "old", "d"});
    store.finish_session(first, "finished");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const auto second = begin(store, "2026-02-01T00:00:00.000Z");
    add(store, second, a, 11, {"m", "new", "d"});
    EXPECT_EQ(values_of(store.observations("lazarus/fig8")), (std::multiset<double>{4, 5, 11}))
        << "what the old one made on that machine at that profile counts no more";
    EXPECT_EQ(store.newest_samples("lazarus/fig8").size(), 5u)
        << "reports go on showing what was not made anew";
    store.finish_session(second, "finished");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const auto back = begin(store, "2026-03-01T00:00:00.000Z");
    add(store, back, b, 22, {"m", "old", "d"});
    store.finish_session(back, "finished");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(values_of(store.observations("lazarus/fig8")),
              (std::multiset<double>{1, 3, 4, 5, 22}))
        << "edited back: what the new one made counts no more, and the old one again";
}

TEST(NewestSamples, UnderCalibrationsThatTheAxesDecideAllCount) {
    Folder folder;
    auto store = Store::open(folder / "r.db", Access::write);
    SampleSpec small = example_spec(1), large = example_spec(1);
    large.axes["nodes"] = std::int64_t{20};
    const auto first = begin(store, "2026-01-01T00:00:00.000Z");
    add(store, first, small, 1, {"m", "of 10", ""});
    add(store, first, large, 2, {"m", "of 20", ""});
    store.finish_session(first, "finished");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    add(store, begin(store, "2026-02-01T00:00:00.000Z"), small, 11, {"m", "of 10", ""});
    EXPECT_EQ(values_of(store.observations("lazarus/fig8")), (std::multiset<double>{2, 11}));
}

/// Sessions of the machine "m" one after the other, each with these samples and their data.
class DataSessions {
  public:
    struct Made {
        const char* trace;
        const char* data;
        double value;
        const char* calibration = "";
    };

    void run(const std::vector<Made>& samples) {
        const auto session = begin(store_, "2026-01-01T00:00:00.000Z");
        for (const Made& made : samples) {
            SampleSpec spec = example_spec(1);
            spec.axes["trace"] = std::string(made.trace);
            add(store_, session, spec, made.value, {"m", made.calibration, made.data});
        }
        store_.finish_session(session, "finished");
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }

    std::multiset<double> values() const { return values_of(store_.observations("lazarus/fig8")); }

  private:
    Folder folder_;
    Store store_ = Store::open(folder_ / "r.db", Access::write);
};

TEST(NewestSamples, ACaseWithoutDataReplacesNoneOfThoseWithData) {
    for (const bool together : {true, false}) {
        DataSessions sessions;
        sessions.run({{"smartmoe", "", 1}, {"synthetic", "", 2}});  // before data had hashes
        if (together) {
            sessions.run({{"smartmoe", "H", 11}, {"synthetic", "", 12}});
        } else {
            sessions.run({{"synthetic", "", 12}});
            sessions.run({{"smartmoe", "H", 11}});
        }
        EXPECT_EQ(sessions.values(), (std::multiset<double>{11, 12}));
        sessions.run({{"synthetic", "", 22}});
        EXPECT_EQ(sessions.values(), (std::multiset<double>{11, 22}));
    }
}

TEST(NewestSamples, DataReplacesNoCaseThatReadsNone) {
    DataSessions sessions;
    sessions.run({{"smartmoe", "", 1}, {"synthetic", "", 2}});
    sessions.run({{"smartmoe", "H", 11}, {"synthetic", "", 12}});
    sessions.run({{"smartmoe", "H", 21}});
    EXPECT_EQ(sessions.values(), (std::multiset<double>{12, 21}));
    sessions.run({{"smartmoe", "edited", 31}});
    EXPECT_EQ(sessions.values(), (std::multiset<double>{12, 31}));
}

TEST(NewestSamples, OfUnknownDataAreNotTakenInsteadOfOutdatedOnes) {
    DataSessions sessions;
    sessions.run({{"one", "", 1}, {"two", "", 2}});
    sessions.run({{"one", "H", 11}, {"two", "H", 12}});
    sessions.run({{"two", "edited", 22}});
    EXPECT_EQ(sessions.values(), (std::multiset<double>{22}));
}

TEST(NewestSamples, OfAnEditedCalibrationReplaceThoseWithAndWithoutData) {
    DataSessions sessions;
    sessions.run({{"smartmoe", "H", 1, "old"}, {"synthetic", "", 2, "old"}});
    sessions.run({{"smartmoe", "H", 11, "new"}});
    EXPECT_EQ(sessions.values(), (std::multiset<double>{11}));
    sessions.run({{"synthetic", "", 22, "new"}});
    EXPECT_EQ(sessions.values(), (std::multiset<double>{11, 22}));
}

TEST(NewestSamples, OfTwoFilesThatOneSessionUsedNeitherReplacesTheOther) {
    DataSessions sessions;
    sessions.run({{"one", "A", 1}, {"two", "A", 2}});
    sessions.run({{"one", "B", 11}, {"two", "A", 12}});  // "one" reads another file now
    sessions.run({{"two", "A", 22}});
    EXPECT_EQ(sessions.values(), (std::multiset<double>{11, 22}));
    sessions.run({{"one", "B", 31}});
    EXPECT_EQ(sessions.values(), (std::multiset<double>{22, 31}));
}

TEST(NewestSamples, AreFoundInSessionsThatLieFarBack) {
    Folder folder;
    auto store = Store::open(folder / "r.db", Access::write);
    const auto add_at = [&](int day, const char* variant) {
        add_sample(store, begin(store, "2026-01-" + std::to_string(10 + day) + "T00:00:00.000Z"),
                   example_spec(1, variant), day);
    };
    for (int day = 0; day < 3; ++day) add_at(day, "gone");
    for (int day = 3; day < 80; ++day) add_at(day, "stays");
    EXPECT_EQ(values_of(store.observations("lazarus/fig8")), (std::multiset<double>{2, 79}));
}

TEST(UnsuccessfulSamples, AreThoseOfTheNewestSessionThatTriedTheExperiment) {
    Folder folder;
    auto store = Store::open(folder / "r.db", Access::write);
    EXPECT_TRUE(store.unsuccessful_samples("lazarus/fig8").empty());
    const auto first = begin(store, "2026-01-01T00:00:00.000Z");
    add_sample(store, first, example_spec(1), 1, "failed");
    const auto second = begin(store, "2026-02-01T00:00:00.000Z");
    add_sample(store, second, example_spec(1), 1);
    add_sample(store, second, example_spec(2), 1, "invalid");
    add_sample(store, second, example_spec(3), 1, "unsupported");
    store.begin_sample(second, example_spec(4), key_of(example_spec(4)));
    auto other = example_spec(1);
    other.experiment = "lazarus/fig9";
    add_sample(store, begin(store, "2026-03-01T00:00:00.000Z"), other, 1, "failed");
    const auto found = store.unsuccessful_samples("lazarus/fig8");
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].status, "invalid");
    EXPECT_EQ(found[1].status, "unsupported");
    EXPECT_EQ(store.unsuccessful_samples("lazarus/fig9").size(), 1u);
    add_sample(store, begin(store, "2026-04-01T00:00:00.000Z"), example_spec(1), 1);
    EXPECT_TRUE(store.unsuccessful_samples("lazarus/fig8").empty()) << "all went well since";
}

TEST(NewestSamples, CarryMetricsAndEventsButNoBlobs) {
    Folder folder;
    auto store = Store::open(folder / "r.db", Access::write);
    const auto session = begin(store);
    const auto id = store.begin_sample(session, example_spec(), key_of(example_spec()));
    store.finish_sample(full_sample(id, session, example_spec()));
    for (const auto& sample :
         {store.newest_samples("lazarus/fig8").at(0), store.samples(session).at(0)}) {
        EXPECT_EQ(sample.metrics.size(), 6u);
        EXPECT_EQ(sample.events.size(), 2u);
        EXPECT_TRUE(sample.series_data.empty());
        EXPECT_TRUE(sample.artifacts.empty());
    }
}

}  // namespace
}  // namespace assay::store::testing
