// The scripted worker, started in each way that this machine has.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "suite/cluster/processes/launcher.hpp"
#include "tests/cluster/processes/scripted_worker.hpp"

namespace assay::cluster {

enum class Way { fork, exec };

/// A worker of the program beside (worker_program.cpp).
inline ExecProgram test_program(const std::string& worker = "scripted") {
    return {.program = ASSAY_TEST_WORKERS, .worker = worker};
}

inline std::unique_ptr<Launcher> make_launcher(Way way) {
    return way == Way::fork ? make_fork_server(scripted_worker)
                            : make_exec_launcher(test_program());
}

inline std::string name_of(const ::testing::TestParamInfo<Way>& way) {
    return way.param == Way::fork ? "fork" : "exec";
}

}  // namespace assay::cluster
