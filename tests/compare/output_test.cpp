// What a comparison looks like: JSON, CSV, Markdown, the table, the explanation of a row. The
// golden files lie in tests/golden.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <regex>

#include "suite/base/error.hpp"
#include "suite/cli/results/comparison.hpp"
#include "suite/compare/rows_output.hpp"
#include "suite/compare/warnings.hpp"
#include "suite/report/comparison/comparison_table.hpp"
#include "suite/report/comparison/row_explanation.hpp"
#include "suite/report/text/terminal_text.hpp"
#include "tests/cli/golden.hpp"
#include "tests/compare/small_arms.hpp"

namespace assay::compare::testing {
namespace {

using assay::testing::expect_golden;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// Two sides with a row of every kind, names that are long or hold what must be quoted.
class Output : public ::testing::Test {
  protected:
    Output() {
        a.says = "session 1a2b3c4d of 2026-11-20 02:03";
        b.says = "session 5e6f7a8b of 2026-11-21 02:03";
        a.suspects = {{"commit", "12ab34cd"}, {"driver", "550.54"}, {"os", "one"}};
        b.suspects = {{"commit", "56ef78ab"}, {"driver", "560.10"}, {"os", "one"}};
        both("plain", {}, "time", around(1, 0.001, 9), around(1, 0.001, 9, 3));
        both("plain", {}, "rate", around(5, 0.005, 9), around(6, 0.005, 9));
        a.series.back().better = b.series.back().better = Direction::higher;
        both("a, \"quoted\" | variant", {{"model", Value("gpt-large-with-a-long-name")}}, "time",
             around(2e-5, 0.005, 9), around(3e-5, 0.005, 9));
        const auto [less, more] = straddling(9);
        both("noisy", {{"nodes", Value(std::int64_t{16})}}, "time", less, more);
        both("moved", {}, "time", around(1, 0.001, 9), around(1, 0.001, 9));
        b.series.back().context["hardware"] = "there";
        both("broken", {}, "time", around(1, 0.001, 9), {});
        b.series.back().failed = 3;
        both("benchmark", {}, "real_time", around(1e-6, 0.002, 9), around(1.2e-6, 0.002, 9));
        for (Arm* arm : {&a, &b}) {
            arm->series.back().name = {"benchmark/BM_copy/8", "", {}, "real_time"};
            for (Point& point : arm->series.back().points) point.pair = "";
        }
        a.series.push_back(seeded(around(1, 0.001, 9)));
        a.series.back().name.variant = "gone";
        rows = compare(a, b, options);
    }

    void both(const std::string& variant, Case axes, const std::string& metric,
              std::vector<double> in_a, std::vector<double> in_b) {
        for (auto& [arm, values] : {std::pair(&a, &in_a), std::pair(&b, &in_b)}) {
            Series series = seeded(*values);
            series.name = {"toy/fig1", variant, axes, metric};
            arm->series.push_back(std::move(series));
        }
    }

    std::string table(std::size_t columns = 100, bool colours = false) const {
        const auto shown = cli::numbered(rows, cli::parse_only({}));
        return report::comparison_header(a, b, options) +
               report::comparison_table(shown, {columns, colours}) +
               report::comparison_reasons(shown, {columns, colours}) +
               cli::comparison_summary(rows);
    }

    Arm a, b;
    Options options;
    std::vector<Row> rows;
};

std::size_t longest_line(const std::string& text) {
    std::size_t longest = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        longest = std::max(longest, report::display_width(text.substr(at, end - at)));
        at = end + 1;
    }
    return longest;
}

TEST_F(Output, Json) { expect_golden("compare.json", rows_json(rows).dump(2) + "\n"); }

TEST_F(Output, JsonHasExactlyItsKeysAndNullForNoNumber) {
    const std::set<std::string> keys{"series", "metric", "unit",     "ratio",   "low",
                                     "high",   "n_a",    "n_b",      "verdict", "reason",
                                     "id",     "name",   "warnings", "errors"};
    for (const auto& row : rows_json(rows)) {
        std::set<std::string> found;
        for (const auto& [key, value] : row.items()) found.insert(key);
        EXPECT_EQ(found, keys);
        EXPECT_EQ(row["ratio"].is_null(),
                  row["verdict"] == "not comparable" || row["verdict"] == "failed");
    }
}

TEST_F(Output, Csv) { expect_golden("compare.csv", rows_csv(rows)); }
TEST_F(Output, Markdown) { expect_golden("compare.md", rows_markdown(rows)); }
TEST_F(Output, Table) { expect_golden("compare.txt", table()); }

/// A row of which the interval says nothing, between `low` and `high`.
std::pair<Series, Series> unknown_pair(const std::string& variant, double low, double high) {
    std::vector<double> b;
    for (int i = 0; i < 5; ++i) b.push_back(low + (high - low) * i / 4);
    Series in_a = seeded(std::vector<double>(5, 1.0)), in_b = seeded(b);
    in_a.name.variant = in_b.name.variant = variant;
    return {in_a, in_b};
}

TEST_F(Output, AnIntervalThatSaysNothingIsCalledSo) {
    Arm before, after;
    for (const auto& [variant, low, high] :
         {std::tuple("one", 0.13, 1.59), {"two", 0.5, 1.3}, {"three", 0.9, 1.2}}) {
        auto [in_a, in_b] = unknown_pair(variant, low, high);
        before.series.push_back(std::move(in_a));
        after.series.push_back(std::move(in_b));
    }
    const auto made = compare(before, after, options);
    EXPECT_THAT(made[0].reason, StartsWith("straddles-margin: nothing is known: 0.13 to 1.59; "));
    EXPECT_THAT(made[1].reason, HasSubstr("nothing is known: 0.5 to 1.3"));
    EXPECT_THAT(made[2].reason, Not(HasSubstr("nothing is known"))) << "at most a fifth";
    EXPECT_THAT(rows_json(made)[0]["reason"].get<std::string>(), HasSubstr("0.13 to 1.59"));
    EXPECT_THAT(rows_markdown(made), HasSubstr("nothing is known: 0.13 to 1.59; 5 pairs"));
    EXPECT_THAT(report::comparison_reasons(cli::numbered(made, cli::parse_only({})), {}),
                HasSubstr("rows 1-2: straddles-margin: nothing is known: 0.13 to 1.59; 5 pairs"))
        << "once, with the widest";
    options.margin = 0.7;
    EXPECT_EQ(compare(before, after, options)[1].verdict, RowVerdict::ambiguous);
    EXPECT_THAT(compare(before, after, options)[1].reason, Not(HasSubstr("nothing is known")))
        << "of a margin so large a half is no large change";
}

TEST_F(Output, SidesWithoutACommonRowAreOneSentence) {
    const auto named = [](const std::string& experiment, const std::string& variant, int n) {
        Arm made;
        for (int i = 0; i < n; ++i) {
            Series series = seeded({1, 2});
            series.name.experiment = experiment;
            series.name.variant = variant;
            series.name.axes["i"] = Value(std::int64_t{i});
            made.series.push_back(series);
        }
        return made;
    };
    const Arm left = named("lte/fig8", "lte", 120), right = named("lazarus/fig8", "lazarus", 1);
    EXPECT_EQ(nothing_in_common(compare(left, right)),
              "A and B have no row in common: A has lte/fig8 (120 rows); B has lazarus/fig8 (1 "
              "row)");
    EXPECT_EQ(nothing_in_common(compare(right, Arm{})),
              "A and B have no row in common: A has lazarus/fig8 (1 row); B has nothing that is "
              "compared");
    EXPECT_THAT(nothing_in_common(compare(left, named("lte/fig8", "dense", 1))),
                HasSubstr("B has lte/fig8 dense i=0 (1 row)"))
        << "of one experiment: which part of it";
    EXPECT_EQ(nothing_in_common(compare(left, left)), "");
    EXPECT_EQ(nothing_in_common({}), "");
}

TEST_F(Output, MarkdownOfAnyLengthSaysTheCountsFirstAndFitsAComment) {
    std::vector<Row> many;
    for (int i = 0; i < 5000; ++i) {
        many.push_back(rows[i % 2 == 0 ? 0 : 2]);
        many.back().id.axes["i"] = Value(std::int64_t{i});
        many.back().reason = std::string(static_cast<std::size_t>(i % 7) * 300, 'x');
    }
    const std::string text = rows_markdown(many, "The last paragraph.\n");
    EXPECT_LT(text.size(), 65'536u);
    EXPECT_GT(text.size(), 60'000u) << "as much as there is room for";
    EXPECT_THAT(text, StartsWith("5000 rows: 2500 same, 2500 slower. "));
    const auto lines = std::count(text.begin(), text.end(), '\n') - 6;
    EXPECT_THAT(
        text, HasSubstr(". " + std::to_string(lines) + " that tell most are below. Left out are " +
                        std::to_string(5000 - lines) + " rows: 2500 same, " +
                        std::to_string(2500 - lines) +
                        " slower. `--csv` and `--json` have all\n\n| series |"));
    EXPECT_THAT(text, HasSubstr("\n\nThe last paragraph.\n"));
    EXPECT_THAT(text, Not(HasSubstr("| same |"))) << "what is slower tells more";
    EXPECT_EQ(rows_markdown({}), "0 rows\n\n");
}

TEST_F(Output, OfManyRowsThoseThatTellMostAreShown) {
    std::vector<std::size_t> numbers;
    for (const auto& row : cli::telling_most(cli::numbered(rows, cli::parse_only({})), 4))
        numbers.push_back(row.number);
    EXPECT_EQ(numbers, (std::vector<std::size_t>{2, 3, 6, 7})) << "faster, slower, failed, slower";
    EXPECT_EQ(cli::telling_most(cli::numbered(rows, cli::parse_only({})), 100).size(), 8u);
}

// Without it, two rows of one name would stand there with two verdicts.
TEST_F(Output, RowsOfTwoProfilesSayWhichTheyAre) {
    Arm before, after;
    for (const Profile profile : {Profile::toy, Profile::small}) {
        Series series = seeded(around(1, 0.001, 9));
        series.name.profile = profile;
        series.context["profile"] = to_string(profile);
        before.series.push_back(series);
        if (profile == Profile::small)
            for (Point& point : series.points) point.value *= 2;
        after.series.push_back(series);
    }
    const auto both = compare(before, after, options);
    ASSERT_EQ(both.size(), 2u);
    EXPECT_EQ(both[1].id.profile, Profile::small);
    EXPECT_EQ(both[1].verdict, RowVerdict::slower);
    const std::string text = report::comparison_table(cli::numbered(both, cli::parse_only({})), {});
    EXPECT_THAT(text, HasSubstr("plain (toy)"));
    EXPECT_THAT(text, HasSubstr("plain (small)"));
    EXPECT_THAT(rows_markdown(both), HasSubstr("| toy/fig1 plain (small) | time |"));
    EXPECT_THAT(rows_csv(both), HasSubstr(",small,,,toy/fig1 plain (small) · time,\n"));
    EXPECT_EQ(rows_json(both)[1]["id"]["profile"], "small");
    const auto named = cli::rows_named(both, "toy/fig1 plain (small)");
    ASSERT_EQ(named.size(), 1u);
    EXPECT_EQ(named[0].number, 2u);
}

TEST_F(Output, CircumstancesAreWarningsOfWhatTheyConcern) {
    const auto warned = [&](std::string before_a, std::string before_b) {
        Series series_a = seeded(around(1, 0.001, 9)), series_b = seeded(around(2, 0.001, 9));
        series_a.name.provenance = series_b.name.provenance = Provenance::measured;
        Arm left = arm({series_a}), right = arm({series_b});
        left.sessions = {{.id = "a", .started = "", .warnings = std::move(before_a)}};
        right.sessions = {{.id = "b", .started = "", .warnings = std::move(before_b)}};
        left.suspects["build"] = right.suspects["build"] = "12ab";
        auto made = compare(left, right, options);
        EXPECT_EQ(better_in_turns(made, left, right), std::vector<std::string>{"toy/fig1"});
        left.sessions[0].in_turns = right.sessions[0].in_turns = true;
        EXPECT_TRUE(better_in_turns(made, left, right).empty()) << "they were";
        warn_of_circumstances(made, left, right);
        std::string text;
        for (const std::string& warning : made.at(0).warnings) text += warning + '\n';
        return text;
    };
    EXPECT_THAT(warned("load", ""), HasSubstr("busy when A was measured (load) and not when B"));
    EXPECT_THAT(warned("load, governor", "governor, processes"),
                HasSubstr("busy when A (load) and B (processes) were measured"));
    EXPECT_THAT(warned("governor", "governor"), Not(HasSubstr("governor")));
    EXPECT_THAT(warned("governor", ""), HasSubstr("before A it warned of governor, before B of "
                                                  "nothing"));
    EXPECT_EQ(
        warned("", ""),
        "A and B are of one program: a difference is the machine's or chance, not the code's\n");
}

TEST_F(Output, ARowIsOfTheProgramThatMadeIt) {
    RowId of_suite = {"benchmark/program",
                      "program",
                      {{"name", "p"}, {"program", "./p, new"}, {"arguments", ""}},
                      "of_read",
                      {{"benchmark", "BM_x"}}};
    RowId ours = {"toy/fig1", "plain", {}, "time"};
    Arm a, b;
    a.suspects["build"] = b.suspects["build"] = "12ab";
    EXPECT_TRUE(is_one_program(a, b, ours));
    EXPECT_FALSE(is_one_program(a, b, of_suite)) << "which it is, nothing says";
    of_suite.axes["program"] = "./p";
    a.suspects["programs"] = "assay 1111, libk.so 5555, ./p 2222";
    b.suspects["programs"] = "assay 1111, libk.so 5555, ./p 3333";
    EXPECT_FALSE(is_one_program(a, b, of_suite)) << "it was built anew";
    EXPECT_TRUE(is_one_program(a, b, ours));
    b.suspects["programs"] = "assay 1111, libk.so 6666, ./p 2222";
    EXPECT_TRUE(is_one_program(a, b, of_suite));
    EXPECT_FALSE(is_one_program(a, b, ours)) << "its plug-in is another one";
    b.suspects["programs"] += ", assay 1111, ./p 3333";
    EXPECT_FALSE(is_one_program(a, b, of_suite)) << "of several sessions";
    Arm one, other;
    one.suspects = {{"commit", "abc"}, {"executable", "/ci/1/old_bench"}};
    other.suspects = {{"commit", "abc"}, {"executable", "/ci/2/new_bench"}};
    const RowId file = {"benchmark/BM_x", "", {}, "real_time"};
    EXPECT_FALSE(is_one_program(one, other, file)) << "two of one commit";
    other.suspects["executable"] = "/ci/2/old_bench";
    EXPECT_TRUE(is_one_program(one, other, file));
}

TEST_F(Output, OfOtherHardwareTheReasonSaysInWhatItDiffers) {
    Series old_series = seeded(around(1, 0.001, 9)), new_series = old_series;
    old_series.context["hardware"] = "aaaa";
    new_series.context["hardware"] = "bbbb";
    const auto reason = [&] {
        return compare(arm({old_series}), arm({new_series}), options).at(0).reason;
    };
    EXPECT_EQ(reason(), "context-differs: hardware aaaa in A, bbbb in B");
    using Facts = std::map<std::string, std::string>;
    old_series.hardware = std::make_shared<const Facts>(Facts{{"cores", "2"}, {"memory", "8 GiB"}});
    new_series.hardware = std::make_shared<const Facts>(
        Facts{{"cores", "4"}, {"gpus", "NVIDIA H200"}, {"memory", "8 GiB"}});
    EXPECT_EQ(reason(),
              "context-differs: hardware (cores) 2 in A, 4 in B; hardware (gpus) none in A, NVIDIA "
              "H200 in B");
}

TEST_F(Output, FitsItsColumns) {
    for (const std::size_t columns : {100, 90, 80})
        EXPECT_LE(longest_line(table(columns)), columns);
}

TEST_F(Output, WhatFitsNoTableBecomesLinesAndIsNotShortened) {
    const auto shown = cli::numbered(rows, cli::parse_only({}));
    for (const std::size_t columns : {60, 50, 44}) {
        const report::TableLook look{columns, false};
        const std::string text =
            report::comparison_table(shown, look) + report::comparison_reasons(shown, look);
        EXPECT_LE(longest_line(text), columns) << text;
        EXPECT_THAT(text, Not(HasSubstr("…")));
        EXPECT_THAT(text, HasSubstr("model=gpt-large-with-a-long-name"));
    }
}

/// Labels that begin and end alike: a table never shows two of them as one.
TEST_F(Output, LabelsThatDifferStayApart) {
    Arm before, after;
    for (const char* size : {"64", "128", "256", "1024"})
        for (Arm* arm : {&before, &after}) {
            Series series = seeded(around(1, 0.001, 9));
            series.name = {std::string("benchmark/BM_matrix_multiply_blocked<float>/rows:") + size +
                               "/columns:4096/depth:4096/threads:16/real_time",
                           "",
                           {},
                           "real_time"};
            arm->series.push_back(series);
            series.name.metric = "cpu_time";
            arm->series.push_back(series);
        }
    const auto made = compare(before, after, options);
    ASSERT_EQ(made.size(), 8u);
    for (const std::size_t columns : {100, 90, 80}) {
        const std::string text =
            report::comparison_table(cli::numbered(made, cli::parse_only({})), {columns, false});
        EXPECT_LE(longest_line(text), columns) << text;
        for (const char* size : {"64", "128", "256", "1024"})
            EXPECT_THAT(text, HasSubstr(std::string("rows:") + size)) << text;
    }
}

TEST_F(Output, HeadingsAreWholeHoweverLong) {
    Arm before, after;
    for (const char* which : {"one", "two"})
        for (Arm* arm : {&before, &after}) {
            Series series = seeded(around(1, 0.001, 9));
            series.name.axes = {{"first", Value(std::string(40, 'x'))},
                                {"second", Value(which)},
                                {"third", Value(std::string(40, 'y'))}};
            arm->series.push_back(series);
        }
    const auto made = compare(before, after, options);
    const std::string text =
        report::comparison_table(cli::numbered(made, cli::parse_only({})), {80, false});
    EXPECT_LE(longest_line(text), 80u) << text;
    for (const char* part : {"second=one", "second=two"}) EXPECT_THAT(text, HasSubstr(part));
}

TEST(Contrasts, AxesThatAllShareStandInTheHeading) {
    runner::Contrast contrast;
    contrast.experiment = "toy/fig1";
    contrast.axes = {{"model", Value("small")}, {"nodes", Value(std::int64_t{4})}};
    contrast.variant = "b";
    contrast.against = "a";
    contrast.metric.name = "time";
    contrast.ratio = NAN;
    contrast.answer.low = contrast.answer.high = NAN;
    contrast.rounds = 5;
    std::vector<runner::Contrast> all{contrast};
    EXPECT_THAT(report::contrast_table(all, 100),
                StartsWith("toy/fig1  model=small nodes=4\nvariant  against  metric  ratio"));
    all.push_back(contrast);
    all.back().axes["nodes"] = Value(std::int64_t{8});
    all.push_back(contrast);
    all.back().experiment = "toy/fig2";
    const std::string text = report::contrast_table(all, 100);
    EXPECT_THAT(text, StartsWith("toy/fig1  model=small\ncase     variant  against  metric"));
    EXPECT_THAT(text, HasSubstr("\nnodes=4  b        a        time"));
    EXPECT_THAT(text, HasSubstr("\nnodes=8  b        a        time"));
    EXPECT_THAT(text, HasSubstr("\n\ntoy/fig2  model=small nodes=4\nvariant  against"));
    EXPECT_LE(longest_line(report::contrast_table(all, 40)), 40u);
}

TEST_F(Output, ColoursMeanDirectionOnly) {
    const std::string text = table(100, true);
    EXPECT_THAT(text, HasSubstr("\x1b[31mslower\x1b[0m"));
    EXPECT_THAT(text, HasSubstr("\x1b[32mfaster\x1b[0m"));
    const std::regex escapes("\x1b\\[[0-9]*m");
    EXPECT_EQ(std::regex_replace(text, escapes, ""), table()) << "and change nothing else";
    EXPECT_THAT(text, Not(HasSubstr("mambiguous")));
}

TEST_F(Output, Explanation) {
    std::string text;
    for (const std::size_t number : {2, 4, 7})
        text += report::row_explanation({number, &rows[number - 1]}, {a, b, rows});
    expect_golden("compare_explain.txt", text);
    const std::string narrow = report::row_explanation({2, &rows[1]}, {a, b, rows, 60});
    EXPECT_LE(longest_line(narrow.substr(0, narrow.find("\npair"))), 60u) << narrow;
}

TEST_F(Output, EveryRowCanBeExplained) {
    for (std::size_t i = 0; i < rows.size(); ++i)
        EXPECT_THAT(report::row_explanation({i + 1, &rows[i]}, {a, b, rows}),
                    HasSubstr(rows[i].id.series_text()));
}

TEST_F(Output, ExplanationsCommandLeavesOutEmptyValuesWhichCannotBeTyped) {
    Series one = seeded(around(1, 0.001, 9));
    one.name = {"benchmark/program",
                "program",
                {{"arguments", Value("")}, {"name", Value("planner")}},
                "real_time"};
    a.series = b.series = {one};
    const std::vector<Row> row = compare(a, b, options);
    EXPECT_THAT(
        report::row_explanation({1, &row[0]}, {a, b, row}),
        HasSubstr("assay run benchmark/program --variant program -a name=planner --profile toy "
                  "--rounds "));
}

TEST_F(Output, ExplanationMarksOutliers) {
    const std::size_t row = 0;
    a.series[0].points[0].value = 50;
    const auto again = compare(a, b, options);
    EXPECT_THAT(report::row_explanation({1, &again[row]}, {a, b, again}), HasSubstr("50 **"));
}

TEST_F(Output, ExplanationSaysWhatTheIntervalCovers) {
    const Arm few_a = arm({seeded(around(1, 0.001, 5))}),
              few_b = arm({seeded(around(2, 0.001, 5))});
    const auto few = compare(few_a, few_b, options);
    EXPECT_THAT(report::row_explanation({1, &few[0]}, {few_a, few_b, few}),
                HasSubstr("93.75 %, order_statistics"));
}

TEST_F(Output, ExplanationTellsWhatSeveralSessionsSay) {
    const auto explained = [&](const Series& in_a, const Series& in_b) {
        const Arm left = arm({in_a}), right = arm({in_b});
        const auto row = compare(left, right, options);
        return report::row_explanation({1, &row[0]}, {left, right, row});
    };
    const Series one = of_sessions({{1, 2, 3, 4}}), two = of_sessions({{1, 2, 3, 4}, {5, 6, 7}});
    EXPECT_THAT(explained(one, two), HasSubstr("medians of A 2.5; of B 2.5, 6"));
    EXPECT_THAT(explained(one, one), HasSubstr("one of each side; how much sessions differ"));
    EXPECT_THAT(explained(series({1, 2, 3, 4}), one), Not(HasSubstr("sessions")));
    const std::vector<double> nine = around(1, 0.01, 9);
    EXPECT_THAT(explained(of_sessions({nine, nine, nine}), of_sessions({nine, nine})),
                HasSubstr("--rounds 18 --fresh"))
        << "one more session, not one as long as all of them";
}

TEST_F(Output, ExplanationOfEqualValuesSpeaksOfNoPairsWhereThereAreNone) {
    const Arm zeros = arm({series({0, 0, 0})});
    const auto equal = compare(zeros, zeros, options);
    const std::string text = report::row_explanation({1, &equal[0]}, {zeros, zeros, equal});
    EXPECT_THAT(text, HasSubstr("1, as all values are equal"));
    EXPECT_THAT(text, Not(HasSubstr("over the pairs")));
}

TEST_F(Output, RowsAreNamedByNumberSeriesOrPart) {
    const auto numbers = [&](const std::string& typed) {
        std::vector<std::size_t> found;
        for (const auto& row : cli::rows_named(rows, typed)) found.push_back(row.number);
        return found;
    };
    using Numbers = std::vector<std::size_t>;
    EXPECT_EQ(numbers("3"), Numbers{3});
    EXPECT_EQ(numbers("toy/fig1 plain"), (Numbers{1, 2}));
    EXPECT_EQ(numbers("toy/fig1 plain rate"), Numbers{2});
    EXPECT_EQ(numbers("noisy"), Numbers{4});
    EXPECT_THROW(numbers("0"), UserError);
    EXPECT_THROW(numbers("99"), UserError);
    EXPECT_THROW(numbers("toy"), UserError) << "too many";
    EXPECT_THROW(numbers("nothing is called so"), UserError);
}

TEST_F(Output, OnlySomeKeepTheirNumbers) {
    const auto slower = cli::numbered(rows, cli::parse_only({"regressions"}));
    std::vector<std::size_t> found;
    for (const auto& row : slower) found.push_back(row.number);
    EXPECT_EQ(found, (std::vector<std::size_t>{3, 6, 7}));
    EXPECT_THROW(cli::parse_only({"nonsense"}), UserError);
}

TEST_F(Output, FiltersKeepWhatTheyNameAndSayWhatThereIs) {
    cli::keep_only(a, b, {"toy/*"}, {"rate"});
    EXPECT_EQ(a.series.size(), 1u);
    try {
        cli::keep_only(a, b, {}, {"speed"});
        FAIL() << "nothing is left";
    } catch (const UserError& error) {
        EXPECT_THAT(error.what(), HasSubstr("there are: rate"));
    }
}

TEST(Margin, AsPercentOrShare) {
    EXPECT_DOUBLE_EQ(cli::parse_margin("2%"), 0.02);
    EXPECT_DOUBLE_EQ(cli::parse_margin("2 %"), 0.02);
    EXPECT_DOUBLE_EQ(cli::parse_margin("0.02"), 0.02);
    EXPECT_DOUBLE_EQ(cli::parse_margin("0"), 0);
    for (const char* wrong : {"", "%", "two", "2", "-1%", "100%", "nan", "1e-3x"})
        EXPECT_THROW(cli::parse_margin(wrong), UserError) << wrong;
}

TEST(Across, OnlyKeysThatThereAre) {
    const Arm some = arm({series({1})});
    EXPECT_EQ(cli::checked_across({"hardware"}, some, some), std::set<std::string>{"hardware"});
    EXPECT_THROW(cli::checked_across({"hardwear"}, some, some), UserError);
}

TEST(ExitCode, TheWorstRowDecides) {
    const auto code_of = [](std::vector<RowVerdict> verdicts) {
        std::vector<Row> rows(verdicts.size());
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i].verdict = verdicts[i];
        return cli::comparison_exit_code(rows);
    };
    using enum RowVerdict;
    EXPECT_EQ(code_of({same, faster}), 0);
    EXPECT_EQ(code_of({same, slower, ambiguous}), 2);
    EXPECT_EQ(code_of({same, failed}), 2);
    EXPECT_EQ(code_of({same, ambiguous, not_comparable}), 3);
    EXPECT_EQ(code_of({same, not_comparable}), 0);
    EXPECT_EQ(code_of({not_comparable, not_comparable}), 4);
    EXPECT_EQ(code_of({}), 4);
    EXPECT_EQ(code_of({same, failed_before}), 0) << "no new failure";
    EXPECT_EQ(code_of({same, failed, failed_before}), 2);
    EXPECT_EQ(code_of({not_comparable, failed_before}), 4);
}

TEST(Shortened, KeepsBothEnds) {
    EXPECT_EQ(report::shortened("short", 10), "short");
    EXPECT_EQ(report::display_width(report::shortened("a rather long name of a series", 10)), 10u);
    EXPECT_EQ(report::shortened("0123456789abcdef", 7), "012…def");
    EXPECT_LE(report::display_width(report::shortened("äöüäöüäöüäöü", 5)), 5u);
}

}  // namespace
}  // namespace assay::compare::testing
