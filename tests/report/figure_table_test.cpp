#include "suite/report/text/result_tables.hpp"

#include <gtest/gtest.h>

namespace assay::report {
namespace {

Experiment experiment() {
    Experiment e;
    e.id = "some/fig";
    e.figure = {Figure::Kind::lines, "p", "failed", {"model"}, "", "", false};
    return e;
}

FigureCurve curve(const std::string& variant, std::vector<FigurePoint> points) {
    return {variant, 0, std::move(points), {}};
}

FigurePanel panel(const std::string& title, double first) {
    return {title,
            "exact · toy",
            {curve("mro", {{1, first, first, first, 1}, {2, 0.5, 0.25, 0.75, 3}}),
             curve("spread", {{1, 0.125, 0.125, 0.125, 1}})}};
}

TEST(FigureTables, PanelsStandBesideEachOtherAndShareTheirX) {
    FigureData data;
    data.panels = {panel("gpt-s · step 200", 1), panel("gpt-l · step 200", 0.5)};
    data.variants = {"mro", "spread", "only in the paper"};
    EXPECT_EQ(figure_tables(experiment(), data, 80, 40).text,
              "gpt-s · step 200                  gpt-l · step 200\n"
              "failed              mro  spread               mro  spread\n"
              "──────  ───────────────  ──────   ───────────────  ──────\n"
              "     1                1   0.125               0.5   0.125\n"
              "     2  0.5 (0.25–0.75)       –   0.5 (0.25–0.75)       –\n");
}

TEST(FigureTables, WhatIsTooWideOrTooLongIsNot) {
    FigureData data;
    data.panels = {panel("a", 1), panel("b", 1), panel("c", 1)};
    data.panels[1].curves[0].points[0].x = 7;  // another x: it has its own column
    data.variants = {"mro", "spread"};
    const FigureTables one_below_another = figure_tables(experiment(), data, 40, 40);
    EXPECT_EQ(one_below_another.left_out, 0U);
    EXPECT_EQ(one_below_another.text.substr(0, 2), "a\n");
    EXPECT_NE(one_below_another.text.find("\n\nb\nfailed "), std::string::npos);
    const FigureTables few_lines = figure_tables(experiment(), data, 40, 12);
    EXPECT_EQ(few_lines.left_out, 1U);
    EXPECT_EQ(figure_tables(experiment(), data, 40, 1).left_out, 2U) << "the first always shows";
}

TEST(FigureTables, OnePointPerPanelMakesOneTable) {
    FigureData data;
    data.shares_variants = true;
    data.categories = {"mro", "spread"};
    data.variants = {"mro", "spread"};
    for (const char* title : {"corpus a", "corpus b", "corpus c"})
        data.panels.push_back(
            {title, "", {curve("mro", {{0, 3, 3, 3, 1}}), curve("spread", {{1, 4, 4, 4, 1}})}});
    EXPECT_EQ(figure_tables(experiment(), data, 80, 4).text,
              "panel     mro  spread\n"
              "────────  ───  ──────\n"
              "corpus a    3       4\n"
              "corpus b    3       4\n");
    EXPECT_EQ(figure_tables(experiment(), data, 80, 4).left_out, 1U);
    data.panels.resize(1);
    data.panels[0].title.clear();
    EXPECT_EQ(figure_tables(experiment(), data, 80, 40).text,
              "mro  spread\n"
              "───  ──────\n"
              "  3       4\n");
}

}  // namespace
}  // namespace assay::report
