// What timelines draw of events, in detail and over one another.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "suite/report/figures/experiment_plot.hpp"
#include "suite/report/figures/timeline.hpp"
#include "suite/report/text/result_tables.hpp"
#include "suite/report/text/text_table.hpp"
#include "tests/report/fixtures.hpp"
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
    const std::string svg = svg_figure(rivals_experiment(), samples, {}, training_kinds());
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

TEST(TimelineOverlay, ReasonsOfRestartsAreInWordsWhereThereIsRoom) {
    std::vector<store::Sample> samples = rivals_samples();
    samples.resize(2);
    for (store::Sample& sample : samples) {
        std::erase_if(sample.events, [](const auto& event) {
            return event.kind == "restart" || event.kind == "regroup";
        });
        const nlohmann::json detail{{"seconds", 60}, {"reason", "no_replica_left"}};
        sample.events.push_back({600, "restart", -1, detail});
    }
    samples[1].events.push_back({700, "restart", -1, {{"reason", "every_loss"}}});
    const std::string svg = drawn(samples);
    EXPECT_EQ(occurrences(svg, "min, 60 s: no replica left<"),
              2u);                                         // whoever points at it reads it
    EXPECT_EQ(occurrences(svg, ">no replica left<"), 1u);  // the second one's next is too near
    EXPECT_EQ(occurrences(svg, ">every loss<"), 1u);
}

TEST(TimelineOverlay, DrawsTheCurveOfTheFigureAndSaysWhereResultsAreOlder) {
    Experiment experiment = rivals_experiment();
    experiment.figure.metric = "kept";
    std::vector<store::Sample> samples = rivals_samples();
    samples.resize(2);
    const auto svg = [&] { return svg_figure(experiment, samples, {}, training_kinds()); };
    const std::string older = svg();
    EXPECT_EQ(older.find(">0.0"), std::string::npos);
    EXPECT_NE(older.find("Older results (ds, lazarus) have no curve kept"), std::string::npos);
    for (store::Sample& sample : samples) {
        store::TimeSeries kept = sample.series_data[0];
        kept.name = "kept";
        for (double& value : kept.values) value /= 1000;
        sample.series_data.push_back(kept);
    }
    const std::string newer = svg();
    EXPECT_EQ(newer.find("Older results"), std::string::npos);
    EXPECT_EQ(xml_problem(newer), "");
    EXPECT_NE(newer.find(">0.0"), std::string::npos) << "the axis is that of the smaller curve";
}

// An axis that cases leave out at its usual value: the panels still say which is which.
TEST(TimelineOverlay, UnnamedValuesAreNamedBesideOthers) {
    Experiment experiment = rivals_experiment();
    experiment.axes.push_back({"slots", "", {std::int64_t{6}}, true});
    experiment.profiles = {ProfilePlan{.profile = Profile::toy, .axes = {{"slots", {}}}}};
    std::vector<store::Sample> samples = rivals_samples();
    samples.resize(2);
    samples[1].spec.variant = samples[0].spec.variant;
    samples[1].spec.axes["slots"] = std::int64_t{8};
    const std::string svg = svg_figure(experiment, samples, {}, training_kinds());
    EXPECT_EQ(occurrences(svg, ">slots 6<"), 1u);
    EXPECT_EQ(occurrences(svg, ">slots 8<"), 1u);
    const Grid table = result_table(experiment, samples);
    EXPECT_EQ(table[0][0], "slots");
    EXPECT_EQ(table.size(), 3u);
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

TEST(TimelineMarks, MergeEqualKindsAndTellTheTimeSinceTheFault) {
    const std::vector<TimelineMark> marks =
        timeline_marks(live_sample().events, 0.05, training_kinds());
    std::vector<std::string> texts;
    for (const TimelineMark& mark : marks) texts.push_back(mark.text);
    EXPECT_EQ(texts,
              (std::vector<std::string>{
                  "regroup ×4 0.200 s", "kill r1 2.400 s", "death r1 +3 ms", "detection r1 +4 ms",
                  "regroup ×3 +15 ms", "transfer ×2 +50 ms", "join r4 4.600 s", "regroup ×4 +40 ms",
                  "transfer r4 +100 ms", "hang r3 5.500 s", "detection r3 +520 ms",
                  "death r3 +522 ms", "regroup ×3 +540 ms"}));
}

TEST(TimelineMarks, AreOfDeclaredKindsOnly) {
    const store::Sample sample = live_sample();
    for (const TimelineMark& mark : timeline_marks(sample.events, 0.05, suite_event_kinds())) {
        EXPECT_NE(mark.kind.name, "regroup");
        EXPECT_NE(mark.kind.name, "commit") << "has a row of its own";
    }
    const EventKind own{"regroup", "regroups", EventColour::placement, EventLane::cause};
    const auto marks = timeline_marks(sample.events, 0.05, std::span(&own, 1));
    ASSERT_EQ(marks.size(), 4u);
    EXPECT_EQ(marks[1].text, "regroup ×3 2.415 s");  // a cause: the time itself
}

TEST(Timeline, KindsAreDrawnAsDeclared) {
    const std::vector<store::Sample> samples{live_sample()};
    const auto drawn_with = [&](std::vector<EventKind> kinds) {
        const std::string svg = svg_figure(live_experiment(), samples, {}, kinds);
        EXPECT_EQ(xml_problem(svg), "");
        return svg;
    };
    const std::string plain = drawn_with({});
    EXPECT_EQ(occurrences(plain, ">commits<"), 0u);
    EXPECT_GT(occurrences(plain, "regroup of rank "), 0u)
        << "of a kind that nobody declared: a mark";
    EXPECT_EQ(occurrences(plain, "regroup ×"), 0u) << "and no label";
    const std::string rows =
        drawn_with({{"commit", "steps", EventColour::other, EventLane::row},
                    {"transfer", "state moved", EventColour::transfer, EventLane::row}});
    EXPECT_EQ(occurrences(rows, ">steps<"), 1u);
    EXPECT_EQ(occurrences(rows, ">state moved<"), 1u);
}

TEST(TimelineOverlay, LanesAreOfTheSystemsOwnStopsAndPauses) {
    const auto drawn_with = [&](const std::vector<EventKind>& kinds) {
        return svg_figure(rivals_experiment(), rivals_samples(), {}, kinds);
    };
    const std::string none = drawn_with(suite_event_kinds());
    EXPECT_EQ(none.find("Lanes:"), std::string::npos);
    EXPECT_EQ(none.find(": restart at "), std::string::npos);
    std::vector<EventKind> kinds = suite_event_kinds();
    kinds.push_back({"restart", "reloads", EventColour::state, EventLane::stop});
    const std::string stops = drawn_with(kinds);
    EXPECT_NE(stops.find("Lanes: a block is a restart of that variant."), std::string::npos);
    EXPECT_NE(stops.find("and each one&#39;s reloads below"), std::string::npos);
}

TEST(PlaceLabels, NeverOverlapAndStayInside) {
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> x(80, 780), width(20, 150);
    for (int round = 0; round < 200; ++round) {
        std::vector<std::pair<double, double>> wanted;
        for (int i = 0; i < 25; ++i) wanted.emplace_back(x(random), width(random));
        std::sort(wanted.begin(), wanted.end());
        const auto placed = place_labels(wanted, 74, 784, 5);
        ASSERT_EQ(placed.size(), wanted.size());
        for (std::size_t i = 0; i < placed.size(); ++i) {
            if (!placed[i].shown) continue;
            EXPECT_LT(placed[i].row, 5u);
            EXPECT_GE(placed[i].left, 74);
            EXPECT_LE(placed[i].left + wanted[i].second, 784 + 1e-9);
            for (std::size_t j = 0; j < i; ++j) {
                if (!placed[j].shown || placed[j].row != placed[i].row) continue;
                EXPECT_TRUE(placed[j].left + wanted[j].second <= placed[i].left ||
                            placed[i].left + wanted[i].second <= placed[j].left);
            }
        }
        EXPECT_TRUE(placed.front().shown);
    }
}

TEST(PlaceLabels, WhoChoosesFirstHasRoom) {
    const std::vector<std::pair<double, double>> wanted{{100, 200}, {110, 200}, {120, 200}};
    const std::vector<std::size_t> order{2, 0, 1};
    const auto placed = place_labels(wanted, 74, 784, 2, order);
    EXPECT_TRUE(placed[2].shown);
    EXPECT_TRUE(placed[0].shown);
    EXPECT_FALSE(placed[1].shown);
}

// A window shows a part of the time: the same picture, as high, with nothing beside its panels.
TEST(TimelineWindow, IsAPartOfTheWhole) {
    const auto drawn = [](const ViewWindow& window) {
        const store::Sample sample = live_sample();
        return sample_timeline(live_experiment(), sample, extents_of(sample), training_kinds(), 800,
                               window);
    };
    const Plot whole = drawn({}), part = drawn({.x = Range{2.3, 2.5}});
    EXPECT_EQ(part.height(), whole.height());
    ASSERT_EQ(part.panels().size(), whole.panels().size());
    EXPECT_EQ(part.panels()[0].x.low(), 2.3);
    EXPECT_NEAR(part.panels()[0].x_at(part.panels()[0].px(2.4)), 2.4, 1e-12);
    const PlotArea& lanes = part.panels()[0].area;
    bool fault = false;
    for (const Shape& shape : part.shapes()) {
        if (const auto* path = std::get_if<Polyline>(&shape); path && !path->one_line)
            for (const Point& point : path->points) {
                EXPECT_GE(point.x, lanes.left - 1e-9);
                EXPECT_LE(point.x, lanes.right() + 1e-9);
            }
        if (const auto* mark = std::get_if<Mark>(&shape)) {
            EXPECT_EQ(mark->tooltip.find("join"), std::string::npos);
            fault |= mark->tooltip.find("fault of rank 1 at 2.400 s") == 0;
        }
    }
    EXPECT_TRUE(fault);
}

TEST(Clipped, PathsAreCutAtTheEdges) {
    const PlotArea area{.left = 0, .top = 0, .width = 10, .height = 10};
    const auto pieces = clipped({{-5, 5}, {5, 5}, {5, 20}, {8, 20}, {8, 5}}, area);
    ASSERT_EQ(pieces.size(), 2u);
    EXPECT_EQ(pieces[0].front().x, 0);
    EXPECT_EQ(pieces[0].back().y, 10);
    EXPECT_EQ(pieces[1].front().y, 10);
    EXPECT_TRUE(clipped({{-5, -5}, {-1, 20}}, area).empty());
    EXPECT_TRUE(clipped({{NAN, 1}, {2, NAN}}, area).empty());
}

}  // namespace
}  // namespace assay::report
