// `assay sample` started by hand does nothing but say so.
#include <gtest/gtest.h>

#include "suite/experiment/error.hpp"
#include "suite/runner/runner.hpp"
#include "suite/runner/sample_process.hpp"
#include "tests/runner/dummy_system.hpp"

namespace assay::runner {
namespace {

TEST(SampleMainDeathTest, WithoutARunnerItRefuses) {
    ::testing::GTEST_FLAG(death_test_style) = "fast";
    EXPECT_EXIT(
        {
            ::close(result_fd);
            try {
                sample_main(assay::testing::make_dummy_registry());
            } catch (const UserError& error) {
                ::_exit(std::string(error.what()).find("assay run") != std::string::npos ? 1 : 2);
            }
            ::_exit(0);
        },
        ::testing::ExitedWithCode(1), "");
}

}  // namespace
}  // namespace assay::runner
