#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "suite/report/text/result_tables.hpp"
#include "suite/report/text/samples_output.hpp"
#include "tests/report/fixtures.hpp"

namespace assay::report {
namespace {

std::vector<store::Sample> two_samples() {
    std::vector<store::Sample> samples = recovery_samples();
    samples.resize(2);
    samples[0].id = "one";
    samples[0].metrics = {{"recovery_probability", {{"failed", std::int64_t{4}}}, 129.0 / 210},
                          {"plan_seconds", {}, INFINITY}};
    samples[1].id = "two";
    samples[1].spec.axes["model"] = std::string("a,\"b\"");
    samples[1].metrics.clear();
    samples[1].spec.scenario = "kill:rank=1@step=5,for=2";
    samples[1].status = "failed";
    samples[1].reason = "killed";
    return samples;
}

Registry registry() {
    System system;
    system.id = "lazarus";
    Experiment experiment = recovery_experiment();
    experiment.run = [](const SampleSpec&, Recorder&) {};
    system.experiments.push_back(std::move(experiment));
    system.claims = recovery_claims();
    Registry all;
    all.add(std::move(system));
    return all;
}

TEST(Csv, OneRowPerValueWithUnitsQuotingAndFailures) {
    EXPECT_EQ(
        csv(registry(), two_samples()),
        "session,experiment,variant,model,order,step,trace,profile,provenance,scenario,seed,round,"
        "status,metric,labels,unit,value,sample,started,better\n"
        "5e551011-session,lazarus/fig8,mro,gpt-s,aligned,200,synthetic,toy,exact,,1,0,ok,"
        "recovery_probability,failed=4,probability,0.6142857142857143,one,,higher\n"
        "5e551011-session,lazarus/fig8,mro,gpt-s,aligned,200,synthetic,toy,exact,,1,0,ok,"
        "plan_seconds,,s,inf,one,,lower\n"
        "5e551011-session,lazarus/fig8,spread,\"a,\"\"b\"\"\",aligned,200,synthetic,toy,exact,"
        "\"kill:rank=1@step=5,for=2\",1,0,failed,,,,,two,,\n");
}

TEST(SamplesJson, HasThePublishedShape) {
    const nlohmann::json array = samples_json(two_samples());
    ASSERT_EQ(array.size(), 2u);
    EXPECT_EQ(array[0],
              nlohmann::json::parse(R"({"id":"one","experiment":"lazarus/fig8","variant":"mro",
        "case":{"model":"gpt-s","order":"aligned","step":200,"trace":"synthetic"},"profile":"toy",
        "provenance":"exact","scenario":"","seed":1,"status":"ok",
        "metrics":{"recovery_probability{failed=4}":0.6142857142857143,"plan_seconds":null}})"));
    EXPECT_EQ(array[1].at("scenario"), "kill:rank=1@step=5,for=2");
    EXPECT_EQ(array[1].at("reason"), "killed");
    EXPECT_EQ(array[1].at("metrics"), nlohmann::json::object());
}

TEST(TextTables, WhatDoesNotFitFollowsBelowTheSameKeys) {
    const Grid grid{{"x", "variant", "first", "second", "third"}, {"1", "a", "2", "3", "4"}};
    EXPECT_EQ(text_tables(grid, 2, 80), text_table(grid));
    EXPECT_EQ(text_tables(grid, 2, 24),
              "x  variant  first\n"
              "─  ───────  ─────\n"
              "1  a            2\n"
              "\n"
              "x  variant  second\n"
              "─  ───────  ──────\n"
              "1  a             3\n"
              "\n"
              "x  variant  third\n"
              "─  ───────  ─────\n"
              "1  a            4\n");
    EXPECT_EQ(text_tables({{"only", "keys"}, {"1", "2"}}, 2, 80),
              text_table({{"only", "keys"}, {"1", "2"}}));
}

TEST(ResultTable, SplitsTheFiguresMetricByLabelAndSummarisesRepeats) {
    std::vector<store::Sample> samples = recovery_samples();
    samples.resize(1);
    samples[0].metrics = {{"recovery_probability", {{"failed", std::int64_t{10}}}, 0.25},
                          {"recovery_probability", {{"failed", std::int64_t{9}}}, 0.5}};
    samples.push_back(samples[0]);
    samples[1].metrics[0].value = 0.75;
    EXPECT_EQ(result_table(recovery_experiment(), samples),
              (Grid{{"variant", "samples", "failed=9", "failed=10"},
                    {"mro", "2", "0.5", "0.5 (0.25–0.75)"}}));
}

TEST(ResultTable, FaultPlansAreRowsOfTheirOwn) {
    std::vector<store::Sample> samples(2, recovery_samples().front());
    for (std::size_t i = 0; i < 2; ++i)
        samples[i].metrics = {{"recovery_probability", {}, i == 0 ? 0.25 : 0.75}};
    samples[1].spec.scenario = "kill:rank=1@step=5; join:count=1@step=9";
    EXPECT_EQ(result_table(recovery_experiment(), samples),
              (Grid{{"variant", "faults", "recovery_probability"},
                    {"mro", "none", "0.25"},
                    {"mro", "kill:rank=1@step=5;\njoin:count=1@step=9", "0.75"}}));
}

}  // namespace
}  // namespace assay::report
