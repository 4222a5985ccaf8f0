// Fetching: from a package's program or a path, checked, complete or not at all.
#include "suite/data/fetch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "suite/store/sha256.hpp"
#include "tests/data/own_catalog.hpp"

namespace assay::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Fetch : public OwnCatalog {
  protected:
    static std::string error_of(const std::string& id,
                                const std::optional<std::filesystem::path>& from = {}) {
        try {
            fetch(id, from);
        } catch (const DataError& error) {
            return error.what();
        }
        return "no error";
    }
};

TEST_F(Fetch, APackagesProgramIsRunAndItsReferencesDropped) {
    EXPECT_FALSE(locate("verses"));
    const auto file = fetch("verses");
    EXPECT_EQ(file, data_ / "verses.txt");
    EXPECT_EQ(locate("verses"), file);
    EXPECT_EQ(read_file(file), "In the\nAnd the\n");
}

TEST_F(Fetch, TheLicenceLiesBesideTheFile) {
    write_file(root_ / "mine.csv", right_trace);
    const auto file = fetch("trace", root_ / "mine.csv");
    const auto manifest = nlohmann::json::parse(read_file(manifest_of(file)));
    EXPECT_EQ(manifest["licence"], "GPL-3.0-only");
    EXPECT_EQ(manifest["origin"], "somebody's machine");
    EXPECT_EQ(manifest["sha256"], sha256_hex(right_trace));
    EXPECT_EQ(manifest["size_bytes"], std::string(right_trace).size());
    EXPECT_THAT(data_files(), ElementsAre("trace.csv", "trace.csv.manifest.json"));
}

TEST_F(Fetch, TheUsersFileIsLeftAlone) {
    write_file(root_ / "mine.csv", right_trace);
    fetch("trace", root_ / "mine.csv");
    EXPECT_EQ(read_file(root_ / "mine.csv"), right_trace);
}

TEST_F(Fetch, OnlyOncePerContent) {
    write_file(root_ / "mine.csv", right_trace);
    const auto file = fetch("trace", root_ / "mine.csv");
    const auto written = std::filesystem::last_write_time(file);
    EXPECT_EQ(fetch("trace"), file);  // no path needed: it is here
    EXPECT_EQ(std::filesystem::last_write_time(file), written);
}

TEST_F(Fetch, ADamagedFileIsReplaced) {
    fetch("verses");
    write_file(data_ / "verses.txt", std::string(3, '\0'));
    EXPECT_EQ(read_file(fetch("verses")), "In the\nAnd the\n");
}

TEST_F(Fetch, AWrongFileIsRefusedAndTheRightOneKept) {
    write_file(root_ / "other.csv", "0,add,b\n");
    EXPECT_THAT(error_of("trace", root_ / "other.csv"), HasSubstr("sha256"));
    EXPECT_THAT(data_files(), IsEmpty());

    write_file(root_ / "bad.csv", "0,join,b\n");
    EXPECT_THAT(error_of("trace", root_ / "bad.csv"), HasSubstr("line 1: \"join\""));
    EXPECT_THAT(data_files(), IsEmpty());
}

TEST_F(Fetch, AFileOfOneVersionIsNotTakenForAnother) {
    const std::string error = error_of("other-version");
    EXPECT_THAT(error, HasSubstr("package other"));
    EXPECT_THAT(error, HasSubstr("sha256"));
    EXPECT_THAT(data_files(), IsEmpty());
}

TEST_F(Fetch, AMissingPackageIsNamedWithTheCommandThatInstallsIt) {
    EXPECT_THAT(error_of("no-program"), HasSubstr("apt-get install absent-package"));
    EXPECT_THAT(error_of("fails"), HasSubstr("apt-get install broken-package"));
    EXPECT_THAT(data_files(), IsEmpty());
}

TEST_F(Fetch, DataOnlyTheUserHasSaysHowToGetIt) {
    const std::string error = error_of("trace");
    EXPECT_THAT(error, HasSubstr("ask somebody"));
    EXPECT_THAT(error, HasSubstr("assay data fetch trace --from FILE"));
}

TEST_F(Fetch, AMissingPathIsNamed) {
    EXPECT_THAT(error_of("trace", root_ / "nowhere.csv"), HasSubstr("nowhere.csv is not a file"));
}

TEST_F(Fetch, ADataFolderThatCannotBeMadeIsNamed) {
    write_file(data_, "a file where the folder should be");
    const std::string error = error_of("verses");
    EXPECT_THAT(error, HasSubstr(data_.string()));
    EXPECT_THAT(error, HasSubstr("ASSAY_DATA"));
}

}  // namespace
}  // namespace assay::data
