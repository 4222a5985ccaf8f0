// CSV to samples: what `assay export --csv` writes, and what people write by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include "suite/base/error.hpp"
#include "suite/import_export/import.hpp"
#include "suite/report/text/samples_output.hpp"
#include "tests/store/example_rows.hpp"

namespace assay::import_export::testing {
namespace {

using store::Access;
using store::Store;
using store::testing::Folder;

std::string complaint(std::string_view text) {
    try {
        read_csv_results(text, "r.csv", [](const Row&) {});
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

TEST(CsvResults, ExportedAndImportedIsEqualAsFarAsCsvGoes) {
    Folder folder;
    auto store = Store::open(folder / "a.db", Access::write);
    const auto session = store::testing::begin(store);
    auto spec = store::testing::example_spec(0xfedcba9876543210);
    spec.variant = "a,\"b\"\nc";
    spec.round = 3;
    const auto id = store.begin_sample(session, spec, store::testing::key_of(spec));
    store.finish_sample(store::testing::full_sample(id, session, spec));
    store::testing::add_sample(store, session, store::testing::example_spec(2), 5, "failed");
    const auto text = report::csv(Registry(), store.samples(session));
    std::ofstream(folder / "r.csv", std::ios::binary) << text;

    auto other = Store::open(folder / "b.db", Access::write);
    EXPECT_EQ(import_file(other, folder / "r.csv").samples, 2);
    EXPECT_EQ(import_file(other, folder / "r.csv").samples, 0) << "twice adds nothing";
    EXPECT_TRUE(other.check().ok);
    const auto copies = other.samples(other.sessions().at(0).id);
    auto expected = store.samples(session);
    ASSERT_EQ(copies.size(), 2u);
    for (std::size_t i = 0; i < copies.size(); ++i) {
        expected.at(i).id = copies[i].id;  // what CSV lost must not look like the original
        expected[i].session = copies[i].session;
    }
    EXPECT_EQ(report::csv(Registry(), copies), report::csv(Registry(), expected));
    const auto copy = copies[0].metrics.size() > 1 ? copies[0] : copies[1];
    EXPECT_EQ(copy.spec.seed, 0xfedcba9876543210);
    EXPECT_EQ(copy.spec.axes, spec.axes);
    EXPECT_TRUE(std::isnan(copy.metrics.at(5).value));

    EXPECT_EQ(other.merge(folder / "a.db").samples, 2) << "the whole original still comes in";
    EXPECT_EQ(other.sample(id).events.size(), 2u);
}

/// As `assay export --csv` and `assay import` of what it wrote.
TEST(CsvResults, WhatTheDatabaseHoldsIsNotAddedAgain) {
    Folder folder;
    auto store = Store::open(folder / "a.db", Access::write);
    const auto session = store::testing::begin(store);
    for (const std::uint64_t seed : {1, 2})
        store::testing::add_sample(store, session, store::testing::example_spec(seed), 5, "ok");
    const std::string text = report::csv(Registry(), store.samples(session));
    std::ofstream(folder / "own.csv", std::ios::binary) << text;
    auto merged = import_file(store, folder / "own.csv");
    EXPECT_EQ(merged.sessions, 0);
    EXPECT_EQ(merged.samples, 0);
    EXPECT_EQ(merged.skipped, 2);
    EXPECT_EQ(store.sessions().size(), 1u);
    EXPECT_TRUE(store.check().ok);

    // One of them is unknown elsewhere, and comes in alone.
    auto other = Store::open(folder / "b.db", Access::write);
    other.merge(folder / "a.db");
    store::testing::add_sample(store, session, store::testing::example_spec(3), 5, "ok");
    std::ofstream(folder / "more.csv", std::ios::binary)
        << report::csv(Registry(), store.samples(session));
    merged = import_file(other, folder / "more.csv");
    EXPECT_EQ(merged.samples, 1);
    EXPECT_EQ(merged.skipped, 2);
    EXPECT_EQ(import_file(other, folder / "more.csv").skipped, 3) << "and only once";

    // Without ids of samples, that of the session tells.
    std::ofstream(folder / "session.csv") << "session,experiment,metric,value\n"
                                          << session << ",x,rate,1\n"
                                          << session << ",x,rate,2\n"
                                          << "mine,x,rate,3\n";
    merged = import_file(store, folder / "session.csv");
    EXPECT_EQ(merged.samples, 1);
    EXPECT_EQ(merged.skipped, 2);
}

TEST(CsvResults, EveryFileIsAMachineOfItsOwn) {
    Folder folder;
    std::ofstream(folder / "a.csv") << "experiment,metric,value\nx,rate,1\n";
    std::ofstream(folder / "b.csv") << "experiment,metric,value\nx,rate,2\n";
    auto store = Store::open(folder / "a.db", Access::write);
    import_file(store, folder / "a.csv");
    import_file(store, folder / "b.csv");
    const auto sessions = store.sessions();
    ASSERT_EQ(sessions.size(), 2u);
    EXPECT_NE(sessions[0].machine, sessions[1].machine);
    EXPECT_NE(store.samples(sessions[0].id).at(0).series,
              store.samples(sessions[1].id).at(0).series);
}

TEST(CsvResults, AUnitThatContradictsTheKnownOneIsRefused) {
    Folder folder;
    EXPECT_EQ(complaint("experiment,metric,value,unit\nx,t,1,s\nx,t,2,ms\n"),
              "r.csv:3:7: the unit of 't' of x is 'ms', and was 's' further up; write all its "
              "values in one unit");
    std::ofstream(folder / "a.csv") << "experiment,metric,value,unit\nx,t,1,s\n";
    std::ofstream(folder / "b.csv") << "experiment,metric,value,unit\nx,t,1,ms\n";
    auto store = Store::open(folder / "a.db", Access::write);
    import_file(store, folder / "a.csv");
    EXPECT_NE(store::testing::error_of([&] {
                  import_file(store, folder / "b.csv");
              }).find("the metric 't' of x is in 'ms' there and in 's' here"),
              std::string::npos);
    EXPECT_EQ(store.sessions().size(), 1u);
}

TEST(CsvResults, ByHandRepeatedMetricsAreRounds) {
    Folder folder;
    std::ofstream(folder / "r.csv") << "experiment,size,metric,value,unit\r\n"
                                       "mine/copy,64,rate,1.5,GB/s\r\n"
                                       "mine/copy,64,rate,2.5,GB/s\r\n"
                                       "mine/copy,128,rate,3.5,GB/s\r\n";
    auto store = Store::open(folder / "a.db", Access::write);
    EXPECT_EQ(import_file(store, folder / "r.csv").samples, 3);
    const auto samples = store.samples(store.sessions().at(0).id);
    std::multiset<std::pair<std::int64_t, int>> found;
    for (const auto& sample : samples)
        found.emplace(std::get<std::int64_t>(sample.spec.axes.at("size")), sample.spec.round);
    EXPECT_EQ(found, (std::multiset<std::pair<std::int64_t, int>>{{64, 0}, {64, 1}, {128, 0}}));
    EXPECT_EQ(store.metric_units("mine/copy").at(0).unit, "GB/s");
}

TEST(CsvResults, ErrorsNameLineAndColumn) {
    EXPECT_EQ(complaint("experiment,metric\nx,y\n"),
              "r.csv:1:1: the column 'value' is missing; results have at least experiment, metric "
              "and value");
    EXPECT_EQ(complaint("experiment,metric,value\nx,y,1\nx,y,fast\n"),
              "r.csv:3:5: 'value' is 'fast', not a number, nan, inf or -inf");
    EXPECT_EQ(complaint("experiment,metric,value\nx,y\n"),
              "r.csv:2:3: 2 fields, the first line has 3");
    EXPECT_EQ(complaint("experiment,metric,value,seed\nx,y,1,-1\n"),
              "r.csv:2:7: 'seed' is '-1', not a whole number from 0 to 2^64-1");
    EXPECT_EQ(complaint("experiment,metric,value,profile\nx,y,1,huge\n"),
              "r.csv:2:7: there is no profile 'huge'");
    EXPECT_EQ(complaint("experiment,metric,value\n\"x,y,1\n"),
              "r.csv:2:1: this quote is never closed");
    EXPECT_EQ(complaint("experiment,metric,metric,value\n"),
              "r.csv:1:19: a second column 'metric'");
    EXPECT_NE(complaint("experiment,metric,value,round\nx,y,1,0\nx,y,2,0\n").find("r.csv:3:3"),
              std::string::npos);
    EXPECT_EQ(complaint("experiment,metric,value,started\nx,y,1,yesterday\n"),
              "r.csv:2:7: 'started' is 'yesterday', no time; write 2026-11-21T02:03:04.567Z (UTC)");
    EXPECT_NE(complaint("experiment,metric,value,started\nx,y,1,2026-13-21T02:03:04.567Z\n"), "");
    const std::string of_one_sample =
        "experiment,metric,value,status,started,sample\n"
        "x,y,1,ok,2026-11-21T02:03:04.567Z,00000000-0000-0000-0000-000000000000\n";
    EXPECT_NE(complaint(of_one_sample + "x,z,1,failed,2026-11-21T02:03:04.567Z,"
                                        "00000000-0000-0000-0000-000000000000\n")
                  .find("r.csv:3:7: 'status' is 'failed', and was 'ok' further up"),
              std::string::npos);
    EXPECT_NE(complaint(of_one_sample + "x,z,1,ok,2026-11-22T02:03:04.567Z,"
                                        "00000000-0000-0000-0000-000000000000\n")
                  .find("r.csv:3:10: 'started' is"),
              std::string::npos);
    EXPECT_NE(complaint(""), "");
    EXPECT_NE(complaint("Running x\nname,iterations,real_time,cpu_time,time_unit\n")
                  .find("Google Benchmark's CSV"),
              std::string::npos);
}

/// What was a file of Google Benchmark once keeps its directions; CSV carries none.
TEST(CsvResults, RowsOfForeignBenchmarksKeepTheirDirections) {
    Folder folder;
    std::ofstream(folder / "r.csv") << "experiment,metric,unit,value\n"
                                       "benchmark/BM_x,real_time,s,1\n"
                                       "benchmark/BM_x,cpu_time,s,1\n"
                                       "benchmark/BM_x,items_per_second,,1\n"
                                       "benchmark/BM_x,depth,,1\n"
                                       "x,real_time,s,1\n";
    auto store = Store::open(folder / "a.db", Access::write);
    import_file(store, folder / "r.csv");
    std::map<std::string, Direction> directions;
    for (const auto& unit : store.metric_units("benchmark/BM_x"))
        directions[unit.name] = unit.better;
    EXPECT_EQ(directions, (std::map<std::string, Direction>{{"cpu_time", Direction::lower},
                                                            {"depth", Direction::none},
                                                            {"items_per_second", Direction::higher},
                                                            {"real_time", Direction::lower}}));
    EXPECT_EQ(store.metric_units("x").at(0).better, Direction::none);
}

TEST(CsvResults, AColumnSaysWhichWayIsBetter) {
    Folder folder;
    std::ofstream(folder / "r.csv") << "\xef\xbb\xbf"
                                       "experiment,metric,unit,value,better\n"
                                       "benchmark/BM_x,GFLOPS,,1,higher\n"
                                       "benchmark/BM_x,GFLOPS,,2,\n"
                                       "benchmark/BM_x,items_per_second,,2,lower\n"
                                       "x,latency,s,1,lower\nx,depth,,1,none\n";
    auto store = Store::open(folder / "a.db", Access::write);
    EXPECT_EQ(import_file(store, folder / "r.csv").samples, 3);
    const auto better = [](const Store& of, const char* experiment) {
        std::map<std::string, Direction> directions;
        for (const auto& unit : of.metric_units(experiment)) directions[unit.name] = unit.better;
        return directions;
    };
    const std::map<std::string, Direction> benchmark{{"GFLOPS", Direction::higher},
                                                     {"items_per_second", Direction::lower}};
    EXPECT_EQ(better(store, "benchmark/BM_x"), benchmark);
    EXPECT_EQ(better(store, "x").at("latency"), Direction::lower);
    EXPECT_EQ(complaint("experiment,metric,value,better\nx,y,1,more\n"),
              "r.csv:2:7: 'better' is 'more'; write higher, lower, none");
    EXPECT_EQ(complaint("experiment,metric,value,better\nx,y,1,lower\nx,y,1,higher\n"),
              "r.csv:3:7: of 'y' of x higher is better here, and it was said otherwise further up");

    // And what was stated goes with the values.
    std::ofstream(folder / "export.csv") << report::csv(
        Registry(), store.newest_samples("benchmark/BM_x"), store.metric_units("benchmark/BM_x"));
    auto other = Store::open(folder / "b.db", Access::write);
    import_file(other, folder / "export.csv");
    EXPECT_EQ(better(other, "benchmark/BM_x"), benchmark);
}

TEST(CsvResults, DatesOfOtherProgramsAreRead) {
    Folder folder;
    std::ofstream(folder / "r.csv") << "experiment,metric,value,started\n"
                                       "x,y,1,2026-11-21 02:03:04+01:00\n";
    auto store = Store::open(folder / "a.db", Access::write);
    import_file(store, folder / "r.csv");
    EXPECT_EQ(store.newest_samples("x").at(0).started, "2026-11-21T01:03:04.000Z");
}

/// A direction may be stated after the values came, and of what came from another database.
TEST(CsvResults, ADirectionMayBeStatedLater) {
    Folder folder;
    std::ofstream(folder / "r.csv") << "experiment,metric,unit,value\nx,y,s,1\nz,other,,1\n";
    auto store = Store::open(folder / "a.db", Access::write),
         other = Store::open(folder / "b.db", Access::write);
    import_file(store, folder / "r.csv");
    import_file(other, folder / "r.csv");
    const auto again = import_file(
        store, folder / "r.csv", {.better = {{"y", Direction::lower}, {"none", Direction::lower}}});
    EXPECT_EQ(again.samples, 0);
    EXPECT_EQ(again.directions, std::set<std::string>{"y"});
    EXPECT_EQ(store.metric_units("x").at(0).better, Direction::lower);
    import_file(other, folder / "a.db");
    EXPECT_EQ(other.metric_units("x").at(0).better, Direction::lower);
    import_file(store, folder / "r.csv");
    EXPECT_EQ(store.metric_units("x").at(0).better, Direction::lower) << "kept";
}

TEST(CsvResults, RowsOfSeveralDaysAreSessionsByDay) {
    Folder folder;
    std::ofstream(folder / "r.csv") << "experiment,metric,value,started\n"
                                       "x,y,1,2026-11-21T02:00:00Z\n"
                                       "x,y,2,2026-11-20T23:50:00Z\n"
                                       "x,y,3,2026-11-22T02:00:00Z\n";
    auto store = Store::open(folder / "a.db", Access::write);
    const auto imported = import_file(store, folder / "r.csv");
    EXPECT_EQ(imported.sessions, 2) << "one night went over midnight";
    EXPECT_EQ(imported.notes, std::vector<std::string>{"rows of 2 days are as many sessions; a "
                                                       "column `session` says otherwise"});
    EXPECT_EQ(store.sessions().at(0).started, "2026-11-22T02:00:00.000Z");
    std::ofstream(folder / "s.csv") << "session,experiment,metric,value,started\n"
                                       "s,x,y,1,2026-11-21T02:00:00Z\n"
                                       "s,x,y,3,2026-11-22T02:00:00Z\n";
    EXPECT_EQ(import_file(store, folder / "s.csv").sessions, 1);
}

TEST(CsvResults, FilesOfANamedMachineAreComparable) {
    Folder folder;
    auto store = Store::open(folder / "a.db", Access::write);
    std::ofstream(folder / "a.csv") << "experiment,metric,value,machine,commit\nx,y,1,lab,abc\n";
    std::ofstream(folder / "b.csv") << "experiment,metric,value\nx,y,2\n";
    import_file(store, folder / "a.csv");
    import_file(store, folder / "b.csv", {.machine = "lab"});
    const auto sessions = store.sessions();
    ASSERT_EQ(sessions.size(), 2u);
    EXPECT_EQ(sessions[0].machine, sessions[1].machine);
    EXPECT_EQ(sessions[1].suspects.at("commit"), "abc");
    EXPECT_EQ(sessions[1].suspects.at("host_name"), "lab");
    EXPECT_TRUE(store.samples(sessions[0].id).at(0).spec.axes.empty());

    std::ofstream(folder / "c.csv") << "experiment,metric,value,commit\nx,y,1,a\nx,y,2,b\n";
    EXPECT_EQ(import_file(store, folder / "c.csv").sessions, 2) << "one per commit";
}

/// The value of the only metric of a text.
double value_in(std::string_view text, const ImportOptions& options = {}) {
    double found = 0;
    const auto take = [&](const Row& row) {
        for (const auto& [name, cell] : row.cells)
            if (row.table == "metric" && name == "value") found = std::get<double>(cell);
    };
    read_csv_results(text, "r.csv", take, {}, options);
    return found;
}

template <class Function>
std::string refusal(Function function) {
    try {
        function();
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

TEST(CsvResults, SemicolonsAndTabsSeparateToo) {
    EXPECT_EQ(value_in("experiment;metric;value\nx;y;0,125\n"), 0.125);
    EXPECT_EQ(value_in("experiment;metric;value\nx;y;12,5\n"), 12.5);
    EXPECT_EQ(value_in("experiment\tmetric\tvalue\nx\ty\t2.5\n"), 2.5);
    EXPECT_EQ(complaint("experiment;metric;value\nx;y;1,234\n"),
              "r.csv:2:5: '1,234' may be 1.234 or 1234: write numbers with a point");
    EXPECT_NE(complaint("experiment\tmetric\tvalue\nx\ty\t2,5\n").find("not a number"),
              std::string::npos);
}

TEST(CsvResults, ColumnsMayBeCalledOtherwise) {
    Folder folder;
    std::ofstream(folder / "r.csv") << "bench,mean,size\ncopy,2.5,64\n";
    auto store = Store::open(folder / "a.db", Access::write);
    import_file(store, folder / "r.csv", {.columns = {{"experiment", "bench"}, {"value", "mean"}}});
    const auto sample = store.newest_samples("copy").at(0);
    EXPECT_EQ(sample.metrics.at(0).name, "mean");
    EXPECT_EQ(sample.metrics.at(0).value, 2.5);
    EXPECT_EQ(to_string(sample.spec.axes), "size=64");
    const auto refused = [&](std::map<std::string, std::string> columns) {
        return refusal(
            [&] { import_file(store, folder / "r.csv", {.columns = std::move(columns)}); });
    };
    EXPECT_NE(refused({{"value", "men"}}).find("there is no column 'men'"), std::string::npos);
    EXPECT_NE(refused({{"worth", "mean"}}).find("no column of results is called 'worth'"),
              std::string::npos);
    EXPECT_NE(refused({}).find("the column 'experiment' is missing; results have at least "
                               "experiment, metric and value (--column experiment=NAME"),
              std::string::npos);
}

TEST(CsvResults, AColumnOfRealsThatSplitsEveryRowIsAWarning) {
    const auto notes = [](const std::string& rows) {
        return read_csv_results("experiment,metric,value,elapsed\n" + rows, "r.csv",
                                [](const Row&) {})
            .notes;
    };
    const auto found = notes("x,y,1,0.5\nx,y,1,0.6\nx,y,1,0.7\nx,y,1,0.8\n");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_NE(found[0].find("the column 'elapsed' is taken for an axis"), std::string::npos);
    EXPECT_TRUE(notes("x,y,1,0.5\nx,y,1,0.5\nx,y,1,0.7\nx,y,1,0.8\n").empty());
    EXPECT_TRUE(notes("x,y,1,1\nx,y,1,2\nx,y,1,3\nx,y,1,4\n").empty());
}

TEST(CsvResults, AUnitIsHeldAgainstTheDeclaredOne) {
    Registry registry;
    Experiment experiment;
    experiment.id = "s/x";
    experiment.variants = {"one"};
    experiment.metrics = {{.name = "latency", .unit = "s", .says = "", .better = Direction::lower}};
    System system;
    system.id = "s";
    system.experiments = {experiment};
    registry.add(std::move(system));
    const auto value = [&](const std::string& line) {
        return value_in("experiment,metric,unit,value\n" + line, {.registry = &registry});
    };
    EXPECT_DOUBLE_EQ(value("s/x,latency,ms,12.5\n"), 0.0125);
    EXPECT_DOUBLE_EQ(value("s/x,latency,s,12.5\n"), 12.5);
    EXPECT_DOUBLE_EQ(value("s/x,latency,,12.5\n"), 12.5);
    EXPECT_NE(refusal([&] { value("s/x,latency,GB,12.5\n"); })
                  .find("r.csv:2:13: 'latency' of s/x is declared in 's', which 'GB' is no unit "
                        "of; convert its values"),
              std::string::npos);
}

}  // namespace
}  // namespace assay::import_export::testing
