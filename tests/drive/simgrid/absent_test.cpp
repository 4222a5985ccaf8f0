// Without SimGrid everything else works, and who asks for it is told how to get it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "suite/base/error.hpp"
#include "suite/drive/simgrid/flow_network.hpp"
#include "tests/base/shell.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/drive/simgrid/small_networks.hpp"

namespace assay::drive {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;

/// What this program says about SimGrid where it is; the test below starts it elsewhere.
TEST(SimGridAbsent, IsNotSupportedHereAndSaysWhatToDo) {
    const auto lacks = flow_engine_lacks();
    if (!lacks) GTEST_SKIP() << "SimGrid is there";
    EXPECT_THAT(*lacks, AnyOf(HasSubstr("scripts/dependencies fetches it"),
                              HasSubstr("build the target assay_simgrid_module")));
    EXPECT_THROW(FlowNetwork(std::make_shared<RankFlows>(Topology(testing::one_switch(1)), 2)),
                 NotSupportedHere);
    std::printf("lacks: %s\n", lacks->c_str());
}

TEST(SimGridAbsent, WithoutItsModuleAProgramRunsAndSaysSo) {
    const testing::TemporaryFolder folder;
    const fs::path program = folder / "simgrid_test";
    fs::copy_file(fs::read_symlink("/proc/self/exe"), program);
    const auto printed = [&] {
        return testing::printed_by(
            testing::shell(program.string() + " --gtest_filter='*SaysWhatToDo'"));
    };
    EXPECT_THAT(printed(), AnyOf(HasSubstr("lacks: " + (folder / "libassay_simgrid.so").string() +
                                           " is missing"),
                                 HasSubstr("lacks: this program was built without SimGrid")));
    std::ofstream(folder / "libassay_simgrid.so") << "no library";
    EXPECT_THAT(printed(), AnyOf(HasSubstr("cannot be loaded"), HasSubstr("built without")));
}

}  // namespace
}  // namespace assay::drive
