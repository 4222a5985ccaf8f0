// The catalogue that comes with the project, and the folder where data lies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "suite/data/catalog.hpp"

namespace assay::data {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Catalog, TheProjectsOwnFileParses) {
    EXPECT_EQ(find("bible-kjv").kind, Kind::corpus);
    EXPECT_EQ(find("smartmoe-loads").format, "expert_loads");
    EXPECT_EQ(find("bamboo-p3-trace").licence, "MIT");
    EXPECT_EQ(find("smollm2-135m-instruct").kind, Kind::model);
}

TEST(Catalog, EverythingWithAKnownOriginHasAKnownHash) {
    for (const Entry& entry : catalog()) {
        EXPECT_TRUE(entry.sha256) << entry.id;
        EXPECT_TRUE(entry.size_bytes) << entry.id;
    }
}

TEST(Catalog, UnknownIdSuggestsTheNearest) {
    try {
        find("bible-kvj");
        FAIL() << "an unknown id was accepted";
    } catch (const DataError& error) {
        EXPECT_THAT(error.what(), HasSubstr("bible-kvj"));
        EXPECT_THAT(error.what(), HasSubstr("did you mean \"bible-kjv\""));
    }
}

TEST(Catalog, AnIdLikeNoneGetsNoSuggestion) {
    try {
        find("zzzzzzzzzzzz");
        FAIL() << "an unknown id was accepted";
    } catch (const DataError& error) {
        EXPECT_THAT(error.what(), Not(HasSubstr("did you mean")));
        EXPECT_THAT(error.what(), HasSubstr("assay data list"));
    }
}

/// Where data lies: ASSAY_DATA before XDG_DATA_HOME before the home folder.
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
