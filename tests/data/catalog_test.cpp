// The catalogue that comes with the project.
#include "suite/data/catalog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace assay::data {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Catalog, TheProjectsOwnFileParses) {
    EXPECT_EQ(find("bible-kjv").kind, Kind::corpus);
    EXPECT_EQ(find("smartmoe-loads").format, Format::expert_loads);
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

}  // namespace
}  // namespace assay::data
