#include "suite/base/date.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include <string>

namespace assay {
namespace {

/// Two hours before UTC in winter, one more in summer.
class DateTest : public ::testing::Test {
  protected:
    DateTest() { set("XXX-2YYY,M3.5.0,M10.5.0"); }
    ~DateTest() override { set(nullptr); }

    static void set(const char* zone) {
        if (zone != nullptr)
            ::setenv("TZ", zone, 1);
        else
            ::unsetenv("TZ");
        ::tzset();
    }
    /// In UTC; "" for what is no date.
    static std::string utc(std::string_view text) {
        const auto date = read_date(text);
        if (!date) return "";
        const auto ms =
            std::chrono::floor<std::chrono::milliseconds>(date->time_since_epoch()).count();
        const std::time_t seconds = ms / 1000;
        std::tm fields{};
        ::gmtime_r(&seconds, &fields);
        char told[32];
        std::strftime(told, sizeof told, "%Y-%m-%dT%H:%M:%S", &fields);
        return told + (ms % 1000 == 0 ? std::string() : "." + std::to_string(ms % 1000));
    }
};

TEST_F(DateTest, AnOffsetSaysWhichMomentItIs) {
    EXPECT_EQ(utc("2026-11-21T02:03:04.567Z"), "2026-11-21T02:03:04.567");
    EXPECT_EQ(utc("2026-11-21T02:03:04+01:00"), "2026-11-21T01:03:04");
    EXPECT_EQ(utc("2026-11-21 02:03:04 -0530"), "2026-11-21T07:33:04");
    EXPECT_EQ(utc("2026-11-21T02:03:04.5+01"), "2026-11-21T01:03:04.500");
    EXPECT_EQ(utc("2026-11-21T02:03Z"), "2026-11-21T02:03:00");
    EXPECT_EQ(utc("2026-11-21T02:03:04.123456789Z"), "2026-11-21T02:03:04.123");
}

TEST_F(DateTest, WithoutOneItIsLocalTime) {
    EXPECT_EQ(utc("2015-03-17 18:40:51"), "2015-03-17T16:40:51");
    EXPECT_EQ(utc("2015-07-17 18:40:51"), "2015-07-17T15:40:51") << "summer";
    EXPECT_EQ(utc("2015-03-29 18:40:51"), "2015-03-29T15:40:51") << "summer began that morning";
    EXPECT_EQ(utc("2015-03-17T18:40"), "2015-03-17T16:40:00");
    EXPECT_EQ(utc("2015-03-17"), "2015-03-16T22:00:00");
}

TEST_F(DateTest, SlashesMayStandBetween) {
    EXPECT_EQ(utc("2015/03/17 18:40:51"), "2015-03-17T16:40:51");
    EXPECT_EQ(utc("03/17/15 18:40:51"), "2015-03-17T16:40:51") << "%x %X";
    EXPECT_EQ(utc("3/7/2015 8:40:51"), "2015-03-07T06:40:51");
    EXPECT_EQ(utc("12/31/99 00:00:00"), "1999-12-30T22:00:00");
}

TEST_F(DateTest, NeighboursOfRfc3339AreTheSameMoment) {
    for (const char* text :
         {"2026-10-25T02:00:00.123+0530", "2026-10-25T02:00:00,123 +05:30",
          "2026-10-25 02:00:00.123456 +0530", "20261025T020000.123+0530",
          "2026-10-24 20:30:00.123 UTC", "20261024-203000.123Z", "1792873800.123", "1792873800123"})
        EXPECT_EQ(utc(text), "2026-10-24T20:30:00.123") << text;
}

TEST_F(DateTest, ImpossibleOnesSayWhatThereIsNot) {
    EXPECT_EQ(impossible_date("2026-10-25T25:00:00+00:00"), "there is no hour 25");
    EXPECT_EQ(impossible_date("2026-10-25 02:61"), "there is no minute 61");
    EXPECT_EQ(impossible_date("2026-10-25T02:00:61Z"), "there is no second 61");
    EXPECT_EQ(impossible_date("2026-10-25T02:00:00+99:99"), "there is no offset of hours 99");
    EXPECT_EQ(impossible_date("2026-13-25"), "there is no month 13");
    EXPECT_EQ(impossible_date("2026-02-30T02:00:00Z"), "that month has no day 30");
    EXPECT_EQ(impossible_date("1899-02-03"), "there is no year 1899");
    for (const char* text :
         {"", "yesterday", "17/03/15", "2026-10-25T02:00:00Z", "2026-10-25T02:00 EST"})
        EXPECT_EQ(impossible_date(text), "") << text;
}

TEST_F(DateTest, WhatIsNoDateIsNone) {
    for (const char* text : {"",
                             "today",
                             "1",
                             "2026",
                             "2026-11",
                             "2026-13-01",
                             "2026-02-30",
                             "2026-11-21T",
                             "17/03/15",
                             "2026-11-21T24:00:00Z",
                             "2026-11-21T02:60:00Z",
                             "2026-11-21T02:03:04+1",
                             "2026-1121",
                             "2026-11-21T02:03:04 EST",
                             "2026-11-21T02:03:04.Z",
                             "1899-01-01",
                             "2026-11/21",
                             "999999999-01-01",
                             "2026-11-21T02:03:04+24:00",
                             "2026-11-21T02:03:04Zx"})
        EXPECT_EQ(utc(text), "") << text;
}

}  // namespace
}  // namespace assay
