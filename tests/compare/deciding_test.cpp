// The last line of a comparison: what would decide what is ambiguous.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "suite/compare/deciding.hpp"
#include "suite/experiment/system.hpp"
#include "suite/report/comparison/measuring_again.hpp"
#include "tests/compare/small_arms.hpp"

namespace assay::compare::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// Pairs of lognormal noise, of which B takes `ratio` times as long.
class Noisy {
  public:
    Noisy(double ratio, double noise) : ratio_(ratio), noise_(0, noise) {}

    std::pair<Arm, Arm> arms(int pairs) {
        std::vector<double> a, b;
        for (int i = 0; i < pairs; ++i) {
            a.push_back(std::exp(noise_(random_)));
            b.push_back(ratio_ * std::exp(noise_(random_)));
        }
        return {arm({seeded(a)}), arm({seeded(b)})};
    }

  private:
    double ratio_;
    std::normal_distribution<double> noise_;
    std::mt19937_64 random_{7};
};

std::optional<Deciding> deciding(const Arm& a, const Arm& b, const Options& options = {}) {
    const std::vector<Row> rows = compare(a, b, options);
    std::optional<Deciding> found = what_would_decide(rows);
    if (found) found->rows.clear();  // they end with this
    return found;
}

TEST(Deciding, SoManyMostlyDecide) {
    for (const auto& [ratio, noise] : {std::pair(1.0, 0.02), {1.05, 0.03}, {1.5, 0.1}}) {
        SCOPED_TRACE(ratio);
        Noisy noisy(ratio, noise);
        Options options;
        options.margin = 0.02;
        int decided = 0, tries = 0;
        while (tries < 100) {
            options.margin = 0.02;
            const auto [a, b] = noisy.arms(4);
            const auto found = deciding(a, b, options);
            if (!found) continue;  // four were enough
            ++tries;
            ASSERT_TRUE(found->needed);
            ASSERT_GE(*found->needed, statistics::smallest_n_for_interval);
            options.margin = std::max(options.margin, found->margin);
            const auto [more_a, more_b] = noisy.arms(*found->needed);
            decided += deciding(more_a, more_b, options) ? 0 : 1;
        }
        EXPECT_GT(decided, tries / 2);
    }
}

TEST(Deciding, MoreNoiseTakesMoreAndALargerMarginLess) {
    const auto found = [](double noise, double margin) {
        Options options;
        options.margin = margin;
        const auto [a, b] = Noisy(1, noise).arms(3);
        return deciding(a, b, options).value();
    };
    EXPECT_GT(found(0.02, 0.05).needed, found(0.01, 0.05).needed);
    EXPECT_GT(found(0.03, 0.05).needed, found(0.03, 0.1).needed);
    EXPECT_EQ(found(1e-6, 0.05).needed, statistics::smallest_n_for_interval);
    EXPECT_EQ(found(0.03, 0.05).margin, 0) << "the rows' own is enough";
    EXPECT_GT(found(0.2, 0.001).margin, 0.01) << "in so much noise only larger changes can be told";
    EXPECT_FALSE(found(30, 0.01).needed) << "no number that anyone waits for";
}

TEST(Deciding, OnlyWhatMoreValuesDecide) {
    EXPECT_FALSE(deciding(arm({seeded(around(1, 0.001, 9))}), arm({seeded(around(1, 0.001, 9))})));
    Arm a = arm({seeded(around(1, 0.001, 9))}), b = arm({seeded(around(2, 0.001, 9))});
    a.series[0].better = b.series[0].better = Direction::none;
    Options all;
    all.all_metrics = true;
    ASSERT_EQ(compare(a, b, all).at(0).verdict, RowVerdict::ambiguous);
    EXPECT_FALSE(deciding(a, b, all)) << "neither way is better, however sure";
}

/// Of toy/fig1 four rows in two series of 2 s and 3 s, of toy/fig2 one.
class DecidingLine : public ::testing::Test {
  protected:
    DecidingLine() {
        System toy;
        toy.id = "toy";
        for (const char* id : {"toy/fig1", "toy/fig2"}) {
            Experiment experiment;
            experiment.id = id;
            experiment.variants = {"plain", "other"};
            experiment.axes = {{"n", "", {Value(std::int64_t{1}), Value(std::int64_t{2})}}};
            ProfilePlan plan;
            plan.provenances = {Provenance::measured};
            experiment.profiles = {plan};
            toy.experiments.push_back(experiment);
        }
        registry.add(std::move(toy));
        for (const char* metric : {"time", "rate"}) {
            add("toy/fig1", "plain", 1, metric, 2);
            add("toy/fig1", "plain", 2, metric, 3);
        }
        add("toy/fig2", "plain", 1, "time", 100);
    }

    void add(const std::string& experiment, const std::string& variant, std::int64_t n,
             const std::string& metric, double seconds) {
        const auto [less, more] = straddling(9);
        for (const auto& [arm, values] : {std::pair(&a, &less), std::pair(&b, &more)}) {
            Series series = seeded(*values);
            series.name = {experiment, variant, {{"n", Value(n)}}, metric};
            series.name.profile = Profile::toy;
            series.name.provenance = Provenance::measured;
            series.context["provenance"] = "measured";
            series.sample_s = seconds;
            arm->series.push_back(std::move(series));
        }
    }

    std::string line() const {
        const std::vector<Row> rows = compare(a, b);
        const auto found = what_would_decide(rows);
        return found ? report::deciding_line(*found, registry, b) : "";
    }

    Arm a, b;
    Registry registry;
};

TEST_F(DecidingLine, NamesRowsRoundsTimeAndCommand) {
    const std::vector<Row> rows = compare(a, b);
    const auto found = what_would_decide(rows);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->rows.size(), 4u);
    EXPECT_EQ(found->others, 1u);
    EXPECT_EQ(found->decided, 4u);
    EXPECT_DOUBLE_EQ(found->round_s, 5) << "a sample measures all metrics of its series";
    EXPECT_GT(found->needed.value(), 9);
    const std::string text = line();
    EXPECT_THAT(text, StartsWith("4 ambiguous rows of toy/fig1 (and 1 elsewhere): by the noise "
                                 "about "));
    EXPECT_THAT(text, HasSubstr("rounds on either side, "));
    EXPECT_THAT(text, HasSubstr(" min each, would decide them: "));
    EXPECT_THAT(text, EndsWith("`assay run toy/fig1 --variant plain --profile toy --mode measured "
                               "--rounds " +
                               std::to_string(*found->needed) + " --fresh`\n"));
}

TEST_F(DecidingLine, TheCommandIsNarrowedToWhatIsAmbiguous) {
    add("toy/fig1", "other", 1, "time", 1);
    EXPECT_THAT(line(), HasSubstr("`assay run toy/fig1 --profile toy")) << "all that there is";
    std::erase_if(a.series, [](const Series& series) {
        return series.name.axes.at("n") != Value(std::int64_t{1});
    });
    b.series = a.series;
    for (Series& series : b.series) {
        std::size_t i = 0;
        for (Point& point : series.points) point.value *= 0.97 + 0.08 * double(i++ % 5) / 4;
    }
    EXPECT_THAT(line(), HasSubstr("`assay run toy/fig1 -a n=1 --profile toy"));
}

TEST_F(DecidingLine, OfAnExperimentWithAnAxisToBeNamedNamesIt) {
    System programs;
    programs.id = "programs";
    Experiment experiment;
    experiment.id = "programs/any";
    experiment.variants = {"plain"};
    experiment.axes = {{"n", "", {}, true}};
    ProfilePlan plan;
    plan.provenances = {Provenance::measured};
    experiment.profiles = {plan};
    programs.experiments.push_back(experiment);
    registry.add(std::move(programs));
    for (Arm* arm : {&a, &b}) arm->series.clear();
    add("programs/any", "plain", 7, "time", 1);
    EXPECT_THAT(line(), HasSubstr("`assay run programs/any -a n=7 --profile toy"));
}

TEST_F(DecidingLine, SaysWhereRoundsAreNoHelp) {
    const auto alternate = [&](double factor, std::size_t pairs) {
        for (Arm* arm : {&a, &b}) {
            arm->series.resize(1);
            std::vector<Point>& points = arm->series[0].points;
            points.clear();
            for (std::size_t i = 0; i < pairs; ++i)
                points.push_back({(i % 2 == 0) == (arm == &a) ? 1 : factor, std::to_string(i)});
        }
    };
    alternate(1000, 9);
    EXPECT_THAT(line(), HasSubstr("1 ambiguous row of toy/fig1: by the noise not even 300 rounds "
                                  "on either side would decide it: look"));
    alternate(1.09, 9);
    EXPECT_THAT(line(), HasSubstr(": with --margin 5% by the noise about "));
    alternate(1, 101);
    for (std::size_t i = 0; i < 101; ++i)
        b.series[0].points[i].value = std::pow(1.5, static_cast<double>(i) / 50 - 1);
    EXPECT_THAT(line(), EndsWith("0% what there is decides it\n")) << "of a larger margin";
}

TEST_F(DecidingLine, OfSeveralSessionsSaysHowManyMore) {
    a.series = {of_sessions({around(1, 0.01, 3), around(1.02, 0.01, 3)})};
    b.series = {of_sessions({around(1, 0.01, 3), around(1.03, 0.01, 3)})};
    for (Arm* arm : {&a, &b}) {
        arm->series[0].name.profile = Profile::toy;
        arm->series[0].name.provenance = Provenance::measured;
        arm->series[0].sample_s = 4;
    }
    const std::string text = line();
    EXPECT_THAT(text, HasSubstr("sessions on either side (A has 2, B has 2), 12 s each, would"));
    EXPECT_THAT(text, HasSubstr("--rounds 3 --fresh`"));
}

TEST_F(DecidingLine, OfBenchmarksOfFilesTakesRepetitions) {
    a.series = {series({1, 1.01, 0.99, 1.02, 1.03, 0.98})};
    b.series = {series({1.01, 1.0, 0.98, 1.03, 1.02, 0.99})};
    a.series[0].name = b.series[0].name = {"benchmark/BM_x", "", {}, "real_time"};
    EXPECT_THAT(line(), AllOf(StartsWith("1 ambiguous row: by the noise about "),
                              EndsWith(" repetitions on either side would decide it\n")))
        << "every tool has flags of its own";
    b.suspects["executable"] = "./bench";
    EXPECT_THAT(line(), HasSubstr(" would decide it: `./bench --benchmark_repetitions="));
}

TEST_F(DecidingLine, OfWhatIsInNoRegistryNamesNoCommand) {
    for (Arm* arm : {&a, &b})
        for (Series& series : arm->series) series.name.experiment = "toy/fig9";
    EXPECT_THAT(line(), AllOf(HasSubstr("would decide them\n"), Not(HasSubstr("assay run"))));
}

}  // namespace
}  // namespace assay::compare::testing
