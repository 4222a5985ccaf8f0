// Whole outputs against files in tests/golden. ASSAY_UPDATE_GOLDEN=1 writes them anew.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "suite/report/figures/experiment_plot.hpp"
#include "suite/report/figures/figure_panel.hpp"
#include "suite/report/figures/svg_writer.hpp"
#include "suite/report/text/result_tables.hpp"
#include "tests/report/fixtures.hpp"
#include "tests/report/xml_check.hpp"

namespace assay::report {
namespace {

void expect_golden(const std::string& name, const std::string& text) {
    const auto file = std::filesystem::path(ASSAY_GOLDEN) / name;
    if (std::getenv("ASSAY_UPDATE_GOLDEN")) {
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
        return;
    }
    std::ifstream in(file);
    ASSERT_TRUE(in) << file << " is missing; run with ASSAY_UPDATE_GOLDEN=1 and look at it";
    std::stringstream wanted;
    wanted << in.rdbuf();
    EXPECT_TRUE(text == wanted.str())
        << file << " differs; run with ASSAY_UPDATE_GOLDEN=1 and look at the difference";
}

TEST(Golden, LinesInManyPanels) {
    const std::string svg =
        svg_figure(recovery_experiment(), recovery_samples(), recovery_claims());
    EXPECT_EQ(xml_problem(svg), "");
    expect_golden("report_lines.svg", svg);
}

// Panels that differ in their last part must not look alike.
TEST(PanelHead, WhatIsTooLongGoesOnBelow) {
    Plot plot("id", "title", "says");
    draw_panel_head(plot, {.left = 62, .top = 50, .width = 150, .height = 100},
                    "smartmoe · aligned · gpt-s · step 4000", "exact · toy");
    const std::string svg = to_svg(std::move(plot).finish(300, 200));
    EXPECT_NE(svg.find(">smartmoe · aligned · gpt-s<"), std::string::npos) << svg;
    EXPECT_NE(svg.find(">step 4000<"), std::string::npos);
}

TEST(Golden, BarsOverVariants) {
    const std::string svg = svg_figure(plans_experiment(), plans_samples(), {});
    EXPECT_EQ(xml_problem(svg), "");
    expect_golden("report_bars.svg", svg);
}

TEST(Golden, Timeline) {
    const std::vector<store::Sample> samples{live_sample()};
    const std::string svg = svg_figure(live_experiment(), samples, {}, training_kinds());
    EXPECT_EQ(xml_problem(svg), "");
    expect_golden("report_timeline.svg", svg);
}

TEST(Golden, TimelineOfRivals) {
    const std::string svg = svg_figure(rivals_experiment(), rivals_samples(), {}, training_kinds());
    EXPECT_EQ(xml_problem(svg), "");
    expect_golden("report_timeline_rivals.svg", svg);
}

TEST(Timeline, EveryFaultPlanHasItsBlockAndIsNamedWhereTheyDiffer) {
    std::vector<store::Sample> samples(3, live_sample());
    EXPECT_EQ(svg_figure(live_experiment(), samples, {}, training_kinds()).find("faults:"),
              std::string::npos);
    samples[1].spec.scenario = "kill:rank=1@step=5";
    const std::string svg = svg_figure(live_experiment(), samples, {}, training_kinds());
    EXPECT_EQ(xml_problem(svg), "");
    EXPECT_NE(svg.find(">faults: none<"), std::string::npos);
    EXPECT_NE(svg.find(">faults: kill:rank=1@step=5<"), std::string::npos);
    std::size_t blocks = 0;
    for (std::size_t at = 0; (at = svg.find(">measured · toy<", at)) != std::string::npos; ++at)
        ++blocks;
    EXPECT_EQ(blocks, 2u);  // the third repeats the first
}

TEST(Timeline, AxesAreTitledAsTheFigureSays) {
    Experiment e = live_experiment();
    const std::vector<store::Sample> samples{live_sample()};
    const std::string titled = svg_figure(e, samples, {}, training_kinds());
    EXPECT_NE(titled.find(">committed tokens per second<"), std::string::npos);
    EXPECT_NE(titled.find(">time since the start (s)<"), std::string::npos);
    e.figure.x_title = e.figure.y_title = "";
    EXPECT_NE(svg_figure(e, samples, {}, training_kinds()).find(">throughput (tokens/s)<"),
              std::string::npos);
}

TEST(Golden, Page) {
    const std::string html = html_page(whole_report());
    EXPECT_EQ(xml_problem(html), "");
    expect_golden("report_page.html", html);
}

TEST(Golden, Table) {
    expect_golden("report_table.txt",
                  text_table(result_table(recovery_experiment(), recovery_samples())));
}

// The paper's numbers and what is contradicted come first, as links; what is of one machine folds.
TEST(Page, BeginsWithFindingsThatLinkToTheirFigures) {
    const std::string html = html_page(whole_report());
    const auto at = [&](const char* text) {
        const auto found = html.find(text);
        EXPECT_NE(found, std::string::npos) << text;
        return found;
    };
    EXPECT_LT(at("<section id=\"headlines\">"), at("<section id=\"contradicted\">"));
    EXPECT_LT(at("<section id=\"contradicted\">"), at("<summary>Machine and sessions</summary>"));
    EXPECT_LT(at("<summary>2 experiments without samples"), at("<section id=\"s-lazarus-fig4\">"));
    EXPECT_NE(html.find("<a href=\"#s-lazarus-fig8\">At four failed nodes"), std::string::npos);
    EXPECT_EQ(html.find("href=\"#s-lazarus-fig9\""), std::string::npos) << "not on the page";
    EXPECT_LT(at("<details><summary>Machine and sessions"), at("Two &lt;cores&gt;"));
}

TEST(Page, NeedsNothingFromOutside) {
    const std::string html = html_page(whole_report());
    for (const char* reference : {"<script", "<link", "src=", "url(", "@import", "href=\"http"})
        EXPECT_EQ(html.find(reference), std::string::npos) << reference;
}

TEST(Page, HostileTextStaysText) {
    const std::string html = html_page(whole_report());
    EXPECT_EQ(html.find("<script>"), std::string::npos);
    EXPECT_EQ(html.find("<b>nobody"), std::string::npos);
    EXPECT_NE(html.find("&lt;b&gt;nobody&lt;/b&gt;"), std::string::npos);
    EXPECT_NE(html.find("a&amp;b&#39; &lt;lazarus&gt;"), std::string::npos);
}

TEST(Figure, WithoutSamplesSaysHowToGetThem) {
    const std::string svg = svg_figure(recovery_experiment(), {}, recovery_claims());
    EXPECT_EQ(xml_problem(svg), "");
    EXPECT_NE(svg.find("assay run lazarus/fig8"), std::string::npos);
}

TEST(Figure, HostileAndOddSamplesStayWellFormed) {
    Experiment e = recovery_experiment();
    e.title =
        "A <title> & \"more\"\x01\xff that goes on and on and on and on and on and on and on and "
        "on";
    e.variants[0] = "<mro>&";
    std::vector<store::Sample> samples = recovery_samples();
    samples.resize(1);
    samples[0].spec.variant = "<mro>&";
    samples[0].metrics = {{"recovery_probability", {{"failed", std::int64_t{4}}}, 0.3},
                          {"recovery_probability", {{"failed", std::int64_t{5}}}, NAN}};
    for (const auto kind : {Figure::Kind::lines, Figure::Kind::bars, Figure::Kind::timeline}) {
        e.figure.kind = kind;
        EXPECT_EQ(xml_problem(svg_figure(e, samples, {}, training_kinds())), "");
    }
    EXPECT_EQ(svg_figure(e, samples, {}, training_kinds()).find("nan"), std::string::npos);
}

TEST(XmlCheck, SeesWhatIsBroken) {
    EXPECT_EQ(xml_problem("<a b=\"1\"><c/>x &amp; y</a>\n"), "");
    for (const char* broken :
         {"<a>", "<a></b>", "<a b=1/>", "<a>x & y</a>", "<a/><b/>", "<a b=\"1\" b=\"2\"/>",
          "<a b=\"<\"/>", "text", "<a><b id=\"x\"/><c id=\"x\"/></a>"})
        EXPECT_NE(xml_problem(broken), "") << broken;
}

}  // namespace
}  // namespace assay::report
