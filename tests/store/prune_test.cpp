// What prune takes and what it must leave.
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "tests/store/example_rows.hpp"

namespace assay::store::testing {
namespace {

constexpr const char* long_ago = "2020-01-01T00:00:00.000Z";

std::set<std::string> session_ids(const Store& store) {
    std::set<std::string> ids;
    for (const auto& session : store.sessions()) ids.insert(session.id);
    return ids;
}

TEST(Prune, TakesOldSessionsExceptThoseSomebodyPointedAt) {
    Folder folder;
    auto store = Store::open(folder / "r.db", Access::write);
    const auto finished = [&](const char* started) {
        const auto id = begin(store, started);
        add_sample(store, id, example_spec());
        store.finish_session(id, "finished");
        return id;
    };
    const auto old_one = finished(long_ago);
    const auto annotated = finished(long_ago);
    const auto sample_annotated = finished(long_ago);
    const auto baseline = finished(long_ago);
    const auto running = begin(store, long_ago);
    const auto recent = finished(now_utc().c_str());
    store.annotate(annotated, "keep");
    store.annotate(store.samples(sample_annotated).at(0).id, "keep");
    store.set_baseline("main", baseline);
    const auto everything = session_ids(store);

    const auto counted = store.prune(30, false, true);
    EXPECT_EQ(session_ids(store), everything) << "a dry run deletes nothing";
    const auto pruned = store.prune(30, false, false);
    EXPECT_EQ(counted.sessions, 1);
    EXPECT_EQ(pruned.sessions, 1);
    EXPECT_EQ(pruned.samples, counted.samples);
    EXPECT_EQ(session_ids(store),
              (std::set<std::string>{annotated, sample_annotated, baseline, running, recent}));
    EXPECT_TRUE(store.check().ok);
    EXPECT_EQ(store.prune(30, false, false).sessions, 0);
}

TEST(Prune, OnlyUnsuccessfulSamples) {
    Folder folder;
    auto store = Store::open(folder / "r.db", Access::write);
    const auto session = begin(store);
    const auto ok = add_sample(store, session, example_spec(1));
    for (std::uint64_t seed = 2;
         const char* status : {"failed", "invalid", "interrupted", "unsupported"})
        add_sample(store, session, example_spec(seed++, "ds"), 0, status);
    EXPECT_EQ(store.prune({}, true, false).samples, 0) << "the session is still being run";
    store.finish_session(session, "finished");
    EXPECT_EQ(store.prune(1, true, false).samples, 0) << "it is younger than a day";
    const auto pruned = store.prune({}, true, false);
    EXPECT_EQ(pruned.samples, 4);
    EXPECT_EQ(pruned.sessions, 0);
    ASSERT_EQ(store.samples(session).size(), 1u);
    EXPECT_EQ(store.samples(session).at(0).id, ok);
    EXPECT_TRUE(store.check().ok) << "series that lost all their samples go too";
}

TEST(Prune, SharedArtifactsStayAndSpaceComesBack) {
    Folder folder;
    auto store = Store::open(folder / "r.db", Access::write);
    const auto add = [&](const char* started, const std::string& own) {
        const auto session = begin(store, started);
        Sample sample =
            full_sample(store.begin_sample(session, example_spec(), key_of(example_spec())),
                        session, example_spec());
        sample.artifacts = {{"shared", "text/plain", "both have it"}, {"own", "text/plain", own}};
        store.finish_sample(sample);
        store.finish_session(session, "finished");
        return sample.id;
    };
    add(long_ago, std::string(4'000'000, 'x'));
    const auto kept = add(now_utc().c_str(), "small");
    const auto before = store.check().bytes;
    EXPECT_EQ(store.prune(30, false, false).artifacts, 1);
    EXPECT_EQ(store.sample(kept).artifacts.at(0).bytes, "both have it");
    EXPECT_LT(store.check().bytes, before - 3'500'000);
}

TEST(Prune, SenselessRequestsAreRefused) {
    Folder folder;
    auto store = Store::open(folder / "r.db", Access::write);
    EXPECT_NE(error_of([&] { store.prune({}, false, true); }).find("prune what?"),
              std::string::npos);
    EXPECT_NE(error_of([&] { store.prune(-1, false, true); }), "");
    EXPECT_NE(error_of([&] { store.prune(std::numeric_limits<double>::quiet_NaN(), false, true); }),
              "");
    EXPECT_EQ(store.prune(1e300, false, true).sessions, 0);
}

}  // namespace
}  // namespace assay::store::testing
