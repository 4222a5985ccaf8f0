// Every statement with which results are read finds its rows through an index: none walks through
// all samples or all metrics, of which a database has millions.
#include <SQLiteCpp/Database.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <chrono>
#include <set>

#include "tests/store/example_rows.hpp"

namespace assay::store::testing {
namespace {

std::set<std::string>* collected = nullptr;

int collect(unsigned, void*, void* statement, void*) {
    if (collected) collected->insert(sqlite3_sql(static_cast<sqlite3_stmt*>(statement)));
    return 0;
}

int on_new_connection(sqlite3* connection, char**, const void*) {
    return sqlite3_trace_v2(connection, SQLITE_TRACE_STMT, collect, nullptr);
}

/// What every new connection runs while the object lives.
class Statements {
  public:
    Statements() {
        collected = &texts_;
        sqlite3_auto_extension(reinterpret_cast<void (*)()>(on_new_connection));
    }
    ~Statements() {
        sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(on_new_connection));
        collected = nullptr;
    }
    const std::set<std::string>& texts() const { return texts_; }

  private:
    std::set<std::string> texts_;
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
    }
    ASSERT_GT(statements.texts().size(), 15u);
    SQLite::Database sql(file().string());
    int explained = 0;
    for (const auto& text : statements.texts()) {
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
