// The command line at a terminal: within its columns, and without control sequences where the
// terminal does not understand them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>

#include "suite/cli/terminal/help_format.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/report/text/terminal_text.hpp"
#include "tests/cli/program_test.hpp"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TerminalTest : public ProgramTest {
  protected:
    TerminalTest() : ProgramTest(ASSAY_DUMMY_PROGRAM) {}

    /// Everything that the program writes to a terminal of so many columns, both outputs.
    std::string at_terminal(std::vector<std::string> arguments, unsigned short columns,
                            const char* kind) const {
        return run_at_terminal(ASSAY_DUMMY_PROGRAM, std::move(arguments), columns, kind);
    }
};

const std::vector<std::vector<std::string>> commands = {
    {"--help"},
    {"run", "--help"},
    {"export", "--help"},
    {"compare", "--help"},
    {"plan", "trace", "--help"},
    {"list"},
    {"describe", "dummy/sum"},
    {"run", "dummy/sum", "--dry-run"},
    {"run", "dummy/sum"},
    {"run", "dummy/sum", "--all-metrics"},
    {"report", "dummy/sum", "--text"},
    {"claims"},
    {"claims", "--all"},
    {"claims", "--summary"},
    {"compare", "latest~1", "latest"},
    {"run", "dummy/sum", "--until-decided", "--metric", "seed_seen", "--max-rounds", "5"},
    {"doctor"},
    {"data", "list"},
    {"db", "check"},
};

std::size_t longest_word(const std::string& line) {
    std::size_t longest = 0;
    for (const std::string& word : report::wrapped(line, 1))
        longest = std::max(longest, report::display_width(word));
    return longest;
}

/// What somebody may want to paste stays on one line, as do a path, an option and its argument.
bool may_be_long(const std::string& line, std::size_t columns) {
    return line.find("  assay ") != std::string::npos || line.starts_with("      --") ||
           line.starts_with("  --") || line.starts_with("Usage: ") ||
           longest_word(line) > columns / 3;
}

/// What is seen of a line after parts of it were written over.
std::string as_seen(const std::string& line) {
    constexpr std::string_view wipe = "\x1b[K";
    const std::size_t last = line.rfind(wipe);
    return last == std::string::npos ? line : line.substr(last + wipe.size());
}

TEST_F(TerminalTest, LinesFitAndAreBrokenAtBlanks) {
    assay({"run", "dummy/sum"});
    for (const unsigned short columns : {40, 60, 80})
        for (const auto& command : commands) {
            const std::string text = at_terminal(command, columns, "xterm");
            EXPECT_FALSE(text.empty());
            std::istringstream lines(text);
            for (std::string line; std::getline(lines, line);) {
                line = as_seen(line);
                if (may_be_long(line, columns)) continue;
                EXPECT_LE(report::display_width(line), columns)
                    << ::testing::PrintToString(command) << ": " << line;
            }
        }
}

TEST_F(TerminalTest, DumbTerminalsGetNoControlSequences) {
    for (const auto& command : commands)
        EXPECT_THAT(at_terminal(command, 80, "dumb"), Not(HasSubstr("\x1b")))
            << ::testing::PrintToString(command);
    EXPECT_THAT(at_terminal({"run", "dummy/sum", "--fresh"}, 80, ""), Not(HasSubstr("\x1b")));
    // Others have a line that is written over.
    EXPECT_THAT(at_terminal({"run", "dummy/sum", "--fresh"}, 80, "xterm"), HasSubstr("\x1b[K["));
    EXPECT_THAT(assay({"run", "dummy/sum", "--fresh"}).err, Not(HasSubstr("\x1b")));
}

TEST_F(TerminalTest, WhatAMachineLacksIsSaidOnce) {
    const std::vector<std::string> run = {
        "run", "dummy/behave", "-a", "how=well,unsupported", "--rounds", "4", "--fresh"};
    for (const bool terminal : {false, true}) {
        const std::string told = terminal ? at_terminal(run, 200, "xterm") : assay(run).err;
        const std::size_t first = told.find("(no GPU here)");
        ASSERT_NE(first, std::string::npos) << told;
        EXPECT_EQ(told.find("(no GPU here)", first + 1), std::string::npos) << told;
        // A log has a line for each sample, a terminal only for what needs a look.
        EXPECT_EQ(told.find("(as said before)") != std::string::npos, !terminal) << told;
    }
}

TEST(Hanging, BreaksAtBlanksBelowTheText) {
    EXPECT_EQ(cli::hanging("from  ", "here and there", 100), "from  here and there\n");
    EXPECT_EQ(cli::hanging("from  ", "here and there", 14), "from  here and\n      there\n");
    EXPECT_EQ(cli::hanging("a long head: ", "here and there", 20),
              "a long head:\n    here and there\n");
    EXPECT_EQ(cli::hanging("from  ", "here", cli::no_limit), "from  here\n");
}

TEST(FittedLines, BreakWhatIsTooLong) {
    const std::string text = "A  one two three\nwhat is within 1 % is the same\n";
    EXPECT_EQ(cli::fitted_lines(text, cli::no_limit), text);
    EXPECT_EQ(cli::fitted_lines(text, 20),
              "A  one two three\nwhat is within 1\n    % is the same\n");
    EXPECT_EQ(cli::fitted_lines("A  one two three\n", 12), "A  one two\n   three\n");
    EXPECT_EQ(cli::fitted_lines("", 20), "");
}

TEST(HelpFormatOfOptions, NamesOfOthersAreInTheirOrder) {
    CLI::App app;
    app.formatter(std::make_shared<cli::HelpFormat>(100));
    CLI::Option* const one = app.add_flag("--one");
    for (const char* name : {"--gamma", "--delta", "--beta", "--alpha"})
        one->excludes(app.add_flag(name))->needs(app.add_flag(fmt::format("{}-too", name)));
    EXPECT_THAT(app.help(), HasSubstr("--one Needs: --alpha-too --beta-too --delta-too --gamma-too"
                                      " Excludes: --alpha --beta --delta --gamma\n"));
}

TEST(HelpFooter, ExamplesKeepToOneLine) {
    const std::string footer =
        "Nothing is added in front of a prompt.\nNor behind it.\n"
        "Examples:\n  assay list lazarus    # what can be reproduced here";
    EXPECT_EQ(cli::fitted_footer(footer, 80), footer + "\n");
    EXPECT_EQ(cli::fitted_footer(footer, 30),
              "Nothing is added in front of a\nprompt. Nor behind it.\n"
              "Examples:\n  assay list lazarus\n      # what can be reproduced\n        here\n");
}

}  // namespace
}  // namespace assay::testing
