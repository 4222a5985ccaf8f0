// Where data lies: ASSAY_DATA before XDG_DATA_HOME before the home folder.
#include <gtest/gtest.h>

#include <cstdlib>

#include "suite/data/catalog.hpp"

namespace assay::data {
namespace {

class Folder : public testing::Test {
  protected:
    void SetUp() override {
        unsetenv("ASSAY_DATA");
        unsetenv("XDG_DATA_HOME");
        setenv("HOME", "/home/somebody", 1);
    }
};

TEST_F(Folder, IsBelowTheHomeFolder) {
    EXPECT_EQ(folder(), "/home/somebody/.local/share/assay/data");
}

TEST_F(Folder, FollowsXdg) {
    setenv("XDG_DATA_HOME", "/data/of/somebody", 1);
    EXPECT_EQ(folder(), "/data/of/somebody/assay/data");
}

TEST_F(Folder, IgnoresARelativeXdgFolderAsItsSpecificationDemands) {
    setenv("XDG_DATA_HOME", "data", 1);
    EXPECT_EQ(folder(), "/home/somebody/.local/share/assay/data");
}

TEST_F(Folder, FollowsAssayDataFirst) {
    setenv("XDG_DATA_HOME", "/data/of/somebody", 1);
    setenv("ASSAY_DATA", "corpora", 1);
    EXPECT_EQ(folder(), "corpora");
}

}  // namespace
}  // namespace assay::data
