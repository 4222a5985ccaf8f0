// The published sum of SmartMoE's logs, taken apart into 8,016 logs and fetched from their folder.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "suite/base/sha256.hpp"
#include "suite/data/fetch.hpp"
#include "tests/lazarus/data/smartmoe_folder.hpp"

namespace assay::lazarus {
namespace {

namespace fs = std::filesystem;

/// In the folder that ASSAY_TEST_DATA names, or in that of the file it names.
fs::path published_sum() {
    const char* given = std::getenv("ASSAY_TEST_DATA");
    fs::path folder = given ? given : "";
    if (fs::is_regular_file(folder)) folder = folder.parent_path();
    return folder / "smartmoe_expert_loads.csv";
}

std::vector<LoadRow> rows_of(const fs::path& csv) {
    std::ifstream in(csv);
    std::vector<LoadRow> rows;
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
        std::istringstream fields(line);
        std::string field;
        LoadRow row;
        for (int column = 0; std::getline(fields, field, ','); ++column)
            if (column >= 2) row.push_back(std::stoull(field));
        rows.push_back(row);
    }
    return rows;
}

class PublishedSmartmoeLoads : public testing::Test {
  protected:
    void SetUp() override {
        if (!fs::exists(published_sum()))
            GTEST_SKIP() << "needs ASSAY_TEST_DATA, the folder of smartmoe_expert_loads.csv";
        std::string pattern = (fs::temp_directory_path() / "assay-smartmoe-XXXXXX").string();
        ASSERT_TRUE(mkdtemp(pattern.data()));
        root_ = pattern;
        logs_ = root_ / "moe_trace";
        fs::create_directory(logs_);
        setenv("ASSAY_DATA", (root_ / "data").c_str(), 1);
    }
    void TearDown() override {
        if (!root_.empty()) fs::remove_all(root_);
    }

    fs::path root_, logs_;
};

TEST_F(PublishedSmartmoeLoads, ComeOutOfAFolderOfLogsByteForByte) {
    const data::Entry& entry = data::find("smartmoe-loads");
    const SmartmoeLogs logs = smartmoe_logs_of(entry);
    const auto rows = rows_of(published_sum());
    ASSERT_EQ(rows.size(), 501u * 24u);
    write_smartmoe_folder(logs_, logs, rows, 20231021);

    std::size_t files = 0;
    const DataConverters converters = {{entry.folder->converter, convert_smartmoe_logs}};
    const DataFormats formats = {{expert_loads, check_expert_loads}};
    const fs::path file = data::fetch("smartmoe-loads", logs_, converters, formats,
                                      [&](std::size_t done, std::size_t) { files = done; });
    EXPECT_EQ(files, 8016u);
    EXPECT_EQ(sha256_file_hex(file), entry.sha256);
    EXPECT_EQ(fs::file_size(file), entry.size_bytes);
}

TEST_F(PublishedSmartmoeLoads, AreStillTakenAsTheFileThatSumsThem) {
    const fs::path file =
        data::fetch("smartmoe-loads", published_sum(), {}, {{expert_loads, check_expert_loads}});
    EXPECT_EQ(sha256_file_hex(file), data::find("smartmoe-loads").sha256);
}

}  // namespace
}  // namespace assay::lazarus
