// Results leave a database and arrive in another one without loss, through both formats.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "suite/import_export/export.hpp"
#include "suite/import_export/import.hpp"
#include "suite/import_export/json_lines.hpp"
#include "suite/store/ids.hpp"
#include "suite/store/nights.hpp"
#include "tests/import_export/database_dump.hpp"
#include "tests/store/example_rows.hpp"
#include "tests/store/stored_files.hpp"

namespace assay::import_export::testing {
namespace {

namespace fs = std::filesystem;
using store::Access;
using store::Store;
using store::testing::add_sample;
using store::testing::begin;
using store::testing::example_spec;
using store::testing::Folder;
using store::testing::key_of;

constexpr std::uint64_t huge_seed = 0xfedcba9876543210;

/// Two sessions with at least two of everything; returns their ids.
std::vector<std::string> fill(const fs::path& file) {
    auto store = Store::open(file, Access::write);
    const auto first = begin(store, "2026-11-20T01:00:00.000Z");
    auto key = key_of(example_spec(huge_seed));
    key.calibration = "hash";
    store.put_calibration({"hash", "cpu", {{"x", 1}}, {}, ""});
    const auto id = store.begin_sample(first, example_spec(huge_seed), key);
    store.finish_sample(store::testing::full_sample(id, first, example_spec(huge_seed)));
    add_sample(store, first, example_spec(2), 0, "failed");
    store.put_claim_checks(first, {{"a", ClaimVerdict::supported, "yes", Provenance::exact, 1.0}});
    store.annotate(id, "note");
    store.annotate(first, "note of a session \xff that is not UTF-8");
    store.set_baseline("main", first);
    store.put_metric_units({{"lazarus/fig8", "throughput", "1/s", Direction::higher}});
    store.finish_session(first, "finished");
    const auto second = begin(store, "2026-11-21T01:00:00.000Z");
    auto spec = example_spec(3);
    spec.experiment = "lte/fig8";
    add_sample(store, second, spec, -0.1);
    store.finish_session(second, "finished");
    RowId row = series_of(example_spec(1));
    row.metric = "rate";
    store::Nights nights(store);
    store::NightRecord night;
    night.id = store::new_uuid();
    night.suite = "s";
    night.machine = store::testing::example_machine().fingerprint;
    night.session = first;
    night.started = "1";
    night.id = nights.begin(night);
    nights.finish(night, nlohmann::json::object(), {{row, 1.5, "same"}},
                  {{row, "candidate", false, "slow"}});
    nights.accept({"b", row, first, "", "fine", ""});
    nights.mute({"x", "", "", "noisy", ""});
    return {first, second};
}

std::string error_of_import(Store& store, const fs::path& file) {
    try {
        import_file(store, file);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

std::string contents(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// Row by row, since a whole dump is not shown.
void expect_equal(const std::vector<std::string>& got, const std::vector<std::string>& expected) {
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], expected[i]);
}

class ArchiveFormats : public ::testing::TestWithParam<ArchiveFormat> {};

TEST_P(ArchiveFormats, ThereAndBackIsEqualRowByRow) {
    Folder folder;
    fill(folder / "a.db");
    write_archive(folder / "a.db", {.format = GetParam()}, folder / "archive");
    {
        auto store = Store::open(folder / "b.db", Access::write);
        const auto added = import_file(store, folder / "archive");
        EXPECT_EQ(added.sessions, 2);
        EXPECT_EQ(added.samples, 3);
        const auto again = import_file(store, folder / "archive");
        EXPECT_EQ(again.sessions, 0);
        EXPECT_EQ(again.samples, 0);
        EXPECT_EQ(again.skipped, 3);
        const auto report = store.check();
        EXPECT_TRUE(report.ok) << report.problems.at(0);
    }
    const auto a = dump(folder / "a.db"), b = dump(folder / "b.db");
    ASSERT_GT(a.size(), 36u);
    expect_equal(b, a);
}

TEST_P(ArchiveFormats, WithoutCurvesTablesAndFilesTheRestIsEqualRowByRow) {
    Folder folder;
    fill(folder / "a.db");
    write_archive(folder / "a.db", {.curves = false, .format = GetParam()}, folder / "archive");
    {
        auto store = Store::open(folder / "b.db", Access::write);
        import_file(store, folder / "archive");
        EXPECT_TRUE(store.check().ok);
    }
    auto expected = dump(folder / "a.db");
    for (const char* table : {"time_series", "artifact", "artifact_blob", "data_table_cell",
                              "data_table_column", "data_table"})
        EXPECT_GE(std::erase_if(expected,
                                [&](const std::string& row) {
                                    return row.starts_with(fmt::format(R"({{"table":"{}")", table));
                                }),
                  2U)
            << table;
    auto without = dump(folder / "b.db");
    for (auto* rows : {&expected, &without})
        std::erase_if(*rows, [](const std::string& row) { return row.starts_with(R"({"rows":)"); });
    expect_equal(without, expected);
}

TEST_P(ArchiveFormats, APartCarriesWhatBelongsToIt) {
    Folder folder;
    const auto ids = fill(folder / "a.db");
    const auto exported = [&](store::Selection which) {
        std::error_code ignored;
        fs::remove(folder / "part", ignored);
        fs::remove(folder / "b.db", ignored);
        write_archive(folder / "a.db", {.which = std::move(which), .format = GetParam()},
                      folder / "part");
        auto store = Store::open(folder / "b.db", Access::write);
        import_file(store, folder / "part");
        EXPECT_TRUE(store.check().ok);
        std::string found;
        for (const auto& session : store.sessions())
            found += session.id == ids[0] ? "first " : "second ";
        return found + std::to_string(store.baselines().size());
    };
    EXPECT_EQ(exported({}), "second first 1");
    EXPECT_EQ(exported({.sessions = {ids[0]}}), "first 1");
    EXPECT_EQ(exported({.experiments = {"lte/*"}}), "second 0");
    EXPECT_EQ(exported({.experiments = {"lazarus/fig8"}}), "first 1");
    EXPECT_EQ(exported({.since = "2026-11-21"}), "second 0");
    EXPECT_THROW(exported({.experiments = {"nothing/*"}}), UserError);
}

INSTANTIATE_TEST_SUITE_P(Both, ArchiveFormats,
                         ::testing::Values(ArchiveFormat::database, ArchiveFormat::json_lines));

TEST(JsonLines, WhatIsDamagedIsRefusedWithItsPlaceAndAddsNothing) {
    Folder folder;
    fill(folder / "a.db");
    write_archive(folder / "a.db", {.format = ArchiveFormat::json_lines}, folder / "good");
    const auto good = contents(folder / "good");
    auto store = Store::open(folder / "b.db", Access::write);
    const auto refused = [&](const std::string& text) {
        std::ofstream(folder / "bad", std::ios::binary) << text;
        return error_of_import(store, folder / "bad");
    };
    const auto with = [&](std::string_view from, std::string_view to) {
        auto text = good;
        text.replace(text.find(from), from.size(), to);
        return refused(text);
    };
    EXPECT_NE(refused(good.substr(0, good.rfind("{\"rows\""))).find("cut off"), std::string::npos);
    EXPECT_NE(refused(good.substr(0, good.size() / 2)).find("not valid JSON"), std::string::npos);
    EXPECT_NE(with("\"table\":\"metric\"", "\"table\":\"sqlite_schema\"").find("no table"),
              std::string::npos);
    EXPECT_NE(with("\"variant\":\"lazarus\"", "\"variant\":\"other\"").find("id of the series"),
              std::string::npos);
    EXPECT_NE(with("\"started\":\"20", "\"started\":\"+20").find("is no time; write 2026"),
              std::string::npos);
    EXPECT_NE(with("{\"blob\":\"", "{\"blob\":\"!").find("base64"), std::string::npos);
    EXPECT_NE(with("\"rows\":", "\"rows\":1").find("rows were written"), std::string::npos);
    EXPECT_NE(with("\"version\":1", "\"version\":2").find(":1:1: written by a newer"),
              std::string::npos);
    EXPECT_NE(with("\"planned\":12", "\"planned\":\"x\"").find("table session does not fit"),
              std::string::npos);
    const auto misfit = with("\"planned\":12", "\"planned\":\"x\"");
    const auto before = good.substr(0, good.find("\"planned\":12"));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    EXPECT_TRUE(misfit.starts_with(fmt::format("{}:{}:{}: a row", (folder / "bad").string(), line,
                                               before.size() - before.rfind('\n'))))
        << misfit;
    EXPECT_TRUE(store.sessions().empty());
    EXPECT_EQ(refused(good), "");
}

TEST(Archive, NeverReplacesADatabaseNorItsFiles) {
    Folder folder;
    fill(folder / "a.db3");
    fill(folder / "other");
    fs::create_symlink(folder / "a.db3", folder / "link.jsonl");
    std::ofstream(folder / "out.jsonl.part") << "not ours";
    const auto refused = [&](const fs::path& to) {
        try {
            write_archive(folder / "a.db3", {.format = ArchiveFormat::json_lines}, to);
        } catch (const UserError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_NE(refused(folder / "a.db3").find("is the database itself"), std::string::npos);
    EXPECT_NE(refused(folder / "no such/b.db").find("no such does not exist"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(folder / "no such"));
    EXPECT_NE(refused(folder / "link.jsonl").find("is the database itself"), std::string::npos);
    EXPECT_NE(refused(folder / "other").find("is there already"), std::string::npos);
    EXPECT_NE(refused(folder / "a.db3-wal").find("is a file of the database"), std::string::npos);
    EXPECT_NE(refused(folder.path()).find("is not a file"), std::string::npos);
    EXPECT_EQ(refused(folder / "out.jsonl"), "");
    EXPECT_EQ(refused(folder / "out.jsonl"), "") << "a text is replaced";
    EXPECT_EQ(contents(folder / "out.jsonl.part"), "not ours");
    EXPECT_TRUE(contents(folder / "a.db3").starts_with("SQLite format 3"));
}

TEST(Archive, OfTheSchemaBeforeArrivesAsThatDatabaseDoes) {
    Folder folder;
    const fs::path text = fs::path(ASSAY_STORE_TEST_DATA) / "version_2.jsonl";
    store::testing::from_text("version_2.sql", folder / "old.db");
    for (const fs::path& file : {text, folder / "old.db"}) {
        auto store = Store::open(folder.path() / (file.stem().string() + "-new.db"), Access::write);
        EXPECT_EQ(import_file(store, file).samples, 20);
        EXPECT_TRUE(store.check().ok);
    }
    const auto lines = dump(folder / "version_2-new.db");
    EXPECT_EQ(lines, dump(folder / "old-new.db"));
    const auto of_table = [&](const std::string& table) {
        return std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
            return line.starts_with("{\"table\":\"" + table + '"');
        });
    };
    EXPECT_EQ(of_table("night_row"), 15);
    EXPECT_EQ(of_table("regression"), 3);
    EXPECT_EQ(of_table("accepted_level"), 2);
    std::ofstream(folder / "newer.jsonl")
        << "{\"format\":\"assay-results\",\"version\":1,\"schema\":99}\n{\"rows\":0}\n";
    auto store = Store::open(folder / "none.db", Access::write);
    EXPECT_NE(error_of_import(store, folder / "newer.jsonl").find("schema 99"), std::string::npos);
}

}  // namespace
}  // namespace assay::import_export::testing
