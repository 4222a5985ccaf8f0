// Summing a folder of SmartMoE's logs: the table that comes out, and what is refused; and fetching
// it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "impls/lazarus/data/smartmoe_logs.hpp"
#include "suite/data/fetch.hpp"
#include "tests/data/own_catalog.hpp"
#include "tests/lazarus/data/smartmoe_folder.hpp"

namespace assay::lazarus {
namespace {

using data::read_file;
using data::write_file;
using testing::AllOf;
using testing::HasSubstr;

constexpr SmartmoeLogs two_ranks{.first_iteration = 1,
                                 .last_iteration = 11,
                                 .iteration_step = 10,
                                 .ranks = 2,
                                 .layers = 2,
                                 .micro_batches = 2,
                                 .experts = 3,
                                 .tokens = 10};

class SmartmoeFolder : public data::OwnCatalog {
  protected:
    void SetUp() override {
        OwnCatalog::SetUp();
        folder_ = root_ / "logs";
        std::filesystem::create_directories(folder_);
        write_file(
            log(1, 0),
            "0:[[1.0, 2.0, 7.0], [0.0, 4.0, 6.0]]\n1:[[10.0, 0.0, 0.0], [10.0, 0.0, 0.0]]\n");
        write_file(log(1, 1),
                   "0:[[1.0, 0.0, 9.0], [3.0, 3.0, 4.0]]\n1:[[0.0, 9.0, 1.0], [0.0, 8.0, 2.0]]\n");
        write_file(log(11, 0),
                   "0:[[5.0, 5.0, 0.0], [5.0, 4.0, 1.0]]\n1:[[0.0, 0.0, 10.0], [1.0, 1.0, 8.0]]\n");
        write_file(log(11, 1),  // layers in another order, lines of Windows, no last line end
                   "1:[[0.0, 0.0, 10.0], [1.0, 1.0, 8.0]]\r\n0:[[5.0, 5.0, 0.0], [5.0, 4.0, 1.0]]");
    }

    std::filesystem::path log(int iteration, int rank) const {
        return folder_ /
               ("table_iter" + std::to_string(iteration) + "_rank" + std::to_string(rank) + ".log");
    }

    std::string sum() const {
        std::ostringstream out;
        sum_smartmoe_logs(folder_, two_ranks, out);
        return out.str();
    }

    std::string error() const {
        try {
            sum();
        } catch (const data::DataError& error) {
            return error.what();
        }
        return "no error";
    }

    std::filesystem::path folder_;
};

TEST_F(SmartmoeFolder, IsSummedOverRanksAndMicroBatches) {
    EXPECT_EQ(sum(),
              "iteration,layer,e0,e1,e2\n1,0,5,9,26\n1,1,20,17,3\n11,0,20,18,2\n11,1,2,2,36\n");
}

TEST_F(SmartmoeFolder, MayHoldOtherFiles) {
    const std::string before = sum();
    write_file(folder_ / "README.md", "no log");
    write_file(folder_ / "table_iter01_rank0.log", "no log either");
    write_file(folder_ / "table_iter1_rank0.log.bak", "nor this");
    EXPECT_EQ(sum(), before);
}

TEST_F(SmartmoeFolder, TellsOfEveryFileThatItHasRead) {
    std::vector<std::size_t> heard;
    std::ostringstream out;
    sum_smartmoe_logs(folder_, two_ranks, out, [&](std::size_t done, std::size_t all) {
        EXPECT_EQ(all, 4u);
        heard.push_back(done);
    });
    EXPECT_THAT(heard, testing::ElementsAre(1, 2, 3, 4));
}

TEST_F(SmartmoeFolder, GivesBackTheRowsThatLogsWereMadeOf) {
    const SmartmoeLogs logs{.first_iteration = 5,
                            .last_iteration = 14,
                            .iteration_step = 3,
                            .ranks = 5,
                            .layers = 12,
                            .micro_batches = 3,
                            .experts = 7,
                            .tokens = 64};
    for (const std::uint64_t seed : {1, 2, 3}) {
        const auto folder = root_ / std::to_string(seed);
        std::filesystem::create_directories(folder);
        const auto rows = random_loads(logs, seed);
        write_smartmoe_folder(folder, logs, rows, seed);
        std::ostringstream out;
        sum_smartmoe_logs(folder, logs, out);
        EXPECT_EQ(out.str(), loads_csv(logs, rows)) << "seed " << seed;
    }
}

TEST_F(SmartmoeFolder, WithoutALogIsRefused) {
    std::filesystem::remove(log(11, 0));
    EXPECT_THAT(
        error(),
        HasSubstr(
            "logs holds 3 of 4 logs: copy those that are missing too, table_iter11_rank0.log"));
    std::filesystem::remove(log(11, 1));
    EXPECT_THAT(
        error(),
        HasSubstr(
            "holds 2 of 4 logs: copy those that are missing too, every rank of iteration 11"));
}

TEST_F(SmartmoeFolder, WithLogsOfAnotherTrainingIsRefused) {
    const std::string known =
        "no such log is known, only iterations 1 to 11 in steps of 10, ranks 0 to 1";
    for (const auto& [iteration, rank] : {std::pair{1, 2}, {21, 0}, {0, 0}, {6, 1}}) {
        write_file(log(iteration, rank), "");
        EXPECT_THAT(error(), AllOf(HasSubstr(log(iteration, rank).string()), HasSubstr(known)));
        std::filesystem::remove(log(iteration, rank));
    }
    EXPECT_EQ(error(), "no error");
}

TEST_F(SmartmoeFolder, AboveTheLogsIsRefusedWithTheOneToTake) {
    folder_ = root_;
    EXPECT_THAT(error(), AllOf(HasSubstr("holds no logs called table_iter{I}_rank{R}.log"),
                               HasSubstr("; " + (root_ / "logs").string() + " does")));
    folder_ = root_ / "nowhere";
    EXPECT_THAT(error(), HasSubstr("nowhere cannot be read: No such file"));
}

TEST_F(SmartmoeFolder, NamesTheLineOfAMistake) {
    const std::string right = read_file(log(1, 1));
    const auto expect = [&](const std::string& bytes, const std::string& message) {
        write_file(log(1, 1), bytes);
        EXPECT_EQ(error(), log(1, 1).string() + message + "; copy this log anew");
    };
    const std::string zero = "0:[[1.0, 0.0, 9.0], [3.0, 3.0, 4.0]]\n";
    const std::string one = "1:[[0.0, 9.0, 1.0], [0.0, 8.0, 2.0]]\n";
    expect(zero + "1:[[0.0, 9.0, 1.0], [0.0, -8.0, 2.0]]\n",
           ":2: column 27: a number of tokens is -8.0: it cannot be negative");
    expect(zero + zero, ":2: layer 0 is already on line 1");
    expect(zero + one + one, ":3: layer 1 is already on line 2");
    expect(one, ":2: the file ends without layer 0");
    expect("", ":1: the file ends without layer 0");
    expect(zero + one.substr(0, 18),
           ":2: column 19: the line ends where ']' is expected after a micro-batch");
    expect(zero + "\n" + one, ":2: column 1: the line ends where a layer is expected");
    write_file(log(1, 1), right);
    EXPECT_EQ(error(), "no error");
}

TEST_F(SmartmoeFolder, NamesALogThatCannotBeRead) {
    std::filesystem::remove(log(1, 1));
    std::filesystem::create_directory(log(1, 1));
    EXPECT_EQ(error(), log(1, 1).string() + " cannot be read");
    std::filesystem::remove(log(1, 1));
    std::filesystem::create_symlink("nowhere", log(1, 1));
    EXPECT_EQ(error(), log(1, 1).string() + " cannot be read");
}

/// An entry whose folder has these numbers.
data::Entry entry_of(std::map<std::string, std::int64_t> numbers) {
    return {.id = "loads",
            .format = expert_loads,
            .folder = data::FolderSource{"smartmoe_logs", "folder", std::move(numbers)}};
}

const std::map<std::string, std::int64_t> known = {
    {"first_iteration", 1}, {"last_iteration", 21}, {"iteration_step", 10}, {"ranks", 2},
    {"layers", 3},          {"micro_batches", 4},   {"experts", 5},         {"tokens", 6}};

TEST(SmartmoeNumbers, AreThoseOfTheCatalogue) {
    const SmartmoeLogs logs = smartmoe_logs_of(entry_of(known));
    EXPECT_EQ(logs.first_iteration, 1);
    EXPECT_EQ(logs.last_iteration, 21);
    EXPECT_EQ(logs.iteration_step, 10);
    EXPECT_EQ(logs.ranks, 2u);
    EXPECT_EQ(logs.layers, 3u);
    EXPECT_EQ(logs.micro_batches, 4u);
    EXPECT_EQ(logs.experts, 5u);
    EXPECT_EQ(logs.tokens, 6u);
}

TEST(SmartmoeNumbers, ThatCannotBeAreRefused) {
    const auto expect = [](const data::Entry& entry, const char* what) {
        try {
            smartmoe_logs_of(entry);
            FAIL() << what;
        } catch (const data::DataError& error) {
            EXPECT_THAT(error.what(), HasSubstr(what));
        }
    };
    const auto with = [](const char* name, std::int64_t value) {
        auto numbers = known;
        numbers[name] = value;
        return entry_of(numbers);
    };
    expect(with("ranks", 0), "'ranks' must be a whole number");
    auto numbers = known;
    numbers.erase("ranks");
    expect(entry_of(numbers), "folder lacks 'ranks'");
    expect(with("tokns", 1), "'tokns' is not a known key");
    expect(with("last_iteration", 0), "must not be before 'first_iteration'");
    expect(with("last_iteration", 22), "a whole number of 'iteration_step'");
    data::Entry text = entry_of(known);
    text.format = "text";
    expect(text, "belongs to data of format expert_loads");
}

TEST(ExpertLoads, AreWhatExperimentsRead) {
    const auto verdict = [](const std::string& csv) {
        std::istringstream in(csv);
        try {
            check_expert_loads(in);
        } catch (const data::DataError& error) {
            return std::string(error.what());
        }
        return std::string("right");
    };
    const std::string header = "iteration,layer,e0,e1\n";
    EXPECT_EQ(verdict(header + "1,0,3,4\n1,1,0,7\r\n"), "right");
    EXPECT_EQ(verdict(header + "1,0,3\n"), "line 2: 3 fields, the header has 4");
    EXPECT_EQ(verdict(header + "1,0,3,4\n1,0,3,4\n"), "line 3: iteration 1, layer 0 a second time");
    EXPECT_EQ(verdict(header), "a header but no rows");
}

class FetchSmartmoeFolder : public data::OwnCatalog {
  protected:
    void SetUp() override {
        OwnCatalog::SetUp();
        logs_ = root_ / "logs";
        std::filesystem::create_directory(logs_);
        write_file(log(0), "0:[[8.0, 0.0], [4.0, 4.0]]\n");
        write_file(log(1), "0:[[3.0, 5.0], [5.0, 3.0]]\n");
    }

    std::filesystem::path log(int rank) const {
        return logs_ / ("table_iter1_rank" + std::to_string(rank) + ".log");
    }

    std::string error() const {
        try {
            data::fetch("loads", logs_, converters_, formats_);
        } catch (const data::DataError& error) {
            return error.what();
        }
        return "no error";
    }

    const DataConverters converters_ = {{"logs", convert_smartmoe_logs}};
    const DataFormats formats_ = {{expert_loads, check_expert_loads}};
    std::filesystem::path logs_;
};

TEST_F(FetchSmartmoeFolder, IsSummedAndItsFileKept) {
    std::size_t files = 0;
    const auto file = data::fetch("loads", logs_, converters_, formats_,
                                  [&](std::size_t done, std::size_t) { files = done; });
    EXPECT_EQ(read_file(file), data::right_loads);
    EXPECT_EQ(files, 2u);
}

TEST_F(FetchSmartmoeFolder, OfOtherLogsIsRefused) {
    write_file(log(1), "0:[[4.0, 4.0], [5.0, 3.0]]\n");
    EXPECT_THAT(error(), HasSubstr("logs is not what the catalogue describes: sha256"));
    EXPECT_THAT(data_files(), testing::IsEmpty());
}

TEST_F(FetchSmartmoeFolder, WithADamagedLogSaysWhereAndWhatToDo) {
    write_file(log(1), "0:[[nan, 5.0], [5.0, 3.0]]\n");
    EXPECT_EQ(
        error(),
        "loads: " + log(1).string() +
            ":1: column 5: a number of tokens is nan, which is not a finite number; copy this "
            "log anew (the logs are those of somebody's training)");
    EXPECT_THAT(data_files(), testing::IsEmpty());
}

}  // namespace
}  // namespace assay::lazarus
