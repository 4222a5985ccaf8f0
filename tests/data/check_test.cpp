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
    for (const Check& result : check_all(own_formats)) {
        EXPECT_EQ(result.state, State::absent) << result.id;
        EXPECT_EQ(result.says, "");
    }
    EXPECT_EQ(check_all(own_formats).size(), catalog().size());
}

TEST_F(CheckOfData, AFormatThatNobodyKnowsIsAMistakeInTheCatalogue) {
    try {
        check(find("loads"), {{"expert_load", [](std::istream&) {}}});
        FAIL() << "accepted";
    } catch (const DataError& error) {
        EXPECT_STREQ(error.what(),
                     "the catalogue's entry loads: no format is called \"expert_loads\", did you "
                     "mean \"expert_load\"?; known are gguf, node_trace, text, expert_load");
    }
}

TEST_F(CheckOfData, TheFormatOfASystemIsChecked) {
    std::filesystem::create_directories(data_);
    write_file(data_ / "loads.csv", right_loads);
    EXPECT_EQ(check(find("loads"), own_formats).state, State::ok);
    const DataFormats refuses = {
        {"expert_loads", [](std::istream&) { throw DataError("line 1: no"); }}};
    const Check result = check(find("loads"), refuses);
    EXPECT_EQ(result.state, State::malformed);
    EXPECT_EQ(result.says, "line 1: no");
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
