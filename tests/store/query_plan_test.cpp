// Every statement with which results are read finds its rows through an index: none walks through
// all samples or all metrics, of which a database has millions.
#include <SQLiteCpp/Database.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <chrono>
#include <map>

#include "tests/store/example_rows.hpp"

namespace assay::store::testing {
namespace {

/// Statements by text: how often each ran, and how many steps of SQLite's machine they took.
struct Work {
    std::map<std::string, int> runs;
    long steps = 0;
};
Work* collected = nullptr;

int collect(unsigned event, void*, void* subject, void*) {
    if (!collected) return 0;
    auto* statement = static_cast<sqlite3_stmt*>(subject);
    if (event == SQLITE_TRACE_STMT)
        ++collected->runs[sqlite3_sql(statement)];
    else
        collected->steps += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1);
    return 0;
}

int on_new_connection(sqlite3* connection, char**, const void*) {
    return sqlite3_trace_v2(connection, SQLITE_TRACE_STMT | SQLITE_TRACE_PROFILE, collect, nullptr);
}

/// What every new connection runs while the object lives.
class Statements {
  public:
    Statements() {
        collected = &work_;
        sqlite3_auto_extension(reinterpret_cast<void (*)()>(on_new_connection));
    }
    ~Statements() {
        sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(on_new_connection));
        collected = nullptr;
    }
    const Work& work() const { return work_; }
    void forget() { work_ = {}; }

  private:
    Work work_;
};

/// Steps of the plan that walk through a whole large table, by whatever name it goes.
std::string walks(SQLite::Database& sql, const std::string& statement) {
    std::string found;
    SQLite::Statement plan(sql, "EXPLAIN QUERY PLAN " + statement);
    while (plan.executeStep()) {
        const auto step = plan.getColumn(3).getString();
        for (const char* large : {"sample", "metric", "event", "hardware", "time_series",
                                  "artifact", "data_table", "data_table_cell"})
            if (step.starts_with("SCAN " + std::string(large)) &&
                (step.size() == 5 + std::string(large).size() ||
                 step[5 + std::string(large).size()] == ' '))
                found += step + "; ";
    }
    return found;
}

void fill(Store& store, int sessions) {
    for (int i = 0; i < sessions; ++i) {
        const auto session = begin(store);
        for (std::uint64_t seed = 0; seed < 3; ++seed) {
            const auto spec = example_spec(seed);
            const auto id = store.begin_sample(session, spec, key_of(spec));
            store.finish_sample(full_sample(id, session, spec));
        }
        store.finish_session(session, "finished");
    }
}

class QueryPlans : public ::testing::Test {
  protected:
    QueryPlans() {
        auto store = Store::open(file(), Access::write);
        fill(store, 3);
    }
    std::filesystem::path file() const { return folder / "r.db"; }

    Folder folder;
};

TEST_F(QueryPlans, TheTestItselfSeesAWalk) {
    SQLite::Database sql(file().string());
    EXPECT_NE(walks(sql, "SELECT * FROM sample WHERE round = 1"), "");
    EXPECT_NE(walks(sql, "SELECT count(*) FROM metric"), "");
    EXPECT_EQ(walks(sql, "SELECT * FROM sample WHERE id = 'x'"), "");
}

TEST_F(QueryPlans, OfReadingWalkThroughNothingLarge) {
    Statements statements;
    {
        const auto store = Store::open(file(), Access::read);
        const auto session = store.sessions().at(0).id;
        const auto sample = store.samples(session).at(0);
        store.session_metrics(session);
        store.series_in(session);
        store.newest_samples("lazarus/fig8");
        store.observations("lazarus/fig8");
        store.unsuccessful_samples("lazarus/fig8");
        store.histories("lazarus/fig8");
        store.histories("lazarus/fig8", {.series = {}, .metric = {}, .since = "2026"});
        const auto key = store.series_of("lazarus/fig8").at(0);
        store.metrics_of(key);
        EXPECT_EQ(store.history(key, {"limit", {}}).size(), 0u) << "infinite";
        EXPECT_EQ(store.history(key, {"loss", {{"step", std::int64_t{2}}}}).size(), 3u);
        store.sample(sample.id.substr(0, 8));
        store.session(session);
        store.newest_unfinished("plan", "build");
        store.metric_units("lazarus/fig8");
        store.annotations(session);
        store.baselines();
        store.changes_since(store.before_what_runs());
        store.changes_since(store.changes_since({}).next);
    }
    ASSERT_GT(statements.work().runs.size(), 15u);
    SQLite::Database sql(file().string());
    int explained = 0;
    for (const auto& [text, runs] : statements.work().runs) {
        if (!text.starts_with("SELECT")) continue;
        EXPECT_EQ(walks(sql, text), "") << text;
        ++explained;
    }
    EXPECT_GT(explained, 12);
}

TEST_F(QueryPlans, OfTheViewsForOneSessionAndOneExperiment) {
    SQLite::Database sql(file().string());
    for (const char* view : {"samples", "results", "events", "hardware_readings"})
        for (const char* where : {"session = 'x'", "experiment = 'lazarus/fig8'", "sample = 'x'"}) {
            const auto text = std::string("SELECT * FROM ") + view + " WHERE " + where;
            EXPECT_EQ(walks(sql, text), "") << text;
        }
    EXPECT_EQ(walks(sql, "SELECT * FROM sessions"), "");
    EXPECT_EQ(sql.execAndGet("SELECT count(*) FROM results").getInt(), 3 * 3 * 6);
    EXPECT_EQ(sql.execAndGet("SELECT count(*) FROM events").getInt(), 3 * 3 * 2);
    EXPECT_EQ(sql.execAndGet("SELECT count(*) FROM hardware_readings").getInt(), 3 * 3 * 2);
    EXPECT_EQ(sql.execAndGet("SELECT sum(ok) FROM sessions").getInt(), 9);
    EXPECT_EQ(sql.execAndGet("SELECT DISTINCT git_commit FROM results").getString(), "abc");
}

/// Steps of SQLite's machine that `read` takes in a file with so many sessions.
template <class Read>
long steps_with(int sessions, Read read) {
    Folder folder;
    {
        auto store = Store::open(folder / "r.db", Access::write);
        fill(store, sessions);
    }
    Statements statements;
    const auto store = Store::open(folder / "r.db", Access::read);
    statements.forget();
    read(store);
    return statements.work().steps;
}

TEST(ReadingWork, OfTheNewestSamplesHardlyGrowsWithAllSamplesEverStored) {
    const auto newest = [](const Store& store) {
        EXPECT_EQ(store.newest_samples("lazarus/fig8").size(), 3u);
    };
    const long few = steps_with(4, newest), many = steps_with(400, newest);
    // A session costs some steps of its own: their order is asked for.
    EXPECT_LT(many - few, 396 * 40) << "a walk takes hundreds of steps for each session's samples";
    EXPECT_LT(few, 5000);
}

TEST(ReadingWork, OfWhatFailedLastDoesNotGrowWithAllSamplesEverStored) {
    const auto failed = [](const Store& store) { store.unsuccessful_samples("lazarus/fig8"); };
    const long few = steps_with(4, failed), many = steps_with(400, failed);
    EXPECT_LT(many - few, 396 * 40) << "as above";
}

TEST(ReadingWork, OfWhatChangedDoesNotGrowWithTheDatabase) {
    const auto of_one_sample = [](int sessions) {
        Folder folder;
        auto writer = Store::open(folder / "r.db", Access::write);
        fill(writer, sessions);
        const Store reader = Store::open(folder / "r.db", Access::read);
        const Cursor seen = reader.changes_since({}).next;
        add_sample(writer, begin(writer), example_spec(9));
        Statements statements;
        const Store counted = Store::open(folder / "r.db", Access::read);
        statements.forget();
        EXPECT_EQ(counted.changes_since(seen).samples.size(), 1u);
        const long changed = statements.work().steps;
        statements.forget();
        EXPECT_TRUE(counted.changes_since(counted.changes_since(seen).next).empty());
        EXPECT_LT(statements.work().steps, changed + 100) << "hardly any where nothing is new";
        return changed;
    };
    EXPECT_LE(of_one_sample(200), of_one_sample(4) + 10);
}

TEST(ReadingWork, OfHistoriesIsOnePassHoweverManyMetricsThereAre) {
    Folder folder;
    {
        auto store = Store::open(folder / "r.db", Access::write);
        fill(store, 5);
    }
    Statements statements;
    const auto store = Store::open(folder / "r.db", Access::read);
    EXPECT_EQ(store.histories("lazarus/fig8").size(), 3u) << "metrics with finite values";
    EXPECT_EQ(statements.work().runs.at(history_sql), 5) << "one series in five sessions";
}

TEST(ReadingSpeed, OfASessionDoesNotGrowWithTheDatabase) {
    Folder folder;
    const auto timed = [&](const char* name, int sessions) {
        auto store = Store::open(folder / name, Access::write);
        fill(store, sessions);
        const auto last = store.sessions().at(0).id;
        double best = 1e9;
        for (int i = 0; i < 20; ++i) {
            const auto start = std::chrono::steady_clock::now();
            store.session_metrics(last);
            best = std::min(
                best,
                std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        }
        return best;
    };
    const double small = timed("small.db", 4), large = timed("large.db", 400);
    EXPECT_LT(large, 20 * small) << "a hundred times the samples; a walk would take 100 times";
}

}  // namespace
}  // namespace assay::store::testing
