// Axis values: text and type survive the way through a command line and through JSON.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "suite/base/error.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/value.hpp"

using assay::Case;
using assay::Value;

TEST(Value, TextKeepsTheType) {
    for (const Value& value :
         {Value(std::int64_t{4}), Value(4.0), Value(-0.0), Value(0.1), Value(1e300), Value(5e-324),
          Value(INT64_MIN), Value(std::string("gpt-l"))})
        EXPECT_EQ(assay::parse_value(assay::to_string(value)), value) << assay::to_string(value);
}

TEST(Value, WritesWholeDoublesWithAPoint) {
    EXPECT_EQ(assay::to_string(Value(4.0)), "4.0");
    EXPECT_EQ(assay::to_string(Value(std::int64_t{4})), "4");
    EXPECT_EQ(assay::to_string(Value(0.5)), "0.5");
}

TEST(Value, OnlyWholeTextsAreNumbers) {
    for (const char* word :
         {"", "4x", "0x10", "+4", " 4", "4 ", "nan", "inf", "-inf", "1e999", "2:1", "-"})
        EXPECT_TRUE(std::holds_alternative<std::string>(assay::parse_value(word))) << word;
    EXPECT_EQ(assay::parse_value("-12"), Value(std::int64_t{-12}));
    EXPECT_EQ(assay::parse_value("1e3"), Value(1000.0));
    EXPECT_TRUE(std::holds_alternative<double>(assay::parse_value("9223372036854775808")));
}

TEST(Case, TextIsInNameOrderHoweverItWasFilled) {
    Case one, two;
    one["step"] = std::int64_t{200};
    one["model"] = std::string("gpt-l");
    two["model"] = std::string("gpt-l");
    two["step"] = std::int64_t{200};
    EXPECT_EQ(assay::to_string(one), "model=gpt-l step=200");
    EXPECT_EQ(assay::to_string(one), assay::to_string(two));
    EXPECT_EQ(assay::to_string(Case{}), "");
}

TEST(Case, JsonRoundTripKeepsIntegersAndDoublesApart) {
    const Case axes{{"ratio", 2.0}, {"slots", std::int64_t{6}}, {"model", std::string("gpt-s")}};
    const auto text = assay::to_json(axes).dump();
    EXPECT_EQ(text, R"({"model":"gpt-s","ratio":2.0,"slots":6})");
    EXPECT_EQ(assay::case_from_json(nlohmann::json::parse(text)), axes);
}

TEST(Case, RefusesWhatIsNeitherNumberNorString) {
    for (const char* text : {R"({"a":null})", R"({"a":[1]})", R"({"a":true})", "[]", "3",
                             R"({"a":9223372036854775808})"})
        EXPECT_THROW(assay::case_from_json(nlohmann::json::parse(text)), std::invalid_argument)
            << text;
}

TEST(MetricKey, ListsLabelsInNameOrder) {
    EXPECT_EQ(assay::metric_key("loss", {}), "loss");
    EXPECT_EQ(assay::metric_key("recovery_probability",
                                {{"layer", std::int64_t{2}}, {"failed", std::int64_t{4}}}),
              "recovery_probability{failed=4,layer=2}");
}

// Typed axis values: what is taken, and what the sentence says about what is not.

namespace {

using assay::integer_axis;

assay::SampleSpec spec_with(assay::Value nodes) {
    assay::SampleSpec spec;
    spec.axes = {{"nodes", std::move(nodes)}};
    return spec;
}

std::string complaint(assay::Value nodes) {
    try {
        integer_axis(spec_with(std::move(nodes)), "nodes", 1, 64);
    } catch (const assay::UserError& error) {
        return error.what();
    }
    return "none";
}

TEST(IntegerAxis, TakesWholeNumbersOfItsRange) {
    for (const std::int64_t nodes : {1, 10, 64}) {
        EXPECT_EQ(integer_axis(spec_with(nodes), "nodes", 1, 64), nodes);
        EXPECT_EQ(integer_axis(spec_with(nodes), "nodes"), nodes);
    }
}

TEST(IntegerAxis, SaysWhatItWantsInsteadOfAnythingElse) {
    const auto wants = [](const char* given) {
        return std::string("axis nodes needs a whole number from 1 to 64, not '") + given + "'";
    };
    EXPECT_EQ(complaint(std::int64_t{0}), wants("0"));
    EXPECT_EQ(complaint(std::int64_t{65}), wants("65"));
    EXPECT_EQ(complaint(2.0), wants("2.0"));
    EXPECT_EQ(complaint(std::string("ten")), wants("ten"));
}

TEST(IntegerAxis, AMissingAxisIsAMistakeInTheProgram) {
    const auto spec = spec_with(std::int64_t{1});
    EXPECT_THROW(integer_axis(spec, "slots", 1, 64), std::out_of_range);
    EXPECT_THROW(integer_axis(spec, "slots"), std::out_of_range);
    EXPECT_THROW(integer_axis(spec_with(std::string("ten")), "nodes"), std::bad_variant_access);
}

}  // namespace
