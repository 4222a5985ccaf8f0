#include "suite/measure/gpus.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace assay::measure {

TEST(Gpus, NamesMemoryAndDriverComeFromTheLibrary) {
    const Gpus gpus = read_gpus(FAKE_NVML);
    ASSERT_EQ(gpus.devices.size(), 2u);
    EXPECT_EQ(gpus.devices[0].name, "NVIDIA H200");
    EXPECT_EQ(gpus.devices[0].memory_bytes, 150754820096u);
    EXPECT_EQ(gpus.devices[1].name, "NVIDIA T4");
    EXPECT_EQ(gpus.devices[1].memory_bytes, 0u);
    EXPECT_EQ(gpus.driver, "580.12");
    EXPECT_EQ(gpus.reason, "");
}

TEST(Gpus, NoLibraryMeansNoGpusAndNoComplaint) {
    const Gpus gpus = read_gpus("libthere-is-no-such-library.so.1");
    EXPECT_TRUE(gpus.devices.empty());
    EXPECT_EQ(gpus.reason, "");
}

TEST(Gpus, ALibraryThatDoesNotStartIsNamedWithItsError) {
    setenv("ASSAY_FAKE_NVML_ERROR", "9", 1);
    const Gpus gpus = read_gpus(FAKE_NVML);
    unsetenv("ASSAY_FAKE_NVML_ERROR");
    EXPECT_TRUE(gpus.devices.empty());
    EXPECT_NE(gpus.reason.find("NVML error 9"), std::string::npos) << gpus.reason;
}

TEST(Gpus, ALibraryWithoutTheEntryPointsIsNotCalled) {
    const Gpus gpus = read_gpus(HOLLOW_NVML);
    EXPECT_TRUE(gpus.devices.empty());
    EXPECT_NE(gpus.reason.find("lacks entry points"), std::string::npos) << gpus.reason;
}

}  // namespace assay::measure
