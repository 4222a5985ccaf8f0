// What changed since somebody looked, step by step: deletions, merges, files that take each other's
// place. In any order: changes_in_any_order_test.cpp.
#include <SQLiteCpp/Database.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/store/example_rows.hpp"
#include "tests/store/follower.hpp"

namespace assay::store::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Sample part_with_metric(const std::string& id, const std::string& name, double value) {
    Sample part;
    part.id = id;
    part.metrics = {{name, {}, value}};
    return part;
}

std::string begin_one(Store& store, const std::string& session, std::uint64_t seed) {
    return store.begin_sample(session, example_spec(seed), key_of(example_spec(seed)));
}

/// The file as it is now, under another name, as a backup would be made.
void copy_database(const fs::path& from, const fs::path& to) {
    SQLite::Database sql(from.string(), SQLite::OPEN_READWRITE);
    sql.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    fs::copy_file(from, to, fs::copy_options::overwrite_existing);
}

class ChangesTest : public ::testing::Test {
  protected:
    fs::path file() const { return folder / "r.db"; }
    Store writer() const { return Store::open(file(), Access::write); }

    Folder folder;
};

TEST_F(ChangesTest, OfANewCursorAreEverythingAndThenNothing) {
    Store store = writer();
    const std::string id = add_sample(store, begin(store), example_spec(1));
    Follower follower;
    const Changes all = follower.look(store);
    EXPECT_TRUE(all.everything);
    EXPECT_THAT(all.sessions, SizeIs(1));
    ASSERT_THAT(all.samples, SizeIs(1));
    EXPECT_EQ(all.samples[0].sample.id, id);
    EXPECT_TRUE(follower.look(store).empty());
    EXPECT_EQ(store.changes_since(all.next).next, all.next);
}

TEST_F(ChangesTest, OfAnEmptyFileAreNothingButTheCursor) {
    const Store store = writer();
    Follower follower;
    EXPECT_TRUE(follower.look(store).everything);
    EXPECT_TRUE(follower.look(store).empty());
}

TEST_F(ChangesTest, FollowASessionStepByStep) {
    Store store = writer();
    const Store reader = Store::open(file(), Access::read);
    Follower follower;
    follower.look(reader);
    const std::string session = begin(store);
    EXPECT_THAT(follower.look(reader).sessions, SizeIs(1));
    store.add_suspect(session, "warnings", "hot");
    const Changes suspect = follower.look(reader);
    ASSERT_THAT(suspect.sessions, SizeIs(1));
    EXPECT_EQ(suspect.sessions[0].suspects.at("warnings"), "hot");

    const std::string id = begin_one(store, session, 1);
    const Changes begun = follower.look(reader);
    EXPECT_THAT(begun.sessions, IsEmpty()) << "only what changed";
    ASSERT_THAT(begun.samples, SizeIs(1));
    EXPECT_EQ(begun.samples[0].sample.status, "running");

    EXPECT_TRUE(store.add_to_sample(part_with_metric(id, "first", 1)));
    EXPECT_TRUE(store.add_to_sample(part_with_metric(id, "second", 2)));
    const Changes grown = follower.look(reader);
    ASSERT_THAT(grown.samples, SizeIs(1)) << "once, however often it grew";
    EXPECT_THAT(grown.samples[0].sample.metrics, SizeIs(2));
    EXPECT_TRUE(store.add_to_sample(part_with_metric(id, "third", 3)));
    const Changes more = follower.look(reader);
    ASSERT_THAT(more.samples, SizeIs(1));
    ASSERT_THAT(more.samples[0].sample.metrics, SizeIs(1)) << "only the new one";
    EXPECT_EQ(more.samples[0].sample.metrics[0].name, "third");

    Sample end = full_sample(id, session, example_spec(1));
    store.finish_sample(end);
    const Changes ended = follower.look(reader);
    ASSERT_THAT(ended.samples, SizeIs(1));
    EXPECT_EQ(ended.samples[0].sample.status, "ok");
    EXPECT_THAT(ended.samples[0].sample.metrics, SizeIs(6));
    EXPECT_THAT(ended.samples[0].artifacts, SizeIs(3));
    EXPECT_THAT(ended.next.running, IsEmpty());
    store.finish_session(session, "finished");
    EXPECT_EQ(follower.look(reader).sessions.at(0).state, "finished");
    EXPECT_TRUE(follower.look(reader).empty());
    EXPECT_EQ(follower.contents(), contents_of(reader));
}

TEST_F(ChangesTest, TellOfAnAttemptThatGaveWay) {
    Follower follower;
    std::string session, first;
    {
        Store store = writer();
        session = begin(store);
        first = begin_one(store, session, 1);
        EXPECT_TRUE(store.add_to_sample(part_with_metric(first, "x", 1)));
        follower.look(store);
    }
    Store store = writer();
    EXPECT_EQ(follower.look(store).samples.at(0).sample.status, "interrupted");
    store.resume_session(session);
    begin_one(store, session, 1);
    const Changes changes = follower.look(store);
    EXPECT_THAT(changes.removed_samples, ElementsAre(first));
    EXPECT_FALSE(changes.everything);
    EXPECT_EQ(follower.contents(), contents_of(store));
}

// Whoever deletes it.
TEST_F(ChangesTest, TellOfSamplesThatWentWithTheirSession) {
    Store store = writer();
    const std::string session = begin(store);
    const std::string id = add_sample(store, session, example_spec(1));
    Follower follower;
    follower.look(store);
    {
        SQLite::Database sql(file().string(), SQLite::OPEN_READWRITE);
        sql.exec("PRAGMA foreign_keys = ON");
        sql.exec("DELETE FROM session");
    }
    const Changes changes = follower.look(store);
    EXPECT_THAT(changes.removed_sessions, ElementsAre(session));
    EXPECT_THAT(changes.removed_samples, ElementsAre(id));
    EXPECT_THAT(follower.contents(), IsEmpty());
}

TEST_F(ChangesTest, AfterAPruneAreEverythingOnce) {
    Store store = writer();
    const std::string old = begin(store, "2020-01-01T00:00:00.000Z");
    add_sample(store, old, example_spec(1));
    store.finish_session(old, "finished");
    const std::string kept = add_sample(store, begin(store), example_spec(2));
    Follower follower;
    follower.look(store);
    store.prune(30, false, true);
    EXPECT_TRUE(follower.look(store).empty()) << "it only counted";
    store.prune(30, false, false);
    const Changes changes = follower.look(store);
    EXPECT_TRUE(changes.everything);
    ASSERT_THAT(changes.samples, SizeIs(1));
    EXPECT_EQ(changes.samples[0].sample.id, kept);
    EXPECT_TRUE(follower.look(store).empty());
    EXPECT_EQ(SQLite::Database(file().string()).execAndGet("SELECT count(*) FROM removal").getInt(),
              0)
        << "names of what is gone take no space";
}

TEST_F(ChangesTest, AreWhatAMergeBrings) {
    std::string session, running;
    Store other = Store::open(folder / "other.db", Access::write);
    session = begin(other);
    add_sample(other, session, example_spec(1));
    const std::string failed = add_sample(other, session, example_spec(2), 0, "failed");
    running = begin_one(other, session, 3);
    Store store = writer();
    add_sample(store, begin(store), example_spec(1));
    Follower follower;
    follower.look(store);
    store.merge(folder / "other.db");
    EXPECT_THAT(follower.look(store).samples, SizeIs(2));
    EXPECT_EQ(follower.contents(), contents_of(store));

    add_sample(other, session, example_spec(2), 5);
    Sample end = full_sample(running, session, example_spec(3));
    other.finish_sample(end);
    other.finish_session(session, "finished");
    store.merge(folder / "other.db");
    const Changes later = follower.look(store);
    EXPECT_THAT(later.removed_samples, ElementsAre(failed)) << "its successful attempt replaced it";
    EXPECT_THAT(later.samples, SizeIs(2));
    EXPECT_THAT(later.sessions, SizeIs(1));
    EXPECT_EQ(follower.contents(), contents_of(store));
    store.merge(folder / "other.db");
    EXPECT_TRUE(follower.look(store).empty()) << "nothing was new";
}

// A sample that a reader saw grow goes, and comes back whole under its old id.
TEST_F(ChangesTest, TellWholeWhatWentAndCameBack) {
    Store store = writer();
    const std::string session = begin(store);
    const std::string id = begin_one(store, session, 1);
    EXPECT_TRUE(store.add_to_sample(part_with_metric(id, "early", 1)));
    Follower follower;
    follower.look(store);
    ASSERT_EQ(follower.cursor.running.size(), 1u);
    Sample end = part_with_metric(id, "late", 2);
    end.status = "ok";
    store.finish_sample(end);
    store.finish_session(session, "finished");
    copy_database(file(), folder / "kept.db");
    SQLite::Database sql(file().string(), SQLite::OPEN_READWRITE);
    sql.exec("PRAGMA foreign_keys = ON");
    sql.exec("DELETE FROM session");
    store.merge(folder / "kept.db");
    const Changes changes = follower.look(store);
    EXPECT_FALSE(changes.everything);
    ASSERT_THAT(changes.samples, SizeIs(1));
    EXPECT_THAT(changes.samples[0].sample.metrics, SizeIs(2));
    EXPECT_EQ(follower.contents(), contents_of(store));
}

// ---- other files --------------------------------------------------------------------------------

TEST_F(ChangesTest, OfAnotherFileAreEverything) {
    Store store = writer();
    Store other = Store::open(folder / "other.db", Access::write);
    for (Store* each : {&store, &other}) add_sample(*each, begin(*each), example_spec(1));
    Follower follower;
    follower.look(store);
    EXPECT_TRUE(follower.look(other).everything) << "with as many changes";
    EXPECT_EQ(follower.contents(), contents_of(other));
}

/// A copy of a database that goes on by itself.
class Backup : public ChangesTest {
  protected:
    Backup() {
        Store store = writer();
        session = begin(store);
        add_sample(store, session, example_spec(1));
        store.finish_session(session, "finished");
        copy_database(file(), folder / "backup.db");
    }
    void restore() const {
        fs::remove(file().string() + "-wal");
        fs::remove(file().string() + "-shm");
        fs::rename(folder / "backup.db", file());
    }

    std::string session;
};

TEST_F(Backup, ThatIsStillTheSameContinues) {
    Follower follower;
    follower.look(writer());
    restore();
    Store store = writer();
    EXPECT_TRUE(follower.look(store).empty());
    add_sample(store, begin(store), example_spec(2));
    EXPECT_FALSE(follower.look(store).everything);
    EXPECT_EQ(follower.contents(), contents_of(store));
}

TEST_F(Backup, ThatIsOlderIsReadAgain) {
    Follower follower;
    {
        Store store = writer();
        add_sample(store, begin(store), example_spec(2));
        follower.look(store);
    }
    restore();
    const Store store = writer();
    EXPECT_TRUE(follower.look(store).everything);
    EXPECT_EQ(follower.contents(), contents_of(store));
}

// The numbers of its changes say nothing.
TEST_F(Backup, ThatWentAnotherWayIsReadAgain) {
    Follower follower;
    {
        Store store = writer();
        add_sample(store, begin(store), example_spec(2));
        follower.look(store);
    }
    restore();
    for (int more = 0; more < 3; ++more) {
        Store store = writer();
        add_sample(store, begin(store), example_spec(3));
        const bool first = more == 0;
        EXPECT_EQ(follower.look(store).everything, first);
        EXPECT_EQ(follower.contents(), contents_of(store));
    }
}

// Whoever wrote before and after the copy was made.
TEST_F(Backup, OfARunningProgramGoesAnotherWayToo) {
    Store store = writer();
    const std::string mine = begin(store);
    copy_database(file(), folder / "copy.db");
    add_sample(store, mine, example_spec(2));
    Follower follower;
    follower.look(store);
    Follower other = follower;
    EXPECT_TRUE(other.look(Store::open(folder / "copy.db", Access::read)).everything)
        << "it has not come so far";
    Store copy = Store::open(folder / "copy.db", Access::write);
    add_sample(copy, begin(copy), example_spec(3));
    add_sample(copy, begin(copy), example_spec(4));
    EXPECT_TRUE(follower.look(copy).everything);
    EXPECT_EQ(follower.contents(), contents_of(copy));
}

// Somebody had opened it to write, and changed no session and no sample.
TEST_F(Backup, AfterAWriterOfNothingGoesAnotherWayToo) {
    writer().put_machine(example_machine());
    copy_database(file(), folder / "copy.db");
    Follower follower;
    {
        Store store = writer();
        add_sample(store, begin(store), example_spec(2));
        follower.look(store);
    }
    Store copy = Store::open(folder / "copy.db", Access::write);
    add_sample(copy, begin(copy), example_spec(3));
    EXPECT_TRUE(follower.look(copy).everything);
    EXPECT_EQ(follower.contents(), contents_of(copy));
}

TEST_F(Backup, ThatTakesThePlaceOfAnOpenFileIsNoticed) {
    const Store reader = Store::open(file(), Access::read);
    EXPECT_FALSE(reader.replaced());
    restore();
    EXPECT_TRUE(reader.replaced());
    EXPECT_FALSE(Store::open(file(), Access::read).replaced());
    fs::remove(file());
    EXPECT_TRUE(reader.replaced());
}

// The names of writers are kept for a while only.
TEST_F(ChangesTest, OfACursorFromLongAgoAreEverything) {
    Follower old, recent;
    const auto as_if_many_wrote = [&](int writers) {
        SQLite::Database(file().string(), SQLite::OPEN_READWRITE)
            .exec("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
                  std::to_string(writers) +
                  ") INSERT INTO change_writer SELECT newest + i, random() FROM n, change_counter;"
                  "UPDATE change_counter SET newest = newest + " +
                  std::to_string(writers));
        Store store = writer();
        begin(store);
    };
    old.look(writer());
    as_if_many_wrote(200);
    recent.look(writer());
    as_if_many_wrote(900);
    const Store store = writer();
    EXPECT_TRUE(old.look(store).everything);
    EXPECT_FALSE(recent.look(store).everything);
    EXPECT_EQ(recent.contents(), contents_of(store));
    EXPECT_EQ(
        SQLite::Database(file().string()).execAndGet("SELECT count(*) FROM change_writer").getInt(),
        1000);
}

// ---- what runs ----------------------------------------------------------------------------------

TEST_F(ChangesTest, BeforeWhatRunsTellOfRunningSessionsAlone) {
    Store store = writer();
    const std::string before = begin(store);
    add_sample(store, before, example_spec(1));
    store.finish_session(before, "finished");
    EXPECT_TRUE(store.changes_since(store.before_what_runs()).empty()) << "nothing runs";
    const std::string session = begin(store);
    const std::string ended = add_sample(store, session, example_spec(1));
    const std::string running = begin_one(store, session, 2);
    EXPECT_TRUE(store.add_to_sample(part_with_metric(running, "x", 1)));
    store.add_suspect(session, "later", "than its samples");
    const Changes changes = store.changes_since(store.before_what_runs());
    EXPECT_FALSE(changes.everything);
    ASSERT_THAT(changes.sessions, SizeIs(1));
    EXPECT_EQ(changes.sessions[0].id, session);
    ASSERT_THAT(changes.samples, SizeIs(2));
    EXPECT_EQ(changes.samples[0].sample.id, ended);
    EXPECT_EQ(changes.samples[1].sample.id, running);
    EXPECT_THAT(changes.samples[1].sample.metrics, SizeIs(1));
}

TEST_F(ChangesTest, AReaderKnowsWhetherARunnerLives) {
    std::string session;
    {
        Store store = writer();
        session = begin(store);
        EXPECT_TRUE(store.has_living_runner(session));
        EXPECT_TRUE(Store::open(file(), Access::read).has_living_runner(session));
    }
    const Store reader = Store::open(file(), Access::read);
    EXPECT_EQ(reader.session(session)->state, "running") << "nobody has said otherwise";
    EXPECT_FALSE(reader.has_living_runner(session));
    EXPECT_NE(error_of([&] { reader.has_living_runner("unknown"); }), "");
}

}  // namespace
}  // namespace assay::store::testing
