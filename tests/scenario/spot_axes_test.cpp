#include "suite/scenario/traces/spot_axes.hpp"

#include <gtest/gtest.h>

#include "suite/base/error.hpp"

namespace assay {
namespace {

SampleSpec sample() {
    SampleSpec spec;
    for (const Axis& axis : spot_axes()) spec.axes[axis.name] = axis.values.front();
    return spec;
}

std::string refusal(const char* axis, Value value) {
    SampleSpec spec = sample();
    spec.axes[axis] = std::move(value);
    try {
        nodes_of(spec);
    } catch (const UserError& error) {
        return error.what();
    }
    return "none";
}

TEST(SpotAxes, TheirFirstValuesAreTheUsualTrace) {
    const MappedTrace nodes = nodes_of(sample());
    EXPECT_EQ(nodes.initial_workers, 10);
    EXPECT_FALSE(nodes.faults.faults.empty());
    for (const Fault& fault : nodes.faults.faults) EXPECT_LE(fault.t_s.value(), 80 * 60);
}

TEST(SpotAxes, FewerMinutesAndNodesAreThatManyAtMost) {
    SampleSpec spec = sample();
    spec.axes["minutes"] = std::int64_t{40};
    spec.axes["nodes"] = std::int64_t{4};
    const MappedTrace nodes = nodes_of(spec);
    EXPECT_EQ(nodes.initial_workers, 4);
    for (const Fault& fault : nodes.faults.faults) EXPECT_LE(fault.t_s.value(), 40 * 60);
}

TEST(SpotAxes, WhatMakesNoSenseIsNamed) {
    EXPECT_NE(refusal("mapping", "best").find("axis mapping: 'best'"), std::string::npos);
    EXPECT_NE(refusal("minutes", std::int64_t{81}).find("axis minutes: the trace p3-80min lasts"),
              std::string::npos);
    EXPECT_NE(refusal("nodes", std::int64_t{0}).find("nodes"), std::string::npos);
    EXPECT_NE(refusal("spot", "no-such-trace").find("no-such-trace"), std::string::npos);
}

}  // namespace
}  // namespace assay
