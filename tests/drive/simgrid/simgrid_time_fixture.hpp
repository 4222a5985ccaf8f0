// A time on SimGrid in a process of its own, and notes of what it tells.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "suite/drive/simgrid/simgrid_time.hpp"
#include "tests/drive/simgrid/own_process.hpp"
#include "tests/drive/simgrid/small_networks.hpp"

namespace assay::drive {

class SimGridTimeTest : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const auto reason = flow_engine_lacks()) GTEST_SKIP() << *reason;
    }

    /// Runs what is expected of a time on that network in a process of its own.
    static void expect(const ClusterProfile& cluster, int ranks,
                       const std::function<void(SimGridTime&)>& body) {
        const auto failed = testing::in_own_process([&]() -> std::vector<double> {
            SimGridTime time(std::make_shared<RankFlows>(Topology(cluster), ranks));
            body(time);
            return {HasFailure() ? 1.0 : 0.0};
        });
        EXPECT_THAT(failed, ::testing::ElementsAre(0)) << "see the lines above";
    }

    static std::function<void(SimGridTime::End)> note(std::vector<std::string>& seen,
                                                      const SimGridTime& time,
                                                      const std::string& name) {
        return [&seen, &time, name](SimGridTime::End end) {
            seen.push_back(fmt::format(
                "{}{} {:g}", name, end == SimGridTime::End::broken ? " broken" : "", time.now()));
        };
    }
};

inline void finish(SimGridTime& time) {
    while (time.next()) {
    }
}

}  // namespace assay::drive
