#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "suite/report/report.hpp"
#include "tests/report/rivals_fixture.hpp"
#include "tests/report/xml_check.hpp"

namespace assay::report {
namespace {

std::size_t occurrences(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
        ++count;
    return count;
}

std::string drawn(const std::vector<store::Sample>& samples) {
    const std::string svg = svg_figure(rivals_experiment(), samples, {});
    EXPECT_EQ(xml_problem(svg), "");
    return svg;
}

TEST(TimelineOverlay, OnePanelPerModelInTheAxisOrderWithOneLegend) {
    const std::string svg = drawn(rivals_samples());
    EXPECT_EQ(occurrences(svg, ">gpt-s<"), 1u);
    EXPECT_EQ(occurrences(svg, ">gpt-l<"), 1u);
    EXPECT_LT(svg.find(">gpt-s<"), svg.find(">gpt-l<"));
    EXPECT_EQ(occurrences(svg, ">workers 10<"), 1u);    // the same everywhere: said once
    EXPECT_EQ(occurrences(svg, ">compact<"), 1u + 2u);  // legend, and a lane in each panel
    EXPECT_EQ(occurrences(svg, ">emulated · toy<"), 2u);
    EXPECT_EQ(occurrences(svg, ">time on the trace (min)<"), 2u);
}

TEST(TimelineOverlay, ShortScenariosAreInSeconds) {
    std::vector<store::Sample> samples = rivals_samples();
    for (store::Sample& sample : samples) {
        for (store::Event& event : sample.events) event.t_s /= 10;
        for (store::TimeSeries& series : sample.series_data)
            for (double& t : series.t_s) t /= 10;
    }
    EXPECT_EQ(occurrences(drawn(samples), ">time on the trace (s)<"), 2u);
}

TEST(TimelineOverlay, EveryDeathAndJoinIsCountedOnceInItsPanel) {
    std::vector<store::Sample> samples = rivals_samples();
    samples.resize(5);
    const std::string svg = drawn(samples);
    for (const std::string kind : {"death", "join"}) {
        std::size_t counted = 0;
        for (std::size_t at = 0; (at = svg.find(" × " + kind, at)) != std::string::npos; ++at) {
            const std::size_t number = svg.rfind('>', at) + 1;
            counted += std::stoul(svg.substr(number, at - number));
        }
        const auto recorded = std::count_if(samples[0].events.begin(), samples[0].events.end(),
                                            [&](const auto& event) { return event.kind == kind; });
        EXPECT_EQ(counted, static_cast<std::size_t>(recorded)) << kind;
        EXPECT_EQ(occurrences(svg, ">" + kind + "s<"), 1u);
    }
}

TEST(TimelineOverlay, RivalsWithOtherDeathsHaveRowsOfTheirOwn) {
    std::vector<store::Sample> samples = rivals_samples();
    samples.resize(5);
    samples[1].events.push_back({4700, "death", 99, {}});
    const std::string svg = drawn(samples);
    EXPECT_EQ(occurrences(svg, ">deaths<"), 0u);
    EXPECT_EQ(occurrences(svg, ">deaths ds<"), 1u);
    EXPECT_EQ(occurrences(svg, ">joins<"), 1u);
}

TEST(TimelineOverlay, RestartsAreInTheirVariantsLane) {
    const std::vector<store::Sample> samples = rivals_samples();
    const std::string svg = drawn(samples);
    for (const std::string variant : {"ds", "ds_ft"}) {
        std::size_t recorded = 0;
        for (const store::Sample& sample : samples)
            if (sample.spec.variant == variant)
                for (const store::Event& event : sample.events) recorded += event.kind == "restart";
        EXPECT_GT(recorded, 0u);
        EXPECT_EQ(occurrences(svg, ">" + variant + ": restart at "), recorded);
    }
    EXPECT_EQ(occurrences(svg, ">lazarus: restart at "), 0u);
}

TEST(TimelineOverlay, FaultPlansAreShortened) {
    std::vector<store::Sample> samples = rivals_samples();
    std::string plan;
    for (int i = 0; i < 60; ++i) plan += "kill:rank=1@t=" + std::to_string(100 * i) + "; ";
    samples[0].spec.scenario = plan;
    const std::string svg = drawn(samples);
    EXPECT_NE(svg.find(">faults: kill:rank=1@t=0;"), std::string::npos);
    EXPECT_EQ(svg.find("t=5900"), std::string::npos);
    EXPECT_NE(svg.find("…"), std::string::npos);
}

TEST(TimelineOverlay, OddSamplesStayWellFormed) {
    std::vector<store::Sample> samples = rivals_samples();
    samples.resize(4);
    samples[0].series_data.clear();
    samples[0].events.clear();
    samples[1].series_data[0].values.pop_back();  // fewer values than times
    std::fill(samples[2].series_data[0].values.begin(), samples[2].series_data[0].values.end(),
              NAN);
    samples[3].status = "failed";
    const std::string svg = drawn(samples);
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    samples.resize(1);
    drawn(samples);
    samples[0].status = "failed";
    EXPECT_NE(drawn(samples).find("assay run lazarus/fig9"), std::string::npos);
}

}  // namespace
}  // namespace assay::report
