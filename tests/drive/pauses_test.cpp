#include "suite/drive/pauses.hpp"

#include <gtest/gtest.h>

namespace assay::drive {
namespace {

enum class Kind { save, restart };

TEST(Pauses, AddUpByKindUpToATime) {
    Pauses<Kind> pauses;
    pauses.add(Kind::save, 10, 14);
    pauses.add(Kind::restart, 20, 50);
    pauses.add(Kind::save, 60, 60);  // took no time
    EXPECT_EQ(pauses.spans().size(), 2U);
    EXPECT_EQ(pauses.seconds(Kind::save, 100), 4);
    EXPECT_EQ(pauses.seconds(Kind::save, 12), 2);
    EXPECT_EQ(pauses.seconds(Kind::restart, 15), 0);
    EXPECT_EQ(pauses.seconds(Kind::restart, 100), 30);
}

TEST(Pauses, WhatIsBrokenOffEndsThereAndNeverBeforeItBegan) {
    Pauses<Kind> pauses;
    pauses.add(Kind::save, 10, 14);
    pauses.add(Kind::restart, 20, 50);
    pauses.end_at(30);
    EXPECT_EQ(pauses.seconds(Kind::save, 100), 4);
    EXPECT_EQ(pauses.seconds(Kind::restart, 100), 10);
    pauses.end_at(5);
    EXPECT_EQ(pauses.seconds(Kind::restart, 100), 0);
    EXPECT_EQ(pauses.seconds(Kind::save, 100), 0);
}

}  // namespace
}  // namespace assay::drive
