#include "impls/tensors/module.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <typeinfo>

#include "suite/base/error.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/measure/build_info.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/tensors/test_functions.hpp"

namespace assay::tensors {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

Module test_module() { return {TEST_MODULE, measure::build_id_of(TEST_MODULE)}; }

void run(const std::string& variant, Recorder& recorder) {
    SampleSpec spec;
    spec.variant = variant;
    static_cast<const TestFunctions*>(find(test_module(), TestFunctions::symbol))
        ->run(spec, recorder);
}

/// What find() says of the module, which is not opened.
std::string refusal_of(const Module& module) {
    const auto reason = module_lacks(module);
    EXPECT_TRUE(reason);
    try {
        find(module, TestFunctions::symbol);
        ADD_FAILURE() << "opened " << module.file;
    } catch (const NotSupportedHere& error) {
        EXPECT_EQ(error.what(), *reason);
    }
    return reason.value_or("");
}

TEST(TensorsModule, ReportsThroughTheRecorderOfItsCaller) {
    EXPECT_EQ(module_lacks(test_module()), std::nullopt);
    MemoryRecorder recorder;
    run("records", recorder);
    ASSERT_EQ(recorder.metrics.size(), 1u);
    EXPECT_EQ(recorder.metrics[0].value, 2);
    EXPECT_EQ(recorder.metrics[0].labels, (Labels{{"layer", std::int64_t{1}}}));
    ASSERT_EQ(recorder.events.size(), 1u);
    EXPECT_EQ(recorder.events[0].detail["kind"], "kill");
}

TEST(TensorsModule, ErrorsArriveAsWhatTheyWereThrownAs) {
    MemoryRecorder recorder;
    try {
        run("SampleError", recorder);
        ADD_FAILURE();
    } catch (const SampleError& error) {
        EXPECT_EQ(error.status(), SampleStatus::invalid);
        EXPECT_STREQ(error.what(), "too slow");
    }
    EXPECT_THROW(run("NotSupportedHere", recorder), NotSupportedHere);
    try {
        run("UserError", recorder);
        ADD_FAILURE();
    } catch (const UserError& error) {
        EXPECT_EQ(typeid(error), typeid(UserError));
    }
}

TEST(TensorsModule, OneThatIsMissingOrOfAnotherBuildIsRefusedUnopened) {
    const testing::TemporaryFolder folder;
    const fs::path file = folder / "libassay_tensors.so";
    const std::string build = test_module().build;
    EXPECT_THAT(refusal_of({file, build}), HasSubstr(file.string() + " is missing"));
    std::ofstream(file) << "not a library";
    EXPECT_THAT(refusal_of({file, build}), HasSubstr(file.string() + " is of another build"));
    std::string other = build;
    other[0] = other[0] == '0' ? '1' : '0';
    EXPECT_THAT(refusal_of({TEST_MODULE, other}), HasSubstr("is of another build"));
}

TEST(TensorsModule, SaysWhatItDoesNotHave) {
    try {
        find(test_module(), "assay_no_such_tensors");
        ADD_FAILURE();
    } catch (const NotSupportedHere& error) {
        EXPECT_THAT(error.what(), HasSubstr("assay_no_such_tensors"));
    }
}

TEST(TensorsModule, AHeldOneStaysThoughAnotherTakesItsPlace) {
    const testing::EnvironmentVariable restored("ASSAY_TENSORS", "");
    const testing::TemporaryFolder folder;
    const fs::path file = folder / "libassay_tensors.so";
    fs::copy_file(TEST_MODULE, file);
    hold_module({file, test_module().build});
    std::ofstream(folder / "newer") << "not a library";
    fs::rename(folder / "newer", file);
    ASSERT_NE(measure::build_id_of(file), test_module().build);
    const std::string held = std::getenv("ASSAY_TENSORS");
    EXPECT_EQ(measure::build_id_of(held), test_module().build);
    EXPECT_NO_THROW(find({held, test_module().build}, TestFunctions::symbol));
    // It is not this program's, which looks beside itself then.
    EXPECT_EQ(program_module().file,
              fs::read_symlink("/proc/self/exe").parent_path() / "libassay_tensors.so");
}

}  // namespace
}  // namespace assay::tensors
