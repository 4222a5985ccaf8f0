// Files that cannot be read, or go on in another way than one thinks: a sentence, and a window that
// lives on.
#include <SQLiteCpp/Database.h>

#include <QTest>
#include <filesystem>
#include <fstream>

#include "tests/gui/window_fixture.hpp"

namespace assay::gui::testing {
namespace {

using store::testing::example_spec;

class Files : public ::testing::Test {
  protected:
    std::filesystem::path file() const { return folder / "r.db"; }
    void fill() const {
        store::Store store = store::Store::open(file(), store::Access::write);
        const std::string session = store::testing::begin(store);
        add_run(store, session, example_spec());
        store.finish_session(session, "finished");
    }
    void expect_a_sentence() const {
        MainWindow window(one_system(), file());
        window.show();
        for (const Location& place :
             {Location{}, Location{View::figure, example_spec().experiment},
              Location{View::timeline, "1"}, Location{View::compare, "latest,latest"},
              Location{View::history, example_spec().experiment}}) {
            window.go(place);
            settle(window);
            EXPECT_NE(window.notice(), "") << to_string(place);
            EXPECT_LT(window.notice().count('\n'), 3);
        }
    }
    void change(const char* sql) const {
        SQLite::Database database(file().string(), SQLite::OPEN_READWRITE, 1000);
        database.exec(sql);
    }
    static bool comes_to(MainWindow& window, bool notice) {
        return QTest::qWaitFor([&] { return window.notice().isEmpty() != notice; }, patience_ms);
    }

    store::testing::Folder folder;
};

TEST_F(Files, Missing) { expect_a_sentence(); }

TEST_F(Files, Foreign) {
    std::ofstream(file())
        << "Dear diary, this is no database at all, but long enough for a page.\n";
    expect_a_sentence();
}

TEST_F(Files, OfAnotherProgram) {
    SQLite::Database(file().string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
        .exec("CREATE TABLE shopping (what TEXT)");
    expect_a_sentence();
}

TEST_F(Files, Newer) {
    fill();
    change("INSERT INTO schema_version VALUES (99, '2036-01-01')");
    expect_a_sentence();
}

// Somebody keeps it for himself; when he lets go, it is shown.
TEST_F(Files, Locked) {
    fill();
    change("PRAGMA journal_mode = DELETE");
    SQLite::Database other(file().string(), SQLite::OPEN_READWRITE, 1000);
    other.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    MainWindow window(one_system(), file());
    window.show();
    EXPECT_TRUE(QTest::qWaitFor([&] { return !window.notice().isEmpty(); }, 60'000));
    other.exec("COMMIT");
    other.exec("PRAGMA locking_mode = NORMAL; SELECT count(*) FROM session");
    EXPECT_TRUE(QTest::qWaitFor([&] { return window.notice().isEmpty(); }, 60'000))
        << window.notice().toStdString();
}

TEST_F(Files, ReplacedAndDeleted) {
    fill();
    MainWindow window(one_system(), file());
    window.show();
    settle(window);
    EXPECT_EQ(window.notice(), "");
    const auto samples = [&] {
        const auto& systems = window.overview().overview().systems;
        return systems.empty() || systems[0].experiments.empty() ||
                       !systems[0].experiments[0].samples.contains("ok")
                   ? 0
                   : systems[0].experiments[0].samples.at("ok");
    };
    EXPECT_EQ(samples(), 1);
    {  // another file takes its place
        store::Store other = store::Store::open(folder / "other.db", store::Access::write);
        const std::string session = store::testing::begin(other);
        for (std::uint64_t seed = 1; seed < 4; ++seed)
            store::testing::add_sample(other, session, example_spec(seed));
    }
    std::filesystem::rename(folder / "other.db", file());
    EXPECT_TRUE(QTest::qWaitFor([&] { return samples() == 3; }, patience_ms)) << samples();
    for (const char* name : {"r.db", "r.db-wal", "r.db-shm"})
        std::filesystem::remove(folder / name);
    EXPECT_TRUE(comes_to(window, true));
    fill();
    EXPECT_TRUE(QTest::qWaitFor([&] { return samples() == 1; }, patience_ms));
    EXPECT_TRUE(comes_to(window, false));
}

TEST_F(Files, CorruptRow) {
    fill();
    change("PRAGMA foreign_keys = OFF; UPDATE sample SET spec = 'no JSON at all'");
    MainWindow window(one_system(), file());
    window.show();
    settle(window);
    EXPECT_EQ(window.notice(), "");  // counts need no rows
    window.go({View::figure, example_spec().experiment});
    settle(window);
    EXPECT_NE(window.notice(), "");
    window.go({View::overview, {}});
    settle(window);
    EXPECT_EQ(window.notice(), "");
}

TEST_F(Files, CutShort) {
    fill();
    change("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE");
    std::filesystem::resize_file(file(), std::filesystem::file_size(file()) / 2);
    MainWindow window(one_system(), file());
    window.show();
    for (const Location& place : {Location{}, Location{View::figure, example_spec().experiment},
                                  Location{View::history, example_spec().experiment}}) {
        window.go(place);
        settle(window);
    }
    EXPECT_NE(window.notice(), "");
}

}  // namespace
}  // namespace assay::gui::testing
