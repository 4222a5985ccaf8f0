// Probes of processes: how soon a death is known, how long a program takes to start.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <system_error>

#include "suite/measure/machine_probe.hpp"

extern char** environ;

namespace assay::measure {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

int wait_for(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
    return status;
}

}  // namespace

Reading probe_detection(const ProbeEffort& effort) {
    Reading reading;
    reading.how = "from SIGKILL of a child to its parent's waitpid";
    for (int i = 0; i < effort.repetitions; ++i) {
        const pid_t child = ::fork();
        if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
        if (child == 0)
            while (true) ::pause();
        ::usleep(2000);  // until it runs and sleeps
        const auto start = Clock::now();
        ::kill(child, SIGKILL);
        wait_for(child);
        reading.values.push_back(seconds_since(start));
    }
    return reading;
}

Reading probe_start(const ProbeEffort& effort, std::span<const std::string> command) {
    if (command.empty()) throw std::invalid_argument("no command");
    std::vector<std::string> words(command.begin(), command.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t quiet;
    ::posix_spawn_file_actions_init(&quiet);
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
        ::posix_spawn_file_actions_addopen(&quiet, fd, "/dev/null", O_WRONLY, 0);
    Reading reading;
    reading.how = "starting this program and waiting for its end";
    int error = 0, status = 0;
    for (int i = 0; i < effort.repetitions && error == 0 && status == 0; ++i) {
        const auto start = Clock::now();
        pid_t child = 0;
        error = ::posix_spawn(&child, words[0].c_str(), &quiet, nullptr, arguments.data(), environ);
        if (error == 0) status = wait_for(child);
        reading.values.push_back(seconds_since(start));
    }
    ::posix_spawn_file_actions_destroy(&quiet);
    if (error != 0) throw std::system_error(error, std::generic_category(), "starting " + words[0]);
    if (status != 0) throw std::runtime_error(words[0] + " failed when it was started as a probe");
    return reading;
}

}  // namespace assay::measure
