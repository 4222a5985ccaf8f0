// assay history: what its list says of machines and of series that ended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "tests/cli/program_test.hpp"

namespace assay::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class HistoryCommand : public ProgramTest {
  protected:
    HistoryCommand() : ProgramTest(ASSAY_DUMMY_PROGRAM) {}

    /// A file of Google Benchmark of that day, with six repetitions of each.
    void import(int day, const std::map<std::string, double>& benchmarks,
                int processors = 2) const {
        json file = {{"context",
                      {{"date", (day < 10 ? "2026-10-0" : "2026-10-") + std::to_string(day) +
                                    "T02:00:00+00:00"},
                       {"host_name", "box"},
                       {"num_cpus", processors}}},
                     {"benchmarks", json::array()}};
        for (const auto& [name, time] : benchmarks)
            for (int i = 0; i < 6; ++i) {
                json one = {{"name", name},
                            {"run_type", "iteration"},
                            {"repetition_index", i},
                            {"time_unit", "ns"}};
                if (time > 0)
                    one.update({{"real_time", time + i / 10.0}, {"cpu_time", time}});
                else
                    one.update({{"error_occurred", true}, {"error_message", "no"}});
                file["benchmarks"].push_back(one);
            }
        std::ofstream(folder / "b.json") << file;
        const Printed printed = assay({"import", (folder / "b.json").string()});
        EXPECT_EQ(printed.exit_code, 0) << printed.err;
    }
    std::string list(std::vector<std::string> more = {}) const {
        std::vector<std::string> arguments{"history", "benchmark/*", "--metric", "real_time"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Printed printed = assay(arguments);
        return printed.out + printed.err;
    }
    /// The line of the list that begins so.
    static std::string line(const std::string& text, const std::string& begin) {
        const auto at = text.find('\n' + begin);
        return at == text.npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
    }
};

TEST_F(HistoryCommand, NamesTheMachineOfEachLineWhereThereAreSeveral) {
    import(1, {{ "BM_x", 100 }});
    EXPECT_THAT(list({"--all"}), Not(HasSubstr("num_cpus")));
    import(2, {{ "BM_x", 130 }}, 4);
    const std::string text = list();
    EXPECT_THAT(text, AllOf(HasSubstr("machine"), HasSubstr("(num_cpus 2)"),
                            HasSubstr("(num_cpus 4)"), HasSubstr("--machine")));
    const json both = assay_json({"history", "benchmark/*", "--metric", "real_time"});
    ASSERT_EQ(both.size(), 2u);
    for (const json& trend : both) {
        const std::string machine = trend["series"]["hardware"];
        const json one = assay_json(
            {"history", "benchmark/*", "--metric", "real_time", "--machine", machine.substr(0, 8)});
        ASSERT_EQ(one.size(), 1u);
        EXPECT_EQ(one[0]["series"]["hardware"], machine);
        EXPECT_THAT(text, HasSubstr(machine.substr(0, 8)));
    }
    EXPECT_THAT(list({"--machine", "zz"}), HasSubstr("--machine zz: no such machine here; known:"));
}

TEST_F(HistoryCommand, SaysWhenASeriesEnded) {
    for (int day = 1; day <= 12; ++day) import(day, {{"BM_stays", 100}, { "BM_gone", 50 }});
    for (int day = 13; day <= 24; ++day) import(day, {{ "BM_stays", 100 }});
    const std::string text = list();
    EXPECT_THAT(line(text, "benchmark/BM_gone"), HasSubstr("ended 2026-10-12, 12 sessions ago"));
    EXPECT_THAT(line(text, "benchmark/BM_stays"), Not(HasSubstr("ended")));
    EXPECT_THAT(assay({"history", "benchmark/BM_gone", "--metric", "real_time"}).out,
                HasSubstr("ended: last seen on 2026-10-12, 12 sessions ago"));
    for (const json& trend : assay_json({"history", "benchmark/*", "--metric", "real_time"}))
        EXPECT_EQ(trend["ended"].is_null(), trend["row"] == "benchmark/BM_stays · real_time")
            << trend["row"];
}

TEST_F(HistoryCommand, WhatFailsOrIsOfAnotherMachineHasNotEnded) {
    for (int day = 1; day <= 3; ++day) import(day, {{"BM_a", 100}, { "BM_b", 50 }});
    for (int day = 4; day <= 6; ++day) import(day, {{"BM_a", 100}, { "BM_b", 0 }});
    for (int day = 7; day <= 9; ++day) import(day, {{ "BM_a", 100 }}, 4);
    EXPECT_THAT(list(), Not(HasSubstr("ended")));
    import(10, {{ "BM_a", 100 }});
    EXPECT_THAT(list(), Not(HasSubstr("ended"))) << "one session may be an accident";
    import(11, {{ "BM_a", 100 }});
    EXPECT_THAT(line(list(), "benchmark/BM_b"), HasSubstr("ended 2026-10-03, 2 sessions ago"));
}

}  // namespace
}  // namespace assay::testing
