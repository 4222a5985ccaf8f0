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
