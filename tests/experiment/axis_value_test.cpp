// Typed axis values: what is taken, and what the sentence says about what is not.
#include <gtest/gtest.h>

#include <stdexcept>

#include "suite/experiment/axis_value.hpp"
#include "suite/experiment/error.hpp"

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
