// LTE through the real program: train, kill in the middle, go on, compare bit for bit.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/base/processes.hpp"
#include "tests/cli/program_test.hpp"

namespace assay::testing {
namespace {

using nlohmann::json;

class LteEndToEnd : public ProgramTest {
  protected:
    LteEndToEnd() : ProgramTest(ASSAY_PROGRAM) {}

    /// Training at its smallest, some seconds.
    std::vector<std::string> run(const std::string& database) const {
        return {"run",          "lte/x_schedule", "-a", "model=gpt-tiny", "-a",
                "sparsity=0.5", "--rounds",       "1",  "--db",           database};
    }
    std::string database(const char* name) const { return (folder / name).string(); }

    void SetUp() override {
        if (assay({"data", "fetch", "bible-kjv"}).exit_code != 0) GTEST_SKIP() << "no text";
    }
};

/// Whether a session has kept a state of a training whose name begins like this.
bool keeps_state_of(const std::string& training, const std::filesystem::path& folder) {
    std::error_code none;
    for (std::filesystem::recursive_directory_iterator next(folder, none), end;
         !none && next != end; next.increment(none))
        if (next->path().extension() == ".state" &&
            next->path().filename().string().starts_with(training))
            return true;
    return false;
}

TEST_F(LteEndToEnd, AKilledTrainingGoesOnInsideItsSampleBitForBit) {
    auto undisturbed = run(database("whole.db"));
    const json whole = assay_json(undisturbed)["samples"][0];
    if (whole["status"] == "unsupported") GTEST_SKIP() << whole["reason"];
    ASSERT_EQ(whole["status"], "ok") << whole;

    const auto struck = database("struck.db");
    int kills = 0;
    for (const char* during : {"stage1-", "stage2-"}) {
        const Printed printed = assay(run(struck), [&](pid_t pid) {
            eventually([&] { return is_gone(pid) || keeps_state_of(during, struck + ".state"); },
                       std::chrono::seconds(100));
            ::kill(pid, SIGKILL);
        });
        kills += printed.exit_code == 128 + SIGKILL;
    }
    EXPECT_EQ(kills, 2) << "it was over before it could be killed";
    const json resumed = assay_json(run(struck))["samples"][0];
    EXPECT_EQ(resumed["status"], "ok") << resumed;
    EXPECT_EQ(resumed["metrics"], whole["metrics"]);
    EXPECT_FALSE(std::filesystem::exists(struck + ".state")) << "states of a finished session";
}

}  // namespace
}  // namespace assay::testing
