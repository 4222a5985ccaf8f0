#include "tests/lazarus/live/live_training.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "impls/lazarus/live/fault_phases.hpp"
#include "impls/lazarus/live/worker.hpp"
#include "impls/lazarus/watch/watch_decisions.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/lazarus/scenarios.hpp"

namespace assay::lazarus {

SessionOptions small_session(const std::string& faults) {
    SessionOptions options;
    options.training.model = {
        .layers = 2, .width = 32, .heads = 2, .experts = 4, .hidden = 64, .context = 24};
    options.training.sequences = 2;
    // Real text that every checkout has.
    options.training.corpus = ASSAY_TEST_CORPUS;
    options.controller = controller_config();
    options.supervisor.heartbeat_timeout = cluster::Seconds(1.0);
    options.faults = parse_fault_plan(faults, fault_phases());
    return options;
}

LiveRun run_live(SessionOptions options) {
    const testing::TemporaryFolder folder;
    options.checkpoints = folder.path();
    LiveRun run;
    run.result = run_training(cluster::make_fork_server(worker_main), options, run.recorder);
    EXPECT_THAT(watch_decisions(options.controller, run.result.decisions), ::testing::IsEmpty());
    return run;
}

long children_alive() {
    std::ifstream in("/proc/self/task/" + std::to_string(::getpid()) + "/children");
    long count = 0, pid = 0;
    while (in >> pid) ++count;
    return count;
}

}  // namespace assay::lazarus
