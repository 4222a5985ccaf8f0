// Nights on a machine whose clock was set back: what was recorded last is the newest.
#include <SQLiteCpp/Database.h>

#include "tests/gate/nightly_fixture.hpp"

namespace assay::testing {
namespace {

class ClockNights : public NightlyTest {
  protected:
    /// All that is there was recorded by a clock that was years ahead.
    void clock_was_ahead() const {
        SQLite::Database sql((folder / "results.db").string(), SQLite::OPEN_READWRITE);
        for (const auto& [table, columns] :
             std::map<std::string, std::vector<std::string>>{{"session", {"started", "finished"}},
                                                             {"night", {"started", "finished"}},
                                                             {"accepted_level", {"at"}},
                                                             {"regression", {"opened", "changed"}},
                                                             {"regression_step", {"at"}}})
            for (const std::string& column : columns)
                sql.exec("UPDATE " + table + " SET " + column + " = '2' || (substr(" + column +
                         ", 2, 3) + 100) || substr(" + column + ", 5) WHERE " + column +
                         " < '2100'");
    }
    std::string latest(const std::string& which = "latest") const {
        return assay({"compare", which, which}).out;
    }
};

TEST_F(ClockNights, ALevelThatIsAcceptedLaterIsTheLevel) {
    night();
    accept();
    clock_was_ahead();
    slow_build("left", 1.2);
    const Told first = night();
    EXPECT_EQ(left(first.report)["to"], "candidate");
    EXPECT_THAT(first.report["warnings"].dump(),
                AllOf(HasSubstr("in the future"), HasSubstr("clock")));
    const Told second = night();
    EXPECT_EQ(second.exit_code, 2) << second.report.dump(1);
    const std::string session = second.report["session"].get<std::string>().substr(0, 8);
    EXPECT_THAT(latest(), HasSubstr(session));
    EXPECT_THAT(latest("latest~1"),
                HasSubstr(first.report["session"].get<std::string>().substr(0, 8)));
    clock_was_ahead();
    const Printed accepted = assay({"baseline", "accept", "tiny"});
    EXPECT_THAT(accepted.out, HasSubstr("session " + session));
    EXPECT_THAT(accepted.out, HasSubstr("warning: that session is dated 21"));
    EXPECT_THAT(accepted.out, HasSubstr("no longer a regression: night/work left"));
    const Told after = night();
    EXPECT_EQ(after.exit_code, 0) << after.report.dump(1);
    EXPECT_EQ(after.report["baseline_session"], second.report["session"]);
    EXPECT_TRUE(assay_json({"regressions"}).empty());
    // One that opens now is newer than those that were closed.
    slow_build("left", 1.5);
    EXPECT_EQ(left(night().report)["to"], "candidate");
    EXPECT_EQ(night().exit_code, 2);
    EXPECT_EQ(assay_json({"regressions"}).size(), 2u);
}

TEST_F(ClockNights, ComparisonsSayThatADateLiesInTheFuture) {
    night();
    clock_was_ahead();
    night();
    const json rows = assay_json({"compare", "latest~1", "latest"});
    EXPECT_THAT(rows.at(0)["warnings"].dump(),
                AllOf(HasSubstr("A: session"), HasSubstr("in the future")));
    EXPECT_THAT(assay({"compare", "latest~1", "latest"}).out, HasSubstr("in the future"));
}

TEST_F(ClockNights, ImportsStandInTheOrderOfTheirFilesDates) {
    for (const char* year : {"2024", "2016", "2022"}) {
        const fs::path file = folder.path() / (std::string("of_") + year + ".json");
        std::ofstream(file) << R"({"context":{"date":")" << year
                            << R"(-01-05T02:03:04+00:00","num_cpus":2},"benchmarks":[)"
                            << R"({"name":"BM_q","run_type":"iteration","real_time":)" << year
                            << "}]}";
        ASSERT_EQ(assay({"import", file.string()}).exit_code, 0);
    }
    EXPECT_THAT(latest(), HasSubstr("of_2024.json"));
    EXPECT_THAT(latest("latest~1"), HasSubstr("of_2022.json"));
    EXPECT_THAT(latest("latest~2"), HasSubstr("of_2016.json"));
}

}  // namespace
}  // namespace assay::testing
