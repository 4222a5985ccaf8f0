// Dr. Post-Training through the real program: fine-tune by choice and without, and under faults.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/program_test.hpp"

namespace assay::testing {
namespace {

using nlohmann::json;

class DrEndToEnd : public ProgramTest {
  protected:
    DrEndToEnd() : ProgramTest(ASSAY_PROGRAM) {}

    EnvironmentVariable settle{"ASSAY_SETTLE", "0"};  ///< nothing here is a timing
    std::string database = (folder / "results.db").string();
};

TEST_F(DrEndToEnd, ArmsOfASeedShareTheirStart) {
    const json result = assay_json({"run", "dr_post_training/sft_perplexity", "-a",
                                    "model=llama-tiny", "-a", "steps=6", "--variant", "full",
                                    "--variant", "layer", "--rounds", "2", "--db", database});
    if (result["samples"][0]["status"] == "unsupported")
        GTEST_SKIP() << result["samples"][0]["reason"];
    std::map<std::string, std::map<int, double>> start, end;
    for (const json& sample : result["samples"]) {
        ASSERT_EQ(sample["status"], "ok") << sample;
        const json& metrics = sample["metrics"];
        start[sample["variant"]][sample["seed"]] = metrics["perplexity_at_start"];
        end[sample["variant"]][sample["seed"]] = metrics["perplexity"];
    }
    ASSERT_EQ(start["full"].size(), 2U);
    EXPECT_EQ(start["full"], start["layer"]);
    EXPECT_NE(start["full"].begin()->second, start["full"].rbegin()->second);
    EXPECT_NE(end["full"], end["layer"]);
}

TEST_F(DrEndToEnd, TuningsAreCasesAndImpossibleOnesAreRefused) {
    const json result =
        assay_json({"run", "dr_post_training/sft_downstream", "-a", "model=llama-tiny", "-a",
                    "steps=6", "--variant", "layer", "--rounds", "1", "--db", database});
    if (result["samples"][0]["status"] == "unsupported")
        GTEST_SKIP() << result["samples"][0]["reason"];
    std::map<std::string, json> by_tuning;
    for (const json& sample : result["samples"]) {
        ASSERT_EQ(sample["status"], "ok") << sample;
        by_tuning[sample["case"]["tuning"]] = sample["metrics"];
    }
    ASSERT_EQ(by_tuning.size(), 3U) << result;
    EXPECT_EQ(by_tuning["lora"]["perplexity_at_start"], by_tuning["full"]["perplexity_at_start"]);
    EXPECT_NE(by_tuning["lora"]["perplexity"], by_tuning["full"]["perplexity"]);
    EXPECT_NE(by_tuning["meso"]["perplexity"], by_tuning["full"]["perplexity"]);
    EXPECT_GT(by_tuning["meso"]["steps_equal_time"], 0);
    for (const char* bad : {"model=smollm2", "tuning=qlora"}) {
        const Printed printed =
            assay({"run", "dr_post_training/sft_perplexity", "-a", bad, "--db", database});
        EXPECT_EQ(printed.exit_code, 1) << bad << printed.err;
        EXPECT_EQ(printed.out, "") << bad;
    }
}

TEST_F(DrEndToEnd, FaultsLeaveNoTraceAndImpossibleOnesAreRefused) {
    const json result = assay_json(
        {"run", "dr_post_training/x_faults", "-a", "steps=6", "--variant", "layer", "--rounds", "1",
         "--fault", "kill:rank=0@step=2", "--fault", "nan:rank=1@step=4", "--db", database});
    if (result["samples"][0]["status"] == "unsupported")
        GTEST_SKIP() << result["samples"][0]["reason"];
    ASSERT_EQ(result["samples"][0]["status"], "ok") << result;
    EXPECT_EQ(result["samples"][0]["metrics"]["state_equal_to_oracle"], 1);
    EXPECT_EQ(result["samples"][0]["metrics"]["faults_fired"], 2);
    for (const char* fault : {"link:rank=0,peer=1,latency=1@step=1", "nan:rank=0@step=99",
                              "nan:rank=3@step=1", "join:@step=1"}) {
        const Printed printed =
            assay({"run", "dr_post_training/x_faults", "--fault", fault, "--db", database});
        EXPECT_EQ(printed.exit_code, 1) << fault << printed.err;
        EXPECT_EQ(printed.out, "") << fault;
    }
}

}  // namespace
}  // namespace assay::testing
