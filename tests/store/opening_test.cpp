// What is refused when a database is opened, and that it stays as it was.
#include <SQLiteCpp/Database.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "suite/store/database_file.hpp"
#include "suite/store/schema/migration.hpp"
#include "tests/store/example_rows.hpp"

namespace assay::store::testing {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string refusal(const fs::path& file, Access access) {
    return error_of([&] { Store::open(file, access); });
}

void expect_refused_and_untouched(const fs::path& file, const std::string& words) {
    const auto before = bytes_of(file);
    for (const auto access : {Access::read, Access::write}) {
        const auto said = refusal(file, access);
        EXPECT_NE(said.find(words), std::string::npos) << said;
        EXPECT_NE(said.find(file.string()), std::string::npos) << said;
    }
    EXPECT_EQ(bytes_of(file), before);
    EXPECT_EQ(std::distance(fs::directory_iterator(file.parent_path()), {}), 1)
        << "no files beside it";
}

TEST(Opening, MakesFileAndFolders) {
    Folder folder;
    const auto file = folder / "new" / "deep" / "results.db";
    {
        auto store = Store::open(file, Access::write);
        EXPECT_EQ(store.path(), file);
        EXPECT_TRUE(store.check().ok);
    }
    EXPECT_EQ(refusal(file, Access::read), "");
    EXPECT_EQ(refusal(file, Access::write), "");
}

TEST(Opening, ReadingWhatIsNotThere) {
    Folder folder;
    EXPECT_NE(refusal(folder / "no.db", Access::read).find("there is no results database"),
              std::string::npos);
    EXPECT_FALSE(fs::exists(folder / "no.db"));
    EXPECT_NE(refusal("", Access::write).find("not the name of a file"), std::string::npos);
    EXPECT_NE(refusal(folder.path(), Access::write).find("is a folder"), std::string::npos);
}

TEST(Opening, AnEmptyFileIsNewToWritersAndAnErrorToReaders) {
    Folder folder;
    std::ofstream(folder / "r.db");
    EXPECT_NE(refusal(folder / "r.db", Access::read).find("empty"), std::string::npos);
    EXPECT_EQ(refusal(folder / "r.db", Access::write), "");
}

TEST(Opening, FileOfAnotherKindIsRefused) {
    Folder folder;
    std::ofstream(folder / "thesis.txt") << "It was the best of times.\n" << std::string(5000, 'x');
    expect_refused_and_untouched(folder / "thesis.txt", "not even an SQLite file");
}

TEST(Opening, DatabaseOfAnotherProgramIsRefused) {
    Folder folder;
    {
        SQLite::Database other((folder / "mail.db").string(),
                               SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        other.exec("CREATE TABLE mail (words TEXT)");
    }
    expect_refused_and_untouched(folder / "mail.db", "SQLite file of another program");
}

TEST(Opening, UnknownVersionIsRefused) {
    Folder folder;
    Store::open(folder / "r.db", Access::write);
    fs::remove(folder / "r.db-runners");
    {
        SQLite::Database file((folder / "r.db").string(), SQLite::OPEN_READWRITE);
        file.exec("PRAGMA journal_mode = DELETE; PRAGMA user_version = 99");
    }
    expect_refused_and_untouched(folder / "r.db",
                                 "schema version 99, this program knows versions up to " +
                                     std::to_string(migrations().back().to));
}

TEST(Opening, ContradictingVersionsAreRefused) {
    Folder folder;
    Store::open(folder / "r.db", Access::write);
    SQLite::Database((folder / "r.db").string(), SQLite::OPEN_READWRITE)
        .exec("INSERT INTO schema_version VALUES (98, 'never')");
    for (const auto access : {Access::read, Access::write})
        EXPECT_NE(refusal(folder / "r.db", access).find("its history says 98"), std::string::npos);
}

TEST(Opening, ReadersCannotWrite) {
    Folder folder;
    Store::open(folder / "r.db", Access::write);
    auto reader = Store::open(folder / "r.db", Access::read);
    EXPECT_NE(error_of([&] { reader.put_machine(example_machine()); }).find("for reading only"),
              std::string::npos);
}

TEST(Opening, LinksLeadToTheSameFile) {
    Folder folder;
    auto runner = Store::open(folder / "r.db", Access::write);
    const auto session = begin(runner);
    fs::create_symlink(folder / "r.db", folder / "link.db");
    auto second = Store::open(folder / "link.db", Access::write);
    EXPECT_EQ(second.sessions().at(0).state, "running") << "its runner lives, under whatever name";
}

TEST(Opening, NetworkFileSystems) {
    EXPECT_EQ(network_file_system(0x6969, "nfs4"), "NFS");
    EXPECT_EQ(network_file_system(0xff534d42, "cifs"), "CIFS");
    EXPECT_EQ(network_file_system(0xfe534d42, "cifs"), "SMB2");
    EXPECT_EQ(network_file_system(0x65735546, "fuse.sshfs"), "fuse.sshfs");
    EXPECT_EQ(network_file_system(0x65735546, "fuseblk"), std::nullopt) << "a local NTFS disk";
    EXPECT_EQ(network_file_system(0xef53, "ext4"), std::nullopt);
    EXPECT_EQ(network_file_system(0x01021994, "tmpfs"), std::nullopt);
}

TEST(Opening, DefaultPath) {
    Environment no_db("ASSAY_DB", nullptr), no_xdg("XDG_DATA_HOME", nullptr),
        no_home("HOME", nullptr);
    EXPECT_NE(error_of([] { default_path(); }).find("--db"), std::string::npos);
    Environment home("HOME", "/home/me");
    EXPECT_EQ(default_path(), "/home/me/.local/share/assay/results.db");
    Environment relative("XDG_DATA_HOME", "relative");
    EXPECT_EQ(default_path(), "/home/me/.local/share/assay/results.db");
    Environment absolute("XDG_DATA_HOME", "/data");
    EXPECT_EQ(default_path(), "/data/assay/results.db");
    Environment db("ASSAY_DB", "mine.db");
    EXPECT_EQ(default_path(), "mine.db");
}

}  // namespace
}  // namespace assay::store::testing
