// The program of exec'ed workers in tests: the scripted worker, and some that tell what a new
// program finds when it starts. An argument "late:SECONDS" has it begin that much later.
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <map>

#include "suite/cluster/processes/exec_worker.hpp"
#include "tests/cluster/processes/scripted_worker.hpp"

namespace assay::cluster {
namespace {

/// Says what it was given, and goes.
int surroundings(ControlChannel& control, const std::vector<std::string>& arguments,
                 const nlohmann::json& config) {
    std::map<std::string, std::vector<std::string>> environment;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        const auto end = text.find('=');
        environment[text.substr(0, end)].push_back(text.substr(end + 1));
    }
    control.start(Seconds(0.02));
    control.send({{"arguments", arguments},
                  {"config", config},
                  {"environment", environment},
                  {"input", std::filesystem::read_symlink("/proc/self/fd/0").string()},
                  {"leads_group", ::getpgrp() == ::getpid()}});
    return 0;
}

/// Starts two processes that would live for ever, one of them another program, says which, and
/// stays or leaves.
int with_helpers(WorkerId, ControlChannel& control, const nlohmann::json& config) {
    std::vector<long> helpers;
    for (int i = 0; i < 2; ++i) {
        const pid_t helper = ::fork();
        if (helper == 0 && i == 1) ::execlp("sleep", "sleep", "1000", nullptr);
        for (; helper == 0;) ::pause();
        helpers.push_back(helper);
    }
    control.start(Seconds(0.02));
    control.send({{"helpers", helpers}});
    while (config.at("do") == "stay" && control.receive()) continue;
    return 0;
}

int crash(WorkerId, ControlChannel& control, const nlohmann::json&) {
    control.start(Seconds(0.02));
    ::signal(SIGSEGV, SIG_DFL);  // not what a sanitizer makes of it
    ::raise(SIGSEGV);
    return 0;
}

int run(int argc, char** argv) {
    const std::vector<std::string> arguments(argv, argv + argc);
    for (const auto& argument : arguments)
        if (argument.rfind("late:", 0) == 0)
            std::this_thread::sleep_for(Seconds(std::stod(argument.substr(5))));
    return run_exec_worker(WorkerProgram{
        {"scripted", scripted_worker},
        {"surroundings",
         [&](WorkerId, ControlChannel& control, const nlohmann::json& config) {
             return surroundings(control, arguments, config);
         }},
        {"with_helpers", with_helpers},
        {"crash", crash},
    });
}

}  // namespace
}  // namespace assay::cluster

int main(int argc, char** argv) {
    try {
        return assay::cluster::run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
