#include "suite/scenario/traces/spot_axes.hpp"

#include <gtest/gtest.h>

#include "suite/base/error.hpp"

namespace assay {
namespace {

SpotNodes spot(Case axes = {}) { return spot_axes().read({.axes = std::move(axes)}); }

std::string refusal(const char* axis, Value value) {
    try {
        nodes_of(spot({{axis, std::move(value)}}), 1);
    } catch (const UserError& error) {
        return error.what();
    }
    return "none";
}

TEST(SpotAxes, TheirFirstValuesAreTheUsualTrace) {
    const MappedTrace nodes = nodes_of(spot(), 1);
    EXPECT_EQ(nodes.initial_workers, 10);
    EXPECT_FALSE(nodes.faults.faults.empty());
    for (const Fault& fault : nodes.faults.faults) EXPECT_LE(fault.t_s.value(), 80 * 60);
}

TEST(SpotAxes, FewerMinutesAndNodesAreThatManyAtMost) {
    const MappedTrace nodes =
        nodes_of(spot({{"minutes", std::int64_t{40}}, {"nodes", std::int64_t{4}}}), 1);
    EXPECT_EQ(nodes.initial_workers, 4);
    for (const Fault& fault : nodes.faults.faults) EXPECT_LE(fault.t_s.value(), 40 * 60);
}

TEST(SpotAxes, WhatMakesNoSenseIsNamed) {
    EXPECT_NE(refusal("mapping", "best").find("axis mapping: one of min, delta_clamped"),
              std::string::npos);
    EXPECT_NE(refusal("minutes", std::int64_t{81}).find("axis minutes: the trace p3-80min lasts"),
              std::string::npos);
    EXPECT_NE(refusal("nodes", std::int64_t{0}).find("nodes"), std::string::npos);
    EXPECT_NE(refusal("spot", "no-such-trace").find("no-such-trace"), std::string::npos);
}

}  // namespace
}  // namespace assay
