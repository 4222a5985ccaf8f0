// Loading plug-ins that are right, old, empty, incomplete, nameless, broken or absent.
#include "kernels/plugin/cuda_plugin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "suite/base/error.hpp"

namespace assay::kernels {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class WithVariable : public testing::Test {
  protected:
    void TearDown() override { unsetenv("ASSAY_KERNELS_CUDA"); }
};

std::string refusal_of(const char* file) {
    const Plugin plugin = load_plugin(file);
    EXPECT_EQ(plugin.kernels, nullptr) << file;
    return plugin.why_not;
}

TEST(CudaPlugin, LoadsOneOfThisVersion) {
    const Plugin plugin = load_plugin(FAKE_RIGHT);
    ASSERT_NE(plugin.kernels, nullptr) << plugin.why_not;
    EXPECT_EQ(plugin.why_not, "");
    EXPECT_STREQ(plugin.kernels->name, "cuda/fake");
    AssayContext* const context = plugin.kernels->create(0, 0, nullptr);
    EXPECT_STREQ(plugin.kernels->last_error(context), "fake");
    EXPECT_EQ(plugin.kernels->gemv, nullptr);  // a back end may lack a kernel
}

TEST(CudaPlugin, SaysWhyOthersCannotBeUsed) {
    EXPECT_THAT(refusal_of(FAKE_OLD),
                AllOf(HasSubstr("version " + std::to_string(ASSAY_KERNELS_VERSION - 1) +
                                " of the kernel interface"),
                      HasSubstr("build both from the same source")));
    EXPECT_THAT(refusal_of(FAKE_NULL),
                AllOf(HasSubstr("not supported here"), HasSubstr("no NVIDIA driver")));
    EXPECT_EQ(refusal_of(FAKE_LACKING),
              "CUDA kernels are not supported here: the driver is too old");
    EXPECT_THAT(refusal_of(FAKE_INCOMPLETE), HasSubstr("lacks functions"));
    EXPECT_THAT(refusal_of(FAKE_NAMELESS), HasSubstr("has no assay_cuda_kernels()"));
}

TEST(CudaPlugin, SaysWhereAnAbsentFileWasSought) {
    EXPECT_THAT(refusal_of("/nonexistent/kernels.so"),
                AllOf(HasSubstr("not supported here"), HasSubstr("/nonexistent/kernels.so"),
                      HasSubstr("ASSAY_KERNELS_CUDA")));
    // A bare name is a file of the working folder, not one of the system's libraries.
    EXPECT_THAT(refusal_of("libm.so.6"), HasSubstr("does not exist"));
}

TEST(CudaPlugin, SaysWhyABrokenFileCannotBeLoaded) {
    const std::string file = testing::TempDir() + "assay_broken_plugin.so";
    std::ofstream(file) << "not a library";
    EXPECT_THAT(refusal_of(file.c_str()), AllOf(HasSubstr("cannot be loaded"), HasSubstr(file)));
    std::filesystem::remove(file);
}

TEST_F(WithVariable, TheFileLiesBesideTheProgramOrWhereTheEnvironmentSays) {
    EXPECT_EQ(cuda_plugin_file(), std::filesystem::read_symlink("/proc/self/exe").parent_path() /
                                      "libassay_kernels_cuda.so");
    setenv("ASSAY_KERNELS_CUDA", "", 1);
    EXPECT_EQ(cuda_plugin_file().filename(), "libassay_kernels_cuda.so");
    setenv("ASSAY_KERNELS_CUDA", "/elsewhere/kernels.so", 1);
    EXPECT_EQ(cuda_plugin_file(), "/elsewhere/kernels.so");
}

TEST_F(WithVariable, ThrowsNotSupportedHereWithoutOne) {
    setenv("ASSAY_KERNELS_CUDA", FAKE_NULL, 1);
    EXPECT_THROW(cuda_kernels(), NotSupportedHere);
    EXPECT_FALSE(cuda_plugin().why_not.empty());
    // Once for the whole program.
    setenv("ASSAY_KERNELS_CUDA", FAKE_RIGHT, 1);
    EXPECT_EQ(cuda_plugin().kernels, nullptr);
}

}  // namespace
}  // namespace assay::kernels
