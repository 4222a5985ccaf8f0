// assay calibrate machine and fit, as a user types them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "suite/scenario/operation_metrics.hpp"
#include "suite/store/store.hpp"
#include "tests/cli/program.hpp"

namespace assay::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CalibrateTest : public ::testing::Test {
  protected:
    TemporaryFolder folder;
    EnvironmentVariable data{"ASSAY_DATA", (folder / "data").string()};
    EnvironmentVariable lock{"ASSAY_LOCK", (folder / "lock").string()};

    static Printed calibrate(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"calibrate", "machine"});
        return run_program(ASSAY_DUMMY_PROGRAM, std::move(arguments));
    }
};

TEST_F(CalibrateTest, WritesProfilesThatTheCostModelTakes) {
    EXPECT_THROW(cluster_profile("this-machine"), UserError);
    const Printed printed = calibrate({"--quick", "--json"});
    ASSERT_EQ(printed.exit_code, 0) << printed.err;
    EXPECT_THAT(printed.err,
                AllOf(HasSubstr("measuring matrix products (1 of 7)"), HasSubstr("(7 of 7)")));
    const CostModel model(cluster_profile("this-machine"));
    const json said = json::parse(printed.out);
    EXPECT_EQ(said["device"], to_json(model.device(0))) << "what is printed is what is written";
    EXPECT_EQ(said["cluster"], to_json(model.cluster()));
    EXPECT_EQ(said["files"]["device"], this_machine_device_file().string());

    EXPECT_GE(said["load"], 0);
    EXPECT_EQ(said["readings"].size(), 7U);
    for (const json& reading : said["readings"]) {
        const std::string name = reading["name"];
        SCOPED_TRACE(name);
        EXPECT_EQ(reading["values"].size(), 3U);
        const json& number =
            said["device"].contains(name) ? said["device"][name] : said["cluster"][name];
        EXPECT_EQ(number["value"], reading["median"]);
        EXPECT_EQ(number["kind"], "measured");
        EXPECT_THAT(number["source"].get<std::string>(),
                    AllOf(StartsWith("assay calibrate machine, 20"), HasSubstr("median of 3")));
    }
    // What is not measured does not say that it is.
    for (const char* name : {"matmul_efficiency", "memory_efficiency", "launch_s"})
        EXPECT_EQ(said["device"][name]["kind"], "assumed") << name;
    for (const char* name : {"link_efficiency", "regroup_s"})
        EXPECT_EQ(said["cluster"][name]["kind"], "assumed") << name;
    EXPECT_THAT(said["device"]["matmul_flops"]["source"].get<std::string>(),
                HasSubstr("our blocked fp32 kernel"));
    EXPECT_GT(model.compute(0, {.flops = 1e9}), 0);

    const Printed table = calibrate({"--quick"});
    EXPECT_EQ(table.exit_code, 0) << table.err;
    EXPECT_THAT(table.out, AllOf(HasSubstr("FLOP/s"), HasSubstr("bytes/s"), HasSubstr("least to"),
                                 HasSubstr("this-machine.toml")));
}

TEST_F(CalibrateTest, AFolderThatCannotBeWrittenIsSaidBeforeMeasuring) {
    std::ofstream(folder / "data") << "a file where the folder should be";
    const Printed printed = calibrate({"--quick"});
    EXPECT_EQ(printed.exit_code, 1);
    EXPECT_THAT(printed.err, AllOf(StartsWith("assay: the profiles cannot be written to "),
                                   HasSubstr("set ASSAY_DATA")));
    EXPECT_EQ(printed.out, "");
}

TEST_F(CalibrateTest, MistakesAreSentences) {
    const Printed unknown = run_program(ASSAY_DUMMY_PROGRAM, {"calibrate", "machin"});
    EXPECT_EQ(unknown.exit_code, 1);
    EXPECT_THAT(unknown.err, HasSubstr("did you mean 'machine'?"));
    EXPECT_EQ(run_program(ASSAY_DUMMY_PROGRAM, {"calibrate"}).exit_code, 1);
    EXPECT_FALSE(std::filesystem::exists(folder / "data"));
}

// ---- fit ---------------------------------------------------------------------------------------

/// A database of made-up samples whose truth is known: of the t4's roofline, "experts" reach 0.4
/// and launch in 20 us; "head" was measured at one size only.
class CalibrateFitTest : public ::testing::Test {
  protected:
    TemporaryFolder folder;
    EnvironmentVariable data{"ASSAY_DATA", (folder / "data").string()};
    std::string database = (folder / "results.db").string();
    store::Store store = store::Store::open(database, store::Access::write);
    DeviceProfile t4 = device_profile("t4");

    std::string begin(const std::string& machine = "aaaaaaaaaaaaaaaa") {
        store.put_machine({machine, {}});
        store::Session session;
        session.id =
            std::string(8, '1' + char(store.sessions().size())) + "-0000-4000-8000-000000000000";
        session.machine = machine;
        session.suspects = {{"host", "host-" + machine.substr(0, 1)}};
        session.started = store::now_utc();
        store.begin_session(session);
        return session.id;
    }
    double exact(const Work& work) const {
        return roofline_s(t4, work) / 0.4 + work.kernels * 20e-6;
    }

    void add(const std::string& session, std::int64_t size, double seconds_factor = 1,
             const std::string& variant = "v", Provenance provenance = Provenance::measured) {
        SampleSpec spec;
        spec.experiment = "dummy/operations";
        spec.variant = variant;
        spec.axes = {{"size", size}};
        spec.provenance = provenance;
        store::SeriesKey key{spec.experiment, spec.variant, spec.axes, spec.profile, provenance};
        key.hardware = store.session(session)->machine;
        store::Sample sample;
        sample.id = store.begin_sample(session, spec, key);
        sample.status = "ok";
        const auto record = [&](const char* name, const Work& work) {
            const Labels labels{{operation_label, std::string(name)}};
            sample.metrics.push_back({operation_seconds, labels, exact(work) * seconds_factor});
            sample.metrics.push_back({operation_flops, labels, work.flops});
            sample.metrics.push_back({operation_bytes, labels, work.bytes});
            sample.metrics.push_back({operation_kernels, labels, work.kernels});
        };
        record("experts", {.flops = 1e9 * double(size), .bytes = 1e6, .kernels = 3});
        record("head", {.flops = 1e9, .bytes = 1e6, .kernels = 3});
        sample.metrics.push_back({"plain_s", {}, 1e-3 * double(size)});
        sample.metrics.push_back({"plain_bytes", {}, 1e8 * double(size)});
        store.finish_sample(sample);
    }
    std::string fill() {
        const std::string session = begin();
        for (const std::int64_t size : {1, 4, 16, 64}) add(session, size);
        return session;
    }
    Printed fit(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"calibrate", "fit", "dummy/operations", "--device",
                                             "t4", "--db", database});
        return run_program(ASSAY_DUMMY_PROGRAM, std::move(arguments));
    }
    std::string refusal(std::vector<std::string> arguments = {}) {
        const Printed printed = fit(std::move(arguments));
        EXPECT_EQ(printed.exit_code, 1) << printed.out;
        return printed.err;
    }
};

TEST_F(CalibrateFitTest, WritesAProfileWhoseNumbersSayWhatTheyAreFrom) {
    const std::string session = fill(), file = (folder / "mine.toml").string();
    const Printed printed = fit({"-o", file, "--id", "mine", "--json"});
    ASSERT_EQ(printed.exit_code, 0) << printed.err;
    const DeviceProfile written = device_profile(file);
    const json said = json::parse(printed.out);
    EXPECT_EQ(said["device"], to_json(written)) << "what is printed is what is written";
    EXPECT_EQ(said["file"], file);
    EXPECT_EQ(said["sessions"], json::array({session}));
    EXPECT_EQ(written.id, "mine");
    EXPECT_EQ(written.matmul_flops, t4.matmul_flops) << "the peaks stay";
    ASSERT_EQ(written.operations.size(), 1U);
    const OperationProfile& experts = written.operations.at("experts");
    EXPECT_NEAR(experts.efficiency.value, 0.4, 1e-9);
    EXPECT_NEAR(experts.launch_s.value, 20e-6, 1e-12);
    for (const Sourced& number : {experts.efficiency, experts.launch_s}) {
        EXPECT_EQ(number.kind, "fitted");
        EXPECT_EQ(number.fitted_from, std::vector<std::string>{session});
        EXPECT_THAT(number.source, AllOf(HasSubstr("assay calibrate fit dummy/operations, 20"),
                                         HasSubstr("4 durations on host-a")));
    }
    ASSERT_EQ(said["operations"].size(), 1U);
    EXPECT_EQ(said["operations"][0]["samples"].size(), 4U);
    EXPECT_NEAR(said["operations"][0]["residual_worst"].get<double>(), 0, 1e-9);
    // The other operation has one size only; that does not stop this one.
    EXPECT_THAT(said["refused"].dump(), HasSubstr("operation 'head': all 4 samples"));
}

TEST_F(CalibrateFitTest, PrintsTheResidualOfEverySample) {
    const std::string session = fill();
    add(session, 32, 1.5);  // took half as long again as it should
    const Printed printed = fit({"--launch", "20e-6"});
    ASSERT_EQ(printed.exit_code, 0) << printed.err;
    EXPECT_THAT(printed.out,
                AllOf(HasSubstr("size=32"), HasSubstr("size=64"), HasSubstr("residual"),
                      HasSubstr("nothing is written; -o FILE")));
    const json said = json::parse(fit({"--launch", "20e-6", "--json"}).out);
    const json& experts = said["operations"][0];
    EXPECT_EQ(experts["operation"], "experts");
    EXPECT_EQ(experts["samples"].size(), 5U);
    EXPECT_LT(experts["residual_worst"], -0.2);
    EXPECT_EQ(said["device"]["operations"]["experts"]["launch_s"]["kind"], "assumed");
    EXPECT_EQ(said["operations"][1]["operation"], "head")
        << "with the launch given, one size will do";
}

TEST_F(CalibrateFitTest, TakesMetricsOfOtherNames) {
    fill();
    const Printed printed =
        fit({"--seconds", "plain_s", "--bytes", "plain_bytes", "--operation", "copy", "--json"});
    ASSERT_EQ(printed.exit_code, 0) << printed.err;
    const json copy = json::parse(printed.out)["operations"][0];
    EXPECT_EQ(copy["operation"], "copy");
    EXPECT_NEAR(copy["efficiency"], 1e11 / t4.memory_bandwidth.value, 1e-9);
    EXPECT_THAT(refusal({"--seconds", "plain_s", "--bytes", "plain_bytes"}),
                HasSubstr("--operation NAME"));
    EXPECT_THAT(refusal({"--seconds", "plain_s", "--bytes", "plane_bytes", "--operation", "copy"}),
                HasSubstr("records no metric 'plane_bytes'"));
    EXPECT_THAT(refusal({"--seconds", "nothing_s"}), HasSubstr("no metric 'nothing_s'"));
}

TEST_F(CalibrateFitTest, RefusesWhatDoesNotBelongTogether) {
    EXPECT_THAT(refusal(), HasSubstr("no measured samples of dummy/operations"));
    const std::string first = fill();
    add(first, 8, 1, "w");
    EXPECT_THAT(refusal(), AllOf(HasSubstr("several variants (v, w)"), HasSubstr("--variant")));
    EXPECT_EQ(fit({"--variant", "v"}).exit_code, 0);
    const std::string second = begin("bbbbbbbbbbbbbbbb");
    for (const std::int64_t size : {1, 4, 16}) add(second, size, 3);
    EXPECT_THAT(refusal({"--variant", "v"}), HasSubstr("several machines"));
    const Printed chosen = fit({"--session", second, "--json"});
    ASSERT_EQ(chosen.exit_code, 0) << chosen.err;
    EXPECT_NEAR(json::parse(chosen.out)["operations"][0]["efficiency"], 0.4 / 3, 1e-9);
}

// A model fitted to its own output would agree with itself.
TEST_F(CalibrateFitTest, ModelledTimesFitNothing) {
    const std::string session = begin();
    for (const std::int64_t size : {1, 4, 16}) add(session, size, 1, "v", Provenance::emulated);
    EXPECT_THAT(refusal(), HasSubstr("took their times from a cost model"));
}

TEST_F(CalibrateFitTest, WhenNothingCanBeFittedItSaysWhyAndWritesNothing) {
    const std::string session = begin();
    add(session, 4);
    const std::string file = (folder / "mine.toml").string();
    EXPECT_THAT(refusal({"-o", file}),
                AllOf(HasSubstr("nothing can be fitted: operation 'experts'"),
                      HasSubstr("1 sample for 2 unknowns")));
    EXPECT_FALSE(std::filesystem::exists(file));
    const Printed unknown = run_program(
        ASSAY_DUMMY_PROGRAM, {"calibrate", "fit", "dummy/operations", "--device", "no-such"});
    EXPECT_THAT(unknown.err, HasSubstr("no device profile 'no-such'"));
}

}  // namespace
}  // namespace assay::testing
