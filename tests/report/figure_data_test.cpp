#include "suite/report/figures/figure_data.hpp"

#include <gtest/gtest.h>

#include "suite/report/figures/experiment_plot.hpp"
#include "suite/report/figures/figure_panel.hpp"
#include "suite/report/sample_groups.hpp"
#include "suite/report/text/result_tables.hpp"
#include "tests/report/fixtures.hpp"

namespace assay::report {
namespace {

TEST(FigureData, WhatVariesSplitsPanelsInDeclaredOrder) {
    const FigureData data = figure_data(recovery_experiment(), recovery_samples(), {});
    ASSERT_EQ(data.panels.size(), 8u);
    EXPECT_EQ(data.panels[0].title, "gpt-s · step 200 · aligned");
    EXPECT_EQ(data.panels[7].title, "gpt-l · step 4000 · shuffled");
    EXPECT_EQ(data.fixed, "synthetic");
    EXPECT_EQ(data.variants, (std::vector<std::string>{"mro", "spread", "compact"}));
    EXPECT_TRUE(data.categories.empty());
}

TEST(FigureData, NoTwoVariantsShareAColourWhileThereAreEnough) {
    Experiment experiment = recovery_experiment();
    auto samples = recovery_samples();
    const std::vector<std::string> shown = figure_data(experiment, samples, {}).variants;
    ASSERT_GE(shown.size(), 2U);
    EXPECT_EQ(figure_data(experiment, samples, {}).variant_slots.front(), 0U);
    // The first and the second are eight declared ones apart.
    std::vector<std::string> declared{shown.front()};
    for (int i = 1; i < 8; ++i) declared.push_back("other " + std::to_string(i));
    declared.insert(declared.end(), shown.begin() + 1, shown.end());
    experiment.variants = declared;
    const FigureData data = figure_data(experiment, samples, {});
    EXPECT_EQ(data.variants, shown);
    for (std::size_t i = 0; i < shown.size(); ++i) EXPECT_EQ(data.variant_slots[i], i);
    for (const FigurePanel& panel : data.panels)
        for (const FigureCurve& curve : panel.curves)
            EXPECT_EQ(data.variants.at(curve.slot), curve.variant);
}

TEST(FigureData, ProvenanceNeverMixesInOneSeries) {
    std::vector<store::Sample> samples = recovery_samples();
    samples.resize(1);
    samples.push_back(samples[0]);
    samples[1].spec.provenance = Provenance::measured;
    const FigureData data = figure_data(recovery_experiment(), samples, {});
    ASSERT_EQ(data.panels.size(), 2u);
    EXPECT_EQ(data.panels[0].badge, "exact · toy");
    EXPECT_EQ(data.panels[1].badge, "measured · toy");
    EXPECT_EQ(data.panels[0].curves[0].points[0].count, 1u);
}

TEST(FigureData, SeedsBecomeAMedianWithItsSpan) {
    std::vector<store::Sample> samples(3, recovery_samples().front());
    for (std::size_t i = 0; i < 3; ++i) {
        samples[i].spec.seed = i;
        samples[i].metrics = {
            {"recovery_probability", {{"failed", std::int64_t{4}}}, std::vector{0.9, 0.1, 0.3}[i]}};
    }
    const FigurePoint point =
        figure_data(recovery_experiment(), samples, {}).panels.at(0).curves.at(0).points.at(0);
    EXPECT_EQ(point.x, 4);
    EXPECT_EQ(point.median, 0.3);
    EXPECT_EQ(point.low, 0.1);
    EXPECT_EQ(point.high, 0.9);
    EXPECT_EQ(point.count, 3u);
}

// One metric against another: x says which samples belong together, their median is the place.
TEST(FigureData, PointsMayLieWhereAnotherMetricDoes) {
    std::vector<store::Sample> samples(3, recovery_samples().front());
    for (std::size_t i = 0; i < 3; ++i) {
        samples[i].spec.seed = i;
        samples[i].metrics = {{"recovery_probability", {{"failed", std::int64_t{4}}}, 0.5},
                              {"tokens_per_s", {}, std::vector{900.0, 100.0, 300.0}[i]},
                              {"tokens_per_s", {{"rank", std::int64_t{1}}}, 7.0}};
    }
    Experiment experiment = recovery_experiment();
    const auto point = [&] {
        return figure_data(experiment, samples, {}).panels.at(0).curves.at(0).points.at(0);
    };
    EXPECT_EQ(point().drawn_at, 4);
    experiment.figure.drawn_at = "tokens_per_s";
    EXPECT_EQ(point().x, 4);
    EXPECT_EQ(point().drawn_at, 300);
    EXPECT_NE(svg_figure(experiment, samples, {}, {}).find("300"), std::string::npos);
}

TEST(FigureData, PaperValuesGoOnlyWhereTheirSelectorPoints) {
    const FigureData data =
        figure_data(recovery_experiment(), recovery_samples(), recovery_claims());
    std::size_t points = 0;
    for (const FigurePanel& panel : data.panels)
        for (const FigureCurve& curve : panel.curves)
            for (const PaperPoint& point : curve.paper) {
                ++points;
                EXPECT_EQ(panel.title.rfind("gpt-l · step 200", 0), 0u) << panel.title;
                EXPECT_EQ(point.x, 4);
                EXPECT_EQ(point.value, curve.variant == "mro" ? 0.41 : 0.12);
            }
    EXPECT_EQ(points, 4u);  // two claims × aligned and shuffled; the bound is no point
}

TEST(FigureData, PaperValuesOnOtherDataAreShownAndSaySo) {
    std::vector<Claim> claims = recovery_claims();
    claims[0].of.where["trace"] = std::string("smartmoe");
    claims[0].needs = {"trace:smartmoe"};
    const auto marked = [&](const std::vector<store::Sample>& samples) {
        std::vector<std::string> found;
        for (const FigurePanel& panel : figure_data(recovery_experiment(), samples, claims).panels)
            for (const FigureCurve& curve : panel.curves)
                for (const PaperPoint& point : curve.paper)
                    if (curve.variant == "mro") found.push_back(panel.title + "|" + point.inputs);
        return found;
    };
    std::vector<store::Sample> samples = recovery_samples();
    EXPECT_EQ(marked(samples),
              (std::vector<std::string>{
                  "gpt-l · step 200 · aligned|its trace: smartmoe, ours: synthetic",
                  "gpt-l · step 200 · shuffled|its trace: smartmoe, ours: synthetic"}));
    const FigureData mixed = figure_data(recovery_experiment(), samples, claims);
    EXPECT_EQ(paper_legend(mixed),
              "hollow: the paper’s value (some: its trace: smartmoe, ours: synthetic)");

    // Where the paper's own data were used too, its value belongs there alone.
    for (const store::Sample& sample : recovery_samples()) {
        samples.push_back(sample);
        samples.back().spec.axes["trace"] = std::string("smartmoe");
    }
    EXPECT_EQ(marked(samples),
              (std::vector<std::string>{"gpt-l · step 200 · aligned · smartmoe|",
                                        "gpt-l · step 200 · shuffled · smartmoe|"}));
    EXPECT_EQ(paper_legend(figure_data(recovery_experiment(), samples, claims)),
              "hollow: the paper’s value");
}

TEST(FigureData, PaperValuesNeverMarkAnotherCase) {
    std::vector<Claim> claims = recovery_claims();
    for (Claim& claim : claims) claim.needs = {"trace:smartmoe"};
    std::vector<store::Sample> samples = recovery_samples();
    std::erase_if(samples, [](const store::Sample& sample) {
        return sample.spec.axes.at("model") == Value(std::string("gpt-l"));
    });
    EXPECT_FALSE(figure_data(recovery_experiment(), samples, claims).has_paper);
}

TEST(FigureData, FaultPlansNeverMixInOneSeries) {
    std::vector<store::Sample> samples(2, recovery_samples().front());
    samples[1].spec.scenario = "kill:rank=1@step=5";
    const FigureData data = figure_data(recovery_experiment(), samples, {});
    ASSERT_EQ(data.panels.size(), 2u);
    EXPECT_EQ(data.panels[0].title, "faults: none");
    EXPECT_EQ(data.panels[1].title, "faults: kill:rank=1@step=5");
    EXPECT_EQ(data.panels[0].curves[0].points[0].count, 1u);
    samples[0].spec.scenario = samples[1].spec.scenario;
    EXPECT_EQ(figure_data(recovery_experiment(), samples, {}).panels.at(0).title, "");
}

TEST(FigureData, MachinesAndStatesOfTheWorldNeverMixInOneSeries) {
    std::vector<store::Sample> samples(2, recovery_samples().front());
    const auto panels = [&] { return figure_data(recovery_experiment(), samples, {}).panels; };
    samples[0].origin = {"1111111111111111", "", "", "s1"};
    samples[1].origin = {"2222222222222222", "", "", "s2"};
    ASSERT_EQ(panels().size(), 2u);
    EXPECT_EQ(panels()[0].title, "machine 11111111");
    EXPECT_EQ(panels()[1].title, "machine 22222222");
    EXPECT_EQ(panels()[0].curves[0].points[0].count, 1u);
    samples[0].origin = {"", "0123456789abcdef", "", "s1"};
    samples[1].origin = {"", "", "", "s2"};
    ASSERT_EQ(panels().size(), 2u);
    EXPECT_EQ(panels()[0].title, "calibration 01234567");
    EXPECT_EQ(panels()[1].title, "calibration none");
    // The axis along x may decide it, and variants are drawn against each other.
    samples[1].spec.variant = "spread";
    EXPECT_EQ(panels().size(), 2u);
    samples[1].origin.session = "s1";
    ASSERT_EQ(panels().size(), 1u) << "one session made both";
    EXPECT_EQ(panels()[0].title, "");
}

TEST(ResultTable, MachinesAndStatesOfTheWorldHaveRowsOfTheirOwn) {
    std::vector<store::Sample> samples(2, recovery_samples().front());
    const auto table = [&] { return result_table(recovery_experiment(), samples); };
    ASSERT_EQ(table()[0][1], "samples");
    samples[0].origin = {"1111111111111111", "", "old", "s1"};
    samples[1].origin = {"2222222222222222", "", "new", "s2"};
    ASSERT_EQ(table().size(), 3u);
    EXPECT_EQ(table()[0][1], "machine");
    EXPECT_EQ(table()[1][1], "11111111");
    EXPECT_EQ(table()[2][1], "22222222");
    samples[1].origin.hardware = samples[0].origin.hardware;
    ASSERT_EQ(table().size(), 3u);
    EXPECT_EQ(table()[0][1], "data");
    EXPECT_EQ(table()[1][1], "new");
    samples[1].origin.session = "s1";
    EXPECT_EQ(table().size(), 2u);
}

TEST(Timelines, OfTwoMachinesAreTwo) {
    std::vector<store::Sample> samples(2, live_sample());
    samples[0].origin = {"1111111111111111", "", "", "s1"};
    samples[1].origin = {"2222222222222222", "", "", "s2"};
    const std::string blocks = svg_figure(live_experiment(), samples, {}, training_kinds());
    EXPECT_NE(blocks.find("machine 11111111"), std::string::npos);
    EXPECT_NE(blocks.find("machine 22222222"), std::string::npos);
    std::vector<store::Sample> rivals = rivals_samples();
    EXPECT_EQ(svg_figure(rivals_experiment(), rivals, {}, training_kinds()).find("machine"),
              std::string::npos);
    for (store::Sample& sample : rivals)
        sample.origin.hardware = sample.spec.variant == rivals[0].spec.variant ? "one" : "two";
    const std::string panels = svg_figure(rivals_experiment(), rivals, {}, training_kinds());
    EXPECT_NE(panels.find("machine one"), std::string::npos);
    EXPECT_NE(panels.find("machine two"), std::string::npos);
}

TEST(PanelColumns, KeepRowsOfTheInnermostAxisWhole) {
    EXPECT_EQ(panel_columns(1, 1), 1u);
    EXPECT_EQ(panel_columns(6, 3), 3u);
    EXPECT_EQ(panel_columns(6, 2), 2u);
    EXPECT_EQ(panel_columns(24, 2), 4u);
    EXPECT_EQ(panel_columns(7, 7), 3u);
}

}  // namespace
}  // namespace assay::report
