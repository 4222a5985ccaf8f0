// Names that others chose, in whatever a command prints for people: they reach no terminal as they
// are, and begin no line.
#include "suite/cli/terminal/printable_output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <sstream>

#include "suite/cli/terminal/terminal.hpp"
#include "suite/report/text/terminal_text.hpp"
#include "tests/cli/program_test.hpp"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string foreign = "x\x1b[31mred\x07\nforged\r\x7f";
const std::string written_out = "x\\x1b[31mred\\x07\\nforged\\r\\x7f";

class ForeignNamesTest : public ProgramTest {
  protected:
    ForeignNamesTest() : ProgramTest(ASSAY_DUMMY_PROGRAM) {
        results = file(".json");
        write_results(results, 5);
    }

    void write_results(const std::string& to, double time) const {
        std::string rows;
        for (int repetition = 0; repetition < 8; ++repetition)
            rows += (rows.empty() ? "" : ",") + benchmark(repetition, time + 0.001 * repetition);
        std::ofstream(to) << R"({"context": {"date": "2026-01-05T10:00:00+00:00",
            "host_name": "h", "executable": "./b", "library_build_type": "release"},
            "benchmarks": [)" + rows +
                                 "]}";
    }

    std::string file(const std::string& ending) const {
        return (folder / (foreign + ending).c_str()).string();
    }

    static std::string benchmark(int repetition, double time) {
        return nlohmann::json{{"name", foreign},   {"run_name", foreign},
                              {"label", foreign},  {"run_type", "iteration"},
                              {"repetitions", 8},  {"repetition_index", repetition},
                              {"threads", 1},      {"iterations", 10},
                              {"real_time", time}, {"cpu_time", time},
                              {"time_unit", "ns"}}
            .dump();
    }

    /// Of both outputs, in which the name must be: else nothing was seen.
    void expect_printable(const std::vector<std::string>& arguments) const {
        const Printed printed = assay(arguments);
        const std::string text = printed.out + printed.err;
        for (const char* raw : {"\x1b", "\x07", "\r", "\x7f", "\nforged", "\n  forged"})
            EXPECT_THAT(text, Not(HasSubstr(raw))) << ::testing::PrintToString(arguments);
        EXPECT_THAT(text, HasSubstr("\\x1b[31mred\\x07")) << ::testing::PrintToString(arguments);
    }

    std::string results;
};

TEST_F(ForeignNamesTest, AreWrittenOutByEveryCommandThatPrintsThem) {
    const std::string db = file(".db"), other = file(".other.db");
    const auto expect = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), {"--db", db});
        expect_printable(arguments);
    };
    expect({"import", results});
    expect({"import", results, file(".nowhere")});
    const std::string csv = assay({"export", "--csv", "--db", db}).out;
    const std::string session = csv.substr(csv.find('\n') + 1, 36);
    expect({"db", "check"});
    expect({"db", "migrate"});
    expect({"db", "merge", file(".nowhere.db")});
    expect({"annotate", session, foreign});
    expect({"annotate", session});
    expect({"annotate", foreign});
    expect({"mute", foreign, "--metric", foreign, "--why", foreign});
    expect({"mute", foreign, "--metric", foreign});
    expect({"mute"});
    expect({"mute", "--all"});
    expect({"unmute", foreign, "--metric", foreign, "--why", foreign});
    expect({"mute", "--all"});
    expect({"unmute", foreign});
    expect({"baseline", "accept", foreign, "--session", session, "--why", foreign});
    expect({"baseline", "list"});
    expect({"baseline", "show"});
    expect({"baseline", "show", foreign + "!"});
    expect({"baseline", "drop", foreign});
    expect({"regressions", foreign});
    expect({"export", "--to", file(".jsonl")});
    expect({"export", "--to", other});
    expect({"export", "--to", other});  // is there already
    expect({"export", "--csv", "-o", file("/nowhere.csv")});
    expect({"history", "benchmark/" + foreign});
    expect({"history", foreign});
    expect({"describe", "benchmark/" + foreign});
    expect({"report", "benchmark/" + foreign, "--text"});
    expect({"report", "benchmark/" + foreign, "-o", file(".html")});
    expect({"report", foreign});
    expect({"compare", results, results});
    expect({"compare", results, results, "--explain", "1"});
    expect({"compare", results, "latest"});
    expect({"compare", foreign, results});
    expect({"run", "dummy/sum", "--rounds", "1"});
    expect({"run", foreign});
    expect({"claims", foreign});
    expect({"replay", foreign});
    expect({"nightly", file(".toml")});
    expect({"qualify", file(".toml")});
}

TEST_F(ForeignNamesTest, AreWrittenOutWithoutADatabase) {
    const std::string trace = file(".toml");
    std::ofstream(trace) << "says = \"a\\u001b[31mred\\u0007\\nforged\"\nduration_s = 100\n"
                            "[[change]]\nat_s = 0\nadd = 1\n";
    expect_printable({"plan", "trace", trace});
    expect_printable({"plan", "trace", trace, "--out", file(".out.toml")});
    expect_printable({"plan", "trace", foreign});
    expect_printable({"list", foreign});
    expect_printable({"describe", foreign});
    expect_printable({foreign});
    expect_printable({"list", "--" + foreign});
    expect_printable({"run", "dummy/sum", "--profile", foreign});
    expect_printable({"run", "dummy/sum", "-a", "n=" + foreign});
    expect_printable({"data", "fetch", foreign});
    expect_printable({"compare", file(".txt"), results});
}

TEST_F(ForeignNamesTest, LeaveTheColoursOfATerminalAlone) {
    const std::string slower = file(".slower.json");
    write_results(slower, 10);
    const std::string seen =
        run_at_terminal(ASSAY_DUMMY_PROGRAM, {"compare", results, slower}, 200, "xterm");
    EXPECT_THAT(seen, HasSubstr("\x1b[31mslower\x1b[0m"));
    EXPECT_THAT(seen, HasSubstr("x\\x1b[31mred"));
    EXPECT_THAT(seen, Not(HasSubstr("\x1b[31mred")));
}

TEST_F(ForeignNamesTest, StayWhatTheyAreForPrograms) {
    assay({"import", results});
    const std::string id = assay_json({"export"}).at(0).at("experiment");
    EXPECT_EQ(id, "benchmark/" + foreign);
    EXPECT_THAT(assay({"export", "--csv"}).out, HasSubstr(foreign)) << "a file keeps them";
}

/// What `write` puts out while PrintableOutput lives.
template <class Write>
std::string printed(Write write) {
    std::ostringstream to;
    std::streambuf* const usual = std::cout.rdbuf(to.rdbuf());
    {
        const cli::PrintableOutput printable;
        write();
    }
    std::cout.rdbuf(usual);
    return to.str();
}

TEST(PrintableOutput, WritesOutWhatATerminalWouldObey) {
    EXPECT_EQ(printed([] { std::cout << "a\tb\n"
                                     << foreign << '\x1b' << std::endl; }),
              "a\tb\nx\\x1b[31mred\\x07\nforged\\r\\x7f\\x1b\n");
    EXPECT_EQ(printed([] { cli::print_line(std::cout, foreign); }), written_out + '\n');
    EXPECT_EQ(printed([] { cli::write_as_is(std::cout, foreign); }), foreign);
}

TEST(PrintableOutput, PutsCharactersTogetherAgain) {
    const std::string text = "ä€😀";
    EXPECT_EQ(printed([&] {
                  for (const char byte : text) std::cout << byte << std::flush;
              }),
              text);
    EXPECT_EQ(printed([] { std::cout << "\xf0\x9f" << 'x'; }), "\\xf0\\x9fx");
    EXPECT_EQ(printed([] { std::cout << "\xe2\x82"; }), "\\xe2\\x82") << "it never comes";
}

TEST(PrintableOutput, SaysThatItCannotWrite) {
    const cli::PrintableOutput printable;
    std::ostream nowhere(nullptr);
    cli::write_as_is(nowhere, "x");
    EXPECT_FALSE(nowhere);
}

TEST(PrintableText, EveryLineOfATextThatIsLaidOut) {
    EXPECT_EQ(cli::hanging(foreign + ' ', foreign, cli::no_limit),
              written_out + ' ' + written_out + '\n');
    EXPECT_EQ(cli::fitted_lines("a\x1b b\n", cli::no_limit), "a\\x1b b\n");
}

TEST(PrintableText, KeepsCommandsWhole) {
    EXPECT_EQ(cli::hanging("", "then `assay claims --again --db a.db` tells more", 20),
              "then\n`assay claims --again --db a.db`\ntells more\n");
    EXPECT_EQ(report::wrapped("a ` b", 2), (std::vector<std::string>{"a", "`", "b"}));
}

}  // namespace
}  // namespace assay::testing
