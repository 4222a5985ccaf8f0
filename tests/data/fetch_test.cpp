// Fetching: from a package's program or a path, checked, complete or not at all.
#include "suite/data/fetch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "suite/base/sha256.hpp"
#include "tests/base/device_writes.hpp"
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

/// A converter that writes the parts of a folder one after another.
void join_parts(const Entry& entry, const std::filesystem::path& folder, std::ostream& out,
                const FileProgress& progress) {
    const auto ranks = static_cast<std::size_t>(entry.folder->numbers.at("ranks"));
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        const std::string part = read_file(folder / std::to_string(rank));
        if (part.empty()) throw DataError("part " + std::to_string(rank) + " is missing");
        out << part;
        if (progress) progress(rank + 1, ranks);
    }
}

class FetchFolder : public Fetch {
  protected:
    void SetUp() override {
        Fetch::SetUp();
        logs_ = root_ / "logs";
        std::filesystem::create_directory(logs_);
        const std::string loads = right_loads;
        write_file(logs_ / "0", loads.substr(0, 10));
        write_file(logs_ / "1", loads.substr(10));
    }

    static std::string error_of(const std::string& id,
                                const std::optional<std::filesystem::path>& from = {},
                                const DataConverters& converters = {{"logs", join_parts}}) {
        try {
            fetch(id, from, converters, own_formats);
        } catch (const DataError& error) {
            return error.what();
        }
        return "no error";
    }

    std::filesystem::path logs_;
};

TEST_F(FetchFolder, IsConvertedAndItsFileKept) {
    std::size_t files = 0;
    const auto file = fetch("loads", logs_, {{"logs", join_parts}}, own_formats,
                            [&](std::size_t done, std::size_t) { files = done; });
    EXPECT_EQ(read_file(file), right_loads);
    EXPECT_EQ(files, 2u);
    EXPECT_THAT(data_files(), ElementsAre("loads.csv", "loads.csv.manifest.json"));
    const auto manifest = nlohmann::json::parse(read_file(manifest_of(file)));
    EXPECT_EQ(manifest["sha256"], sha256_hex(right_loads));
}

TEST_F(FetchFolder, MayStillBeTheFileItself) {
    write_file(root_ / "mine.csv", right_loads);
    EXPECT_EQ(read_file(fetch("loads", root_ / "mine.csv", {}, own_formats)), right_loads);
}

TEST_F(FetchFolder, OfOtherContentIsRefused) {
    write_file(logs_ / "1", std::string(right_loads).substr(10) + "1,1,16,16\n");
    EXPECT_THAT(error_of("loads", logs_),
                HasSubstr("logs is not what the catalogue describes: sha256"));
    EXPECT_THAT(data_files(), IsEmpty());
}

TEST_F(FetchFolder, ThatItsConverterRefusesSaysWhy) {
    write_file(logs_ / "1", "");
    EXPECT_EQ(error_of("loads", logs_), "loads: part 1 is missing");
    EXPECT_THAT(data_files(), IsEmpty());
}

TEST_F(FetchFolder, WhoseConverterIsNotInThisBuildIsRefused) {
    EXPECT_THAT(error_of("loads", logs_, {}), HasSubstr("this build has no converter \"logs\""));
    EXPECT_THAT(data_files(), IsEmpty());
}

TEST_F(FetchFolder, ThatDoesNotExistIsNamed) {
    EXPECT_THAT(error_of("loads", root_ / "nowhere"), HasSubstr("nowhere is not a file or folder"));
}

TEST_F(FetchFolder, IsRefusedForDataThatIsAFile) {
    EXPECT_THAT(error_of("trace", logs_), HasSubstr("logs is a folder; give the file"));
}

TEST_F(FetchFolder, IsAskedForWhereNoPathIsGiven) {
    EXPECT_THAT(error_of("loads"),
                HasSubstr("take the folder of somebody's logs; then give the folder "
                          "of logs or the file that sums them with assay data "
                          "fetch loads --from PATH"));
}

TEST_F(Fetch, AFileIsOnTheDeviceBeforeItHasItsName) {
    write_file(root_ / "mine.csv", right_trace);
    const DeviceWrites writes(data_ / "trace.csv");
    fetch("trace", root_ / "mine.csv");
    EXPECT_THAT(writes.before(), ElementsAre(testing::StartsWith(".trace.csv.")));
    EXPECT_THAT(writes.after(), testing::Contains("data"));
}

TEST_F(Fetch, OneThatIsCutOffLeavesNothing) {
    // Longer than a file may become in the child.
    std::string long_trace;
    for (int i = 0; i < 2000; ++i) long_trace += "0,add,a\n";
    write_file(root_ / "long.csv", long_trace);
    const auto fetch_it = [&] {
        const rlimit few_bytes{1000, 1000};
        setrlimit(RLIMIT_FSIZE, &few_bytes);
        signal(SIGXFSZ, SIG_IGN);
        std::fputs(error_of("trace", root_ / "long.csv").c_str(), stderr);
        std::exit(0);
    };
    EXPECT_EXIT(fetch_it(), testing::ExitedWithCode(0), "trace: .*cannot copy file");
    EXPECT_THAT(data_files(), IsEmpty());
}

TEST_F(Fetch, AFetchedFileIsAnInputWithTheContentThatTheCatalogueKnows) {
    EXPECT_FALSE(input_of("trace", "spot trace"));
    write_file(root_ / "mine.csv", right_trace);
    const auto file = fetch("trace", root_ / "mine.csv");
    const auto input = input_of("trace", "spot trace");
    ASSERT_TRUE(input);
    EXPECT_EQ(input->name, "spot trace");
    EXPECT_EQ(input->file, file);
    EXPECT_EQ(input->sha256, sha256_hex(right_trace));
    fetch("verses");
    EXPECT_EQ(input_of("verses", "corpus")->sha256, "") << "whatever it is";
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
