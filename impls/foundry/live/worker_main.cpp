// assay-foundry-worker: the program of a saver's or a server's process. It is started by a
// loader (course.hpp), as a new program, so that its driver and its address space are its own. As
// `assay-foundry-worker reserve DRIVER BASE…` it only says where a region would lie (probes.hpp).
#include <exception>
#include <iostream>
#include <span>
#include <string_view>

#include "impls/foundry/chain/probes.hpp"
#include "impls/foundry/live/struck_engine.hpp"
#include "suite/cluster/processes/exec_worker.hpp"
#include "suite/drive/processes/role_worker.hpp"

int main(int count, char** arguments) {
    using namespace assay;
    try {
        if (count > 1 && arguments[1] == std::string_view("reserve")) {
            foundry::print_reserved(
                std::span(arguments, static_cast<std::size_t>(count)).subspan(2));
            return 0;
        }
        return cluster::run_exec_worker(
            drive::process_of(foundry::loader_roles([](drive::Worker& me) {
                const auto settings = me.configuration<foundry::EngineSettings>();
                return foundry::make_struck_engine(foundry::make_live_engine(settings, me.strike()),
                                                   settings, me.strike());
            })));
    } catch (const std::exception& error) {
        std::cerr << "assay-foundry-worker: " << error.what() << '\n';
        return 1;
    }
}
