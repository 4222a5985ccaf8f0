// The sample specification as it travels into its process, and look-ups in an experiment.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "suite/experiment/experiment.hpp"

using nlohmann::json;

namespace {

assay::SampleSpec full_spec() {
    assay::SampleSpec spec;
    spec.experiment = "lazarus/fig8";
    spec.variant = "mro";
    spec.axes = {{"model", std::string("gpt-l")}, {"step", std::int64_t{200}}, {"x", 0.5}};
    spec.profile = assay::Profile::paper;
    spec.provenance = assay::Provenance::simulated;
    spec.seed = UINT64_MAX;
    spec.round = 3;
    spec.timeout_s = 12.5;
    spec.scenario = "kill:rank=1@step=5";
    spec.scratch = "some/folder";
    spec.state = "/kept/a";
    spec.shared = "/kept/shared";
    return spec;
}

std::string complaint(const json& object) {
    try {
        assay::sample_spec_from_json(object);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "accepted";
}

}  // namespace

TEST(SampleSpec, RoundTripsThroughJsonText) {
    const assay::SampleSpec spec = full_spec();
    const assay::SampleSpec back =
        assay::sample_spec_from_json(json::parse(assay::to_json(spec).dump()));
    EXPECT_EQ(back.experiment, spec.experiment);
    EXPECT_EQ(back.variant, spec.variant);
    EXPECT_EQ(back.axes, spec.axes);
    EXPECT_EQ(back.profile, spec.profile);
    EXPECT_EQ(back.provenance, spec.provenance);
    EXPECT_EQ(back.seed, spec.seed);
    EXPECT_EQ(back.round, spec.round);
    EXPECT_EQ(back.timeout_s, spec.timeout_s);
    EXPECT_EQ(back.scenario, spec.scenario);
    EXPECT_EQ(back.scratch, spec.scratch);
    EXPECT_EQ(back.state, spec.state);
    EXPECT_EQ(back.shared, spec.shared);
}

TEST(SampleSpec, EveryKeyIsNeeded) {
    const json whole = assay::to_json(full_spec());
    for (const auto& [key, value] : whole.items()) {
        json lacking = whole;
        lacking.erase(key);
        if (key == "state" || key == "shared") {  // specs stored by earlier versions lack them
            EXPECT_EQ(complaint(lacking), "accepted");
            continue;
        }
        EXPECT_EQ(complaint(lacking), "sample specification: '" + key + "' is missing");
    }
}

TEST(SampleSpec, SaysWhatIsWrong) {
    const auto with = [](const char* key, const json& value) {
        json object = assay::to_json(full_spec());
        object[key] = value;
        return complaint(object);
    };
    EXPECT_EQ(with("profile", "huge"),
              "sample specification: 'profile' must be a known profile, not \"huge\"");
    EXPECT_EQ(with("seed", -1),
              "sample specification: 'seed' must be a whole number from 0 to 2^64-1, not -1");
    EXPECT_EQ(with("seed", 1.5),
              "sample specification: 'seed' must be a whole number from 0 to 2^64-1, not 1.5");
    EXPECT_EQ(with("round", -1),
              "sample specification: 'round' must be a whole number from 0 to 10^9, not -1");
    EXPECT_EQ(with("timeout_s", 0),
              "sample specification: 'timeout_s' must be a positive number of seconds, not 0");
    EXPECT_EQ(with("variant", 3), "sample specification: 'variant' must be a string, not 3");
    EXPECT_EQ(with("case", json::array()), "axis values must be a JSON object");
    EXPECT_EQ(complaint(json::array()), "sample specification: must be a JSON object");
}

TEST(SampleSpec, ComplainsAboutTextThatIsNotUtf8WithoutFailingItself) {
    json object = assay::to_json(full_spec());
    object["profile"] = "\xff";
    EXPECT_NE(complaint(object).find("'profile' must be a known profile"), std::string::npos);
}

TEST(Names, EveryEnumeratorReadsBack) {
    using assay::Profile, assay::Provenance;
    for (const auto value :
         {Provenance::exact, Provenance::measured, Provenance::emulated, Provenance::simulated})
        EXPECT_EQ(assay::of_word<Provenance>(assay::to_string(value)), value);
    for (const auto value :
         {Profile::toy, Profile::small, Profile::gpu, Profile::cluster, Profile::paper})
        EXPECT_EQ(assay::of_word<Profile>(assay::to_string(value)), value);
    EXPECT_EQ(assay::of_word<Profile>("Toy"), std::nullopt);
    EXPECT_EQ(assay::of_word<Provenance>(""), std::nullopt);
    EXPECT_EQ(assay::to_string(assay::Direction::lower), "lower");
}

TEST(Experiment, FindsItsParts) {
    assay::Experiment experiment;
    experiment.id = "lazarus/fig8";
    experiment.axes = {{"model", "", {}, false}};
    experiment.metrics = {{"recovery_probability", "probability", ""}};
    experiment.profiles = {{assay::Profile::toy, {assay::Provenance::exact}}};
    EXPECT_EQ(experiment.system(), "lazarus");
    EXPECT_EQ(experiment.axis("model"), &experiment.axes[0]);
    EXPECT_EQ(experiment.axis("step"), nullptr);
    EXPECT_EQ(experiment.metric("recovery_probability"), &experiment.metrics[0]);
    EXPECT_EQ(experiment.metric("loss"), nullptr);
    EXPECT_EQ(experiment.plan(assay::Profile::toy), &experiment.profiles[0]);
    EXPECT_EQ(experiment.plan(assay::Profile::paper), nullptr);
}
