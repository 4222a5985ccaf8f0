// Every report against its golden file, and what must hold whatever the night.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "suite/gate/night_verdict.hpp"
#include "suite/gate/night_warnings.hpp"
#include "suite/gate/output/night_reports.hpp"
#include "suite/gate/output/night_words.hpp"
#include "tests/cli/golden.hpp"
#include "tests/gate/night_fixture.hpp"
#include "tests/report/xml_check.hpp"

namespace assay::gate {
namespace {

using testing::expect_golden;
using ::testing::HasSubstr;
using ::testing::Not;

int occurrences(const std::string& text, const std::string& pattern) {
    const std::regex regex(pattern);
    return static_cast<int>(std::distance(std::sregex_iterator(text.begin(), text.end(), regex),
                                          std::sregex_iterator()));
}

/// What is wrong with the XML after its declaration; the declaration must be there.
std::string document_problem(const std::string& xml) {
    const std::string declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    if (xml.rfind(declaration, 0) != 0) return "no declaration";
    return report::xml_problem(xml.substr(declaration.size()));
}

int attribute(const std::string& xml, const std::string& name) {
    std::smatch found;
    const bool there =
        std::regex_search(xml, found, std::regex("<testsuite [^>]*" + name + "=\"(\\d+)\""));
    return there ? std::stoi(found[1]) : -1;
}

TEST(NightReports, JunitXml) {
    const std::string xml = junit_xml(eventful_night());
    EXPECT_EQ(document_problem(xml), "");
    expect_golden("nightly_junit.xml", xml);
}

TEST(NightReports, JunitCountsAreThoseOfItsElements) {
    for (const Night& night : {eventful_night(), quiet_night(), first_night()}) {
        const std::string xml = junit_xml(night);
        EXPECT_EQ(document_problem(xml), "");
        EXPECT_EQ(attribute(xml, "tests"), occurrences(xml, "<testcase "));
        EXPECT_EQ(attribute(xml, "failures"), occurrences(xml, "<failure "));
        EXPECT_EQ(attribute(xml, "errors"), occurrences(xml, "<error "));
        EXPECT_EQ(attribute(xml, "skipped"), occurrences(xml, "<skipped "));
    }
    EXPECT_GT(occurrences(junit_xml(eventful_night()), "<failure "), 0);
    EXPECT_EQ(occurrences(junit_xml(quiet_night()), "<failure |<error "), 0);
}

TEST(NightReports, Markdown) {
    const std::string text = markdown_summary(eventful_night());
    expect_golden("nightly_summary.md", text);
    // The verdict is the first line, regressions come before all other rows.
    EXPECT_EQ(text.rfind("## ❌ cpu: 1 confirmed regression", 0), 0u);
    EXPECT_LT(text.find("### Confirmed regressions"), text.find("### Candidates"));
    EXPECT_EQ(occurrences(text, "<details>"), occurrences(text, "</details>"));
}

TEST(NightReports, MarkdownOfManyRowsFitsAStepSummary) {
    Night night = eventful_night();
    const std::vector<NightRow> rows = night.rows;
    for (int i = 0; i < 1000; ++i) night.rows.insert(night.rows.end(), rows.begin(), rows.end());
    const std::string text = markdown_summary(night);
    EXPECT_LT(text.size(), 65'536u) << "nor does GitHub take a longer comment";
    EXPECT_THAT(text, HasSubstr("976 more are in the JSON and HTML reports"));
    night.warnings.assign(1000, std::string(5000, 'w'));
    night.below_level = night.failures = night.warnings;
    const std::string noisy = markdown_summary(night);
    EXPECT_LT(noisy.size(), 65'536u);
    EXPECT_THAT(noisy, HasSubstr(" more are in the JSON and HTML reports"));
    EXPECT_EQ(occurrences(noisy, "<details>"), occurrences(noisy, "</details>"));
}

TEST(NightReports, GithubAnnotations) {
    const std::string text = github_annotations(eventful_night());
    expect_golden("nightly_annotations.txt", text);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        EXPECT_TRUE(std::regex_match(
            line, std::regex("::(error|warning|notice) title=[^:,]*::([^%]|%25|%0A|%0D)*")))
            << line;
}

TEST(NightReports, AnnotationsSayWhatGithubWouldDrop) {
    Night night = eventful_night();
    for (int i = 0; i < 30; ++i) night.rows.push_back(night.rows[2]);
    const std::string text = github_annotations(night);
    EXPECT_EQ(occurrences(text, "::error "), 10);
    EXPECT_THAT(text, HasSubstr("23 more; the HTML report and the JSON list all"));
    EXPECT_EQ(occurrences(html_page(night), "<td class=\"row\">"),
              static_cast<int>(night.rows.size()));
    EXPECT_EQ(nlohmann::json::parse(json_text(night))["rows"].size(), night.rows.size());
}

TEST(NightReports, ATerminalTakesSoManySentences) {
    Night night = quiet_night();
    for (int i = 0; i < 100; ++i) {
        night.warnings.push_back("warned " + std::to_string(i));
        night.failures.push_back("failed " + std::to_string(i));
    }
    const std::string text = terminal_text(night);
    EXPECT_EQ(occurrences(text, "warning: warned"), 30);
    EXPECT_EQ(occurrences(text, "could not be run: failed"), 30);
    EXPECT_EQ(occurrences(text, "and 70 more; the HTML report and the JSON list all"), 2);
}

TEST(NightReports, WhatOfTheMachineChangedAndTheProgramsCommitsAreFacts) {
    Night night = quiet_night();
    night.host = "runner-3";
    night.machine_changes = {{"kernel", "6.1", "6.12"}, {"governor", "performance", "powersave"}};
    night.program_commits = {{"planner", "abc123"}};
    for (const std::string& report :
         {terminal_text(night), markdown_summary(night), html_page(night), junit_xml(night)}) {
        EXPECT_THAT(report, HasSubstr("kernel 6.1 → 6.12; governor performance → powersave, since "
                                      "the baseline"));
        EXPECT_THAT(report, HasSubstr("feedfacecafebeef, host runner-3"));
        EXPECT_THAT(report, HasSubstr("commit of planner"));
    }
    EXPECT_THAT(junit_xml(night), HasSubstr("hostname=\"runner-3\""));
    const nlohmann::json read = nlohmann::json::parse(json_text(night));
    EXPECT_EQ(read["machine_changes"][0]["after"], "6.12");
    EXPECT_EQ(read["program_commits"]["planner"], "abc123");
}

TEST(NightReports, NoNameIsACommandOfTheRunnerOrTheTerminal) {
    Night night = eventful_night();
    night.failures = {"x\x1b[31m\x07\n::stop-commands::now"};
    night.warnings = night.below_level = night.failures;
    night.suite = night.machine = night.failures.front();
    for (const std::string& text : {github_annotations(night), terminal_text(night)}) {
        EXPECT_THAT(text, HasSubstr("x\\x1b[31m\\x07"));
        for (const char* raw : {"\x1b", "\x07", "\n::stop"}) EXPECT_THAT(text, Not(HasSubstr(raw)));
    }
}

TEST(NightReports, HtmlPage) {
    const std::string page = html_page(eventful_night());
    expect_golden("nightly_page.html", page);
    EXPECT_THAT(page, HasSubstr("lazarus/x_live &lt;&amp;&quot;&#39;&gt; | `x`"));
    EXPECT_THAT(page, Not(HasSubstr("<&")));
    // Nothing is fetched from anywhere.
    EXPECT_EQ(occurrences(page, "https?://"), 0);
}

TEST(NightReports, Json) {
    const Night night = eventful_night();
    const std::string text = json_text(night);
    expect_golden("nightly.json", text);
    const nlohmann::json read = nlohmann::json::parse(text);
    EXPECT_EQ(read["exit_code"], 2);
    EXPECT_EQ(read["rows"].size(), night.rows.size());
    EXPECT_TRUE(read["rows"].back()["ratio"].is_number());
    int without_ratio = 0;
    for (const auto& row : read["rows"]) without_ratio += row["ratio"].is_null() ? 1 : 0;
    EXPECT_EQ(without_ratio, 1);
}

TEST(NightReports, TheFirstNightSaysThatThereIsNoBaseline) {
    const Night night = first_night();
    EXPECT_EQ(night.verdict, NightVerdict::no_baseline);
    EXPECT_EQ(exit_code(night.verdict), 0);
    EXPECT_THAT(markdown_summary(night), HasSubstr("No accepted baseline yet"));
    EXPECT_THAT(github_annotations(night),
                HasSubstr("::warning title=assay nightly cpu::No accepted baseline yet"));
    EXPECT_THAT(html_page(night), HasSubstr("baseline accept"));
    for (const std::string& report :
         {junit_xml(night), markdown_summary(night), json_text(night)}) {
        EXPECT_THAT(report, HasSubstr("nothing was accepted yet to compare with"));
        EXPECT_THAT(report, Not(HasSubstr("\"reason\": \"only-in-b")));
    }
    EXPECT_THAT(json_text(night), HasSubstr("\"reason_code\": \"only-in-b\"")) << "for programs";
}

TEST(NightReports, ANightOfMutedRowsIsNoPassAnywhere) {
    Night night = quiet_night();
    for (NightRow& row : night.rows) {
        row.muted = true;
        row.mute = "muted by ada: all of it";
    }
    judge(night);
    night.warnings = {*ambiguity_warning(night)};
    EXPECT_EQ(exit_code(night.verdict), 3);
    EXPECT_EQ(verdict_words(night),
              "Ambiguous: no row could be judged; 0 of 2 rows compared; 2 muted");
    const std::string xml = junit_xml(night);
    EXPECT_EQ(attribute(xml, "tests"), 3) << "two rows and their mean";
    EXPECT_EQ(attribute(xml, "skipped"), 3);
    EXPECT_EQ(document_problem(xml), "");
    EXPECT_THAT(xml, HasSubstr("muted by ada"));
    const std::string annotations = github_annotations(night);
    EXPECT_EQ(annotations.rfind("::warning title=assay nightly cpu::Ambiguous", 0), 0u);
    EXPECT_EQ(occurrences(annotations, "::notice"), 0);
    const std::string why = "no pass (exit code 3): 0 of 2 rows compared, 2 muted";
    EXPECT_THAT(annotations, HasSubstr("::warning title=cpu::this night is " + why));
    const nlohmann::json read = nlohmann::json::parse(json_text(night));
    EXPECT_TRUE(read["geometric_mean"].is_null());
    EXPECT_EQ(read["standings"]["compared"], 0);
    EXPECT_EQ(read["standings"]["muted"], 2);
    EXPECT_THAT(read["warnings"].dump(), HasSubstr(why));
    EXPECT_THAT(read["warnings"].dump(), HasSubstr("assay unmute"));
    const std::string markdown = markdown_summary(night);
    EXPECT_LT(markdown.find("no pass"), markdown.find("Muted")) << "why comes before the rows";
    EXPECT_EQ(occurrences(markdown, "no pass"), 1);
    EXPECT_THAT(terminal_text(night), HasSubstr("geometric mean   none"));
}

/// One that had no value when its level was accepted.
NightRow without_level(compare::RowVerdict verdict, compare::Reason reason) {
    NightRow row;
    row.against_baseline =
        compared_row({"lte/fig8", "late", {}, "latency_s"}, std::nan(""), 0, verdict, reason);
    row.against_baseline.n_a = 0;
    return row;
}

TEST(NightReports, RowsThatFailedWhenTheirLevelWasAcceptedAreNamedInEveryReport) {
    using compare::Reason;
    using compare::RowVerdict;
    for (const auto& [row, says] :
         {std::pair(without_level(RowVerdict::not_comparable, Reason::all_failed),
                    "failed when the level was accepted, and works tonight: not judged until "),
          std::pair(without_level(RowVerdict::failed_before, Reason::all_failed),
                    "failed when the level was accepted, and fails tonight; not judged until it "
                    "works and is accepted anew"),
          std::pair(without_level(RowVerdict::not_comparable, Reason::all_excluded),
                    "only skipped or invalid samples when the level was accepted")}) {
        Night night = quiet_night();
        night.rows.push_back(row);
        say_reasons(night);
        judge(night);
        EXPECT_EQ(verdict_words(night), "Clean; 2 of 3 rows compared; 1 not compared");
        for (const std::string& report :
             {junit_xml(night), markdown_summary(night), json_text(night)})
            EXPECT_THAT(report, HasSubstr(says));
        EXPECT_EQ(attribute(junit_xml(night), "skipped"), 2) << "the row, and the mean of two";
        EXPECT_THAT(terminal_text(night), HasSubstr("Not compared: 1 (lte/fig8 late"));
        const bool works = row.against_baseline.verdict == RowVerdict::not_comparable;
        EXPECT_THAT(unmatched_warnings(night), ::testing::SizeIs(works ? 1 : 0));
        if (works) {
            EXPECT_THAT(unmatched_warnings(night).at(0), HasSubstr("lte/fig8 late"));
        }
        night.rows.insert(night.rows.end(), 2, row);
        judge(night);
        EXPECT_EQ(night.verdict, NightVerdict::ambiguous) << "most rows are out of sight";
    }
}

}  // namespace
}  // namespace assay::gate
