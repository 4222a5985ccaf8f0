// Tables, numbers and markup: texts that hold what others chose.
#include <gtest/gtest.h>

#include <cmath>

#include "suite/report/markup.hpp"
#include "suite/report/text/terminal_text.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::report {

TEST(TextTable, NumbersAlignRightAndTextLeft) {
    EXPECT_EQ(text_table({{"name", "value"}, {"a", "1.5"}, {"longer", "–"}, {"b", "200"}}),
              "name    value\n"
              "──────  ─────\n"
              "a         1.5\n"
              "longer      –\n"
              "b         200\n");
}

TEST(TextTable, WidthIsWhatATerminalShows) {
    EXPECT_EQ(text_table({{"wörter", "x"}, {"日本", "y"}, {"e\u0301", "z"}}),
              "wörter  x\n"
              "──────  ─\n"
              "日本    y\n"
              "e\u0301       z\n");
}

TEST(TextTable, OneWordMakesAColumnText) {
    const std::string table = text_table({{"v"}, {"1"}, {"none"}});
    EXPECT_NE(table.find("\n1\n"), std::string::npos) << table;
}

TEST(TextTable, CellsMayHoldSeveralLinesAndRowsMayBeShort) {
    EXPECT_EQ(text_table({{"a", "b"}, {"one\nthree", "x"}, {"two"}}),
              "a      b\n"
              "─────  ─\n"
              "one    x\n"
              "three\n"
              "two\n");
    EXPECT_EQ(text_table({}), "");
}

TEST(TextTable, NarrowerTerminalsBreakWordsThenTurnRowsIntoBlocks) {
    const Grid grid{{"id", "what it is about", "n"},
                    {"lazarus/fig8", "Recovery probability of whole models", "8"},
                    {"lazarus/fig4", "Two plans", "12"}};
    EXPECT_EQ(text_table(grid, 80), text_table(grid));
    EXPECT_EQ(text_table(grid, 40),
              "id            what it is about       n\n"
              "────────────  ────────────────────  ──\n"
              "lazarus/fig8  Recovery probability   8\n"
              "              of whole models\n"
              "lazarus/fig4  Two plans             12\n");
    EXPECT_EQ(text_table(grid, 24),
              "id  lazarus/fig8\n"
              "what it is about\n"
              "  Recovery probability\n"
              "  of whole models\n"
              "n  8\n"
              "\n"
              "id  lazarus/fig4\n"
              "what it is about\n"
              "  Two plans\n"
              "n  12\n");
    EXPECT_EQ(text_table({{"id", "says"}, {"x/y/z/1234", "a word and others"}}, 20),
              "id    x/y/z/1234\n"
              "says  a word and\n"
              "      others\n");
}

TEST(Printable, WritesOutWhatNoTerminalMustGet) {
    EXPECT_EQ(printable("grün → 日本 😀 e\u0301"), "grün → 日本 😀 e\u0301");
    EXPECT_EQ(printable("a\x1b[31m\n\t\r\x07\x7f"), "a\\x1b[31m\\n\\t\\r\\x07\\x7f");
    EXPECT_EQ(printable("\u202eabc\u2066\u2028\u009b\ufeff"),
              "\\u202eabc\\u2066\\u2028\\u009b\\ufeff");
    EXPECT_EQ(printable("\xff\xc3("), "\\xff\\xc3(");
    EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
    EXPECT_EQ(printable("a\nb\x1b", "\n"), "a\nb\\x1b");
    EXPECT_EQ(text_table({{"n", "m"}, {"\x1b[2J", "\u202e"}}),
              "n        m\n───────  ──────\n\\x1b[2J  \\u202e\n");
    EXPECT_EQ(wrapped("a\x1b b\nc", 80), std::vector<std::string>{"a\\x1b b\\nc"});
}

TEST(Wrapped, BreaksAtSpacesOnly) {
    EXPECT_EQ(wrapped("one two  three", 7), (std::vector<std::string>{"one two", "three"}));
    EXPECT_EQ(wrapped("unbreakable", 3), (std::vector<std::string>{"unbreakable"}));
    EXPECT_EQ(wrapped("", 3), (std::vector<std::string>{""}));
}

TEST(Utf8, MalformedBytesCountOneEachAndAreNeverReadPastTheEnd) {
    for (const char* text :
         {"\xff", "\xc3", "\xe2\x82", "\xed\xa0\x80", "\xc0\x80", "\xf5\x80\x80\x80"})
        EXPECT_FALSE(code_point(text, 0).valid);
    EXPECT_EQ(display_width("\xe2\x82"), 2u);
}

TEST(Number, IsShort) {
    EXPECT_EQ(number(0.61428571), "0.6143");
    EXPECT_EQ(number(1200000), "1.2e+06");
    EXPECT_EQ(number(12345), "12345");
    EXPECT_EQ(number(-3), "-3");
    EXPECT_EQ(number(-0.0), "0");
    EXPECT_EQ(number(1e-7), "1e-07");
    EXPECT_EQ(number(NAN), "nan");
}

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
