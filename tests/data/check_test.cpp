#include "suite/data/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "suite/data/fetch.hpp"
#include "tests/data/own_catalog.hpp"

namespace assay::data {
namespace {

using testing::HasSubstr;

using CheckOfData = OwnCatalog;

TEST_F(CheckOfData, WhatIsNotThereIsAbsentAndNoError) {
    for (const Check& result : check_all()) {
        EXPECT_EQ(result.state, State::absent) << result.id;
        EXPECT_EQ(result.says, "");
    }
    EXPECT_EQ(check_all().size(), catalog().size());
}

TEST_F(CheckOfData, FetchedDataIsRight) {
    fetch("verses");
    EXPECT_EQ(check(find("verses")).state, State::ok);
}

TEST_F(CheckOfData, AChangedByteIsNoticed) {
    std::filesystem::create_directories(data_);
    write_file(data_ / "trace.csv", right_trace);
    EXPECT_EQ(check(find("trace")).state, State::ok);
    std::string changed = right_trace;
    changed[2] = 'A';  // still no valid trace
    write_file(data_ / "trace.csv", changed);
    EXPECT_EQ(check(find("trace")).state, State::malformed);
    changed = right_trace;
    changed[8] = '6';  // valid, but another time
    write_file(data_ / "trace.csv", changed);
    const Check result = check(find("trace"));
    EXPECT_EQ(result.state, State::changed);
    EXPECT_THAT(result.says, HasSubstr("is known"));
}

}  // namespace
}  // namespace assay::data
