// A file of the schema in which the machine's description had the host of its newest session.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "suite/store/database_file.hpp"
#include "suite/store/schema/migration.hpp"
#include "tests/store/example_rows.hpp"

namespace assay::store::testing {
namespace {

using ::testing::IsEmpty;

class VersionSix : public ::testing::Test {
  protected:
    VersionSix() {
        SQLite::Database sql(file().string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        sql.exec("PRAGMA application_id = " + std::to_string(application_id));
        migrate(file(), sql, std::span(migrations()).first(6));
        sql.exec(R"(
            INSERT INTO machine VALUES
                ('m1', '{"cores":2,"hostname":"first","os":"Debian"}'),
                ('m2', '{"hostname":"node1","imported":"google benchmark","num_cpus":2}'),
                ('m3', '{"cores":4}'), ('m4', 'null');
            INSERT INTO session (id, machine, command, plan_hash, build, suspects, started, state,
                                 planned)
            VALUES ('10000000-0000-4000-8000-000000000000', 'm1', '', '', '', '{"commit":"abc"}',
                    '2026-11-01T00:00:00.000Z', 'finished', 0),
                   ('20000000-0000-4000-8000-000000000000', 'm2', '', '', '',
                    '{"host_name":"node7"}', '2026-11-02T00:00:00.000Z', 'finished', 0),
                   ('30000000-0000-4000-8000-000000000000', 'm2', '', '', '', '{}',
                    '2026-11-03T00:00:00.000Z', 'finished', 0),
                   ('40000000-0000-4000-8000-000000000000', 'm3', '', '', '', '{}',
                    '2026-11-04T00:00:00.000Z', 'finished', 0),
                   ('50000000-0000-4000-8000-000000000000', 'm4', '', '', '', 'null',
                    '2026-11-05T00:00:00.000Z', 'finished', 0))");
    }

    std::filesystem::path file() const { return folder / "old.db"; }

    /// By the first digit of each session, as the view has it.
    static std::map<char, std::string> hosts(const std::filesystem::path& database) {
        SQLite::Database sql(database.string(), SQLite::OPEN_READONLY);
        SQLite::Statement rows(sql, "SELECT session, host FROM sessions");
        std::map<char, std::string> all;
        while (rows.executeStep())
            all[rows.getColumn(0).getString()[0]] = rows.getColumn(1).getString();
        return all;
    }

    Folder folder;
};

TEST_F(VersionSix, EverySessionKeepsTheHostThatIsKnown) {
    Store store = Store::open(file(), Access::write);
    const std::map<char, std::string> known = {
        {'1', "first"}, {'2', "node7"}, {'3', ""}, {'4', ""}, {'5', ""}};
    EXPECT_EQ(hosts(file()), known) << "an import has that of its own file, or none";
    for (const Session& session : store.sessions())
        EXPECT_EQ(host_of(session.suspects), known.at(session.id[0])) << session.id;
    EXPECT_EQ(store.sessions().back().suspects.at("commit"), "abc");
    EXPECT_EQ(store.machine("m1")->description, (nlohmann::json{{"cores", 2}, {"os", "Debian"}}));
    EXPECT_THAT(store.check().problems, IsEmpty());
}

TEST_F(VersionSix, AndSoItDoesWhereAnotherHostIsOfEqualHardware) {
    Store store = Store::open(file(), Access::write);
    Session session = example_session("2026-11-06T00:00:00.000Z");
    session.id = "60000000-0000-4000-8000-000000000000";
    session.machine = "m1";
    session.suspects["host"] = "second";
    store.put_machine({"m1", {{"cores", 2}}});
    store.begin_session(session);
    EXPECT_EQ(hosts(file()).at('1'), "first");
    EXPECT_EQ(hosts(file()).at('6'), "second");
}

TEST_F(VersionSix, AndSoItDoesWhenItIsMerged) {
    Store store = Store::open(folder / "new.db", Access::write);
    store.merge(file());
    EXPECT_EQ(hosts(folder / "new.db").at('1'), "first");
    EXPECT_EQ(hosts(folder / "new.db").at('3'), "");
}

}  // namespace
}  // namespace assay::store::testing
