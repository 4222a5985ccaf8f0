// assay-foundry-worker: the program of a saver's or a server's process. It is started by a
// loader (course.hpp), as a new program, so that its driver and its address space are its own.
#include <exception>
#include <iostream>

#include "impls/foundry/live/engine.hpp"
#include "suite/cluster/processes/exec_worker.hpp"
#include "suite/drive/processes/role_worker.hpp"

int main() {
    using namespace assay;
    try {
        return cluster::run_exec_worker(
            drive::process_of(foundry::loader_roles([](drive::Worker& me) {
                return foundry::make_live_engine(me.configuration<foundry::EngineSettings>(),
                                                 me.strike());
            })));
    } catch (const std::exception& error) {
        std::cerr << "assay-foundry-worker: " << error.what() << '\n';
        return 1;
    }
}
