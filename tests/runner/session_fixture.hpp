// Whatever tests of whole sessions need: a folder, a lock and a database of their own, and the
// notices as they came.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "suite/runner/runner.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay::testing {

class SessionFixture : public ::testing::Test {
  protected:
    TemporaryFolder folder;
    EnvironmentVariable lock_file{"ASSAY_LOCK", (folder / "lock").string()};
    store::Store store = store::Store::open(folder / "results.db", store::Access::write);
    std::vector<runner::Notice> notices;  ///< of the last run
    /// Called with each notice; may raise a signal.
    std::function<void(const runner::Notice&)> on_notice;

    runner::Listener listen() {
        notices.clear();
        return [this](const runner::Notice& notice) {
            notices.push_back(notice);
            if (on_notice) on_notice(notice);
        };
    }
    runner::Outcome run(const Registry& registry, const runner::Request& request) {
        const runner::Plan plan = runner::make_plan(registry, request);
        return runner::execute(registry, plan, request, store, listen());
    }
};

}  // namespace assay::testing
