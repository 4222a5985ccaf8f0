// Tables, numbers and markup: texts that hold what others chose.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <sstream>

#include "suite/report/markup.hpp"
#include "suite/report/text/short_labels.hpp"
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

TEST(MarkdownTable, HasALineForEachRow) {
    EXPECT_EQ(markdown_table({{"name", "value"}, {"a|b", "1.5"}, {"longer", "–"}}),
              "| name | value |\n|---|---:|\n| a\\|b | 1.5 |\n| longer | – |\n");
    EXPECT_EQ(markdown_table({}), "");
}

TEST(ShortLabels, LoseWhatTheyShareFirst) {
    using Labels = std::vector<std::string>;
    EXPECT_EQ(shortened_apart({"short", "0123456789abcdef"}, 7), (Labels{"short", "012…def"}));
    EXPECT_EQ(
        shortened_apart({"a_long_name/rows:64/threads:1", "a_long_name/rows:128/threads:1"}, 16),
        (Labels{"a_lo…/rows:64/…", "a_lo…/rows:128/…"}));
    EXPECT_EQ(shortened_apart({"name/of/8/in/a/9/b", "name/of/9/in/a/9/b"}, 12),
              (Labels{"…/8/in/a/9/b", "…/9/in/a/9/b"}));
    EXPECT_EQ(shortened_apart({"a_long_name<1,64>::run_it", "a_long_name<1,128>::run_it"}, 16),
              (Labels{"a_long…64…run_it", "a_lon…128…run_it"}));
    const Labels twice =
        shortened_apart({"a_long_name/of/8", "a_long_name/of/8", "a_long_name/of/8/1"}, 12);
    EXPECT_EQ(twice[0], twice[1]) << "one label, one look";
    EXPECT_NE(twice[0], twice[2]);
    // What differs is longer than the line: nothing is cut.
    EXPECT_EQ(shortened_apart({"x/abcdefghij0/y", "x/klmnopqrst0/y"}, 6),
              (Labels{"x/abcd\nefghij\n0/y", "x/klmn\nopqrst\n0/y"}));
}

/// Whatever the labels, two of them look alike only where they are.
TEST(ShortLabels, StayApart) {
    std::mt19937 random(7);
    const auto draw = [&](int below) { return static_cast<int>(random() % unsigned(below)); };
    for (int round = 0; round < 300; ++round) {
        std::vector<std::string> labels;
        for (int i = 0; i < 2 + draw(8); ++i) {
            std::string label;
            for (int part = 0; part < 1 + draw(6); ++part)
                label += std::vector<std::string>{"/aa", "/b", "/ä日本", "/long_word_of_letters",
                                                  " 64", ":65"}[std::size_t(draw(6))];
            labels.push_back(label);
        }
        const std::size_t columns = std::size_t(4 + draw(30));
        const std::vector<std::string> cut = shortened_apart(labels, columns);
        ASSERT_EQ(cut.size(), labels.size());
        for (std::size_t i = 0; i < labels.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j)
                EXPECT_EQ(cut[i] == cut[j], labels[i] == labels[j]) << labels[i] << '\n'
                                                                    << labels[j];
            std::istringstream lines(cut[i]);
            for (std::string line; std::getline(lines, line);)
                EXPECT_LE(display_width(line), columns) << cut[i];
        }
    }
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
    EXPECT_EQ(number(0.25, 0.2, 0.3), "0.25 (0.2–0.3)");
    EXPECT_EQ(number(0.25, 0.25 - 1e-9, 0.25 + 1e-9), "0.25") << "a range that nobody sees";
}

TEST(Escaped, MarkupBecomesText) {
    EXPECT_EQ(escaped("<a href=\"x\" & 'y'>"), "&lt;a href=&quot;x&quot; &amp; &#39;y&#39;&gt;");
    EXPECT_EQ(escaped("grün\n→\t😀"), "grün\n→\t😀");
}

TEST(Escaped, WhatXmlCannotHoldIsReplaced) {
    EXPECT_EQ(escaped(std::string("a\0b\x1b[0m", 7)), "a\uFFFDb\uFFFD[0m");
    EXPECT_EQ(escaped_prose("take `a<b`, `c` or a ` alone"),
              "take <code>a&lt;b</code>, <code>c</code> or a ` alone");
    EXPECT_EQ(escaped("\xff\xc3"), "\uFFFD\uFFFD");
    EXPECT_EQ(escaped("\xef\xbf\xbf"), "\uFFFD");
    EXPECT_EQ(escaped("\u202ea\u0085\u2028"), "\uFFFDa\uFFFD\uFFFD") << "nor what turns text round";
}

TEST(AsId, KeepsOnlyWhatIdsMayHold) { EXPECT_EQ(as_id("lazarus/fig 8_ü"), "lazarus-fig-8---"); }

}  // namespace assay::report
