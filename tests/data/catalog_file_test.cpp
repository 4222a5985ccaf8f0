// Reading a catalogue file: what is accepted, and that mistakes are named with their line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "suite/data/catalog.hpp"

namespace assay::data {
namespace {

const std::string entry_by_path = R"([[entry]]
id = "loads"
kind = "trace"
says = "loads of a model"
licence = "MIT"
origin = "somewhere"
obtain = "ask"
file = "loads.csv"
format = "expert_loads"
)";

const std::string entry_of_package = R"([[entry]]
id = "text"
kind = "corpus"
says = "a text"
licence = "public domain"
origin = "package text 1"
file = "text.txt"
format = "text"
debian = { package = "text", version = "1", command = ["cat", "/usr/share/text"], verses = true }
)";

std::string error_of(const std::string& toml) {
    try {
        parse_catalog(toml, "my.toml");
    } catch (const DataError& error) {
        return error.what();
    }
    return "no error";
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
    const auto at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return text.replace(at, what.size(), with);
}

TEST(CatalogFile, ReadsBothKindsOfOrigin) {
    const auto entries = parse_catalog(entry_by_path + entry_of_package, "my.toml");
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_FALSE(entries[0].debian);
    EXPECT_FALSE(entries[0].sha256);
    EXPECT_EQ(entries[0].obtain, "ask");
    ASSERT_TRUE(entries[1].debian);
    EXPECT_EQ(entries[1].debian->command.at(1), "/usr/share/text");
    EXPECT_TRUE(entries[1].debian->verses);
}

TEST(CatalogFile, NamesTheLineOfAMistake) {
    const auto expect = [](const std::string& toml, const std::string& where, const char* what) {
        EXPECT_THAT(error_of(toml), testing::AllOf(testing::StartsWith("my.toml:" + where + ":"),
                                                   testing::HasSubstr(what)));
    };
    expect(entry_by_path + "licens = \"MIT\"\n", "10", "'licens' is not a known key");
    expect(replaced(entry_by_path, "\"trace\"", "\"tracer\""), "3",
           "'kind' is \"tracer\"; known are corpus, trace, model");
    expect(replaced(entry_by_path, "licence = \"MIT\"", "licence = 1"), "5", "'licence'");
    expect(replaced(entry_by_path, "licence = \"MIT\"\n", ""), "1", "lacks 'licence'");
    expect(entry_by_path + "sha256 = \"ABC\"\n", "10", "64 lower-case hex digits");
    expect(entry_by_path + "size_bytes = -1\n", "10", "'size_bytes' must be a whole number");
    expect("[[entry]\nid = 1\n", "1", "not valid TOML");
}

const std::string folder_table =
    "[entry.folder]\n"
    "converter = \"logs\"\n"
    "called = \"folder of logs\"\n"
    "ranks = 2\n"
    "tokens = 6\n";

TEST(CatalogFile, ReadsWhatAFolderHolds) {
    const Entry entry = parse_catalog(entry_by_path + folder_table, "my.toml").at(0);
    ASSERT_TRUE(entry.folder);
    EXPECT_EQ(entry.folder->converter, "logs");
    EXPECT_EQ(entry.folder->called, "folder of logs");
    EXPECT_EQ(entry.folder->numbers,
              (std::map<std::string, std::int64_t>{{"ranks", 2}, {"tokens", 6}}));
    EXPECT_FALSE(parse_catalog(entry_by_path, "my.toml").at(0).folder);
}

TEST(CatalogFile, RefusesAFolderThatCannotBe) {
    const auto expect = [](const std::string& toml, const char* what) {
        EXPECT_THAT(error_of(toml), testing::HasSubstr(what));
    };
    expect(entry_by_path + replaced(folder_table, "ranks = 2", "ranks = 2.5"),
           "'ranks' must be a whole number");
    expect(entry_by_path + replaced(folder_table, "converter", "converts"),
           "folder lacks 'converter'");
    expect(entry_by_path + replaced(folder_table, "\"folder of logs\"", "\"\""),
           "'called' must not be empty");
    expect(entry_of_package + folder_table, "belongs to data that the user brings");
}

TEST(CatalogFile, RefusesAnEntryThatSaysNotWhereItIsFrom) {
    EXPECT_THAT(error_of(replaced(entry_by_path, "obtain = \"ask\"\n", "")),
                testing::HasSubstr("exactly one of"));
    EXPECT_THAT(error_of(replaced(entry_of_package, "debian", "obtain = \"ask\"\ndebian")),
                testing::HasSubstr("exactly one of"));
}

TEST(CatalogFile, RefusesFilesOutsideTheDataFolder) {
    for (const char* name : {"../loads.csv", "/etc/passwd", ".hidden"})
        EXPECT_THAT(error_of(replaced(entry_by_path, "loads.csv", name)),
                    testing::HasSubstr("plain file name"))
            << name;
}

TEST(CatalogFile, RefusesTheSameIdOrFileTwice) {
    EXPECT_THAT(error_of(entry_by_path + entry_by_path), testing::HasSubstr("entry before it"));
    EXPECT_THAT(error_of(entry_by_path + replaced(entry_by_path, "\"loads\"", "\"other\"")),
                testing::HasSubstr("entry before it"));
}

TEST(CatalogFile, RefusesACommandThatIsNone) {
    for (const char* command : {"[]", "\"cat\"", "[1]"})
        EXPECT_THAT(error_of(replaced(entry_of_package, "[\"cat\", \"/usr/share/text\"]", command)),
                    testing::HasSubstr("'command' must"))
            << command;
}

TEST(CatalogFile, RefusesAnEmptyFile) {
    EXPECT_THAT(error_of(""), testing::HasSubstr("no [[entry]] in it"));
}

}  // namespace
}  // namespace assay::data
