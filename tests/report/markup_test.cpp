#include "suite/report/markup.hpp"

#include <gtest/gtest.h>

namespace assay::report {

TEST(Escaped, MarkupBecomesText) {
    EXPECT_EQ(escaped("<a href=\"x\" & 'y'>"), "&lt;a href=&quot;x&quot; &amp; &#39;y&#39;&gt;");
    EXPECT_EQ(escaped("grün\n→\t😀"), "grün\n→\t😀");
}

TEST(Escaped, WhatXmlCannotHoldIsReplaced) {
    EXPECT_EQ(escaped(std::string("a\0b\x1b[0m", 7)), "a\uFFFDb\uFFFD[0m");
    EXPECT_EQ(escaped("\xff\xc3"), "\uFFFD\uFFFD");
    EXPECT_EQ(escaped("\xef\xbf\xbf"), "\uFFFD");
    EXPECT_EQ(escaped("\u202ea\u0085\u2028"), "\uFFFDa\uFFFD\uFFFD") << "nor what turns text round";
}

TEST(AsId, KeepsOnlyWhatIdsMayHold) { EXPECT_EQ(as_id("lazarus/fig 8_ü"), "lazarus-fig-8---"); }

}  // namespace assay::report
