// Runs a program of the build as a user would, and returns what it printed.
#pragma once

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "tests/base/temporary_folder.hpp"

namespace assay::testing {

struct Printed {
    int exit_code = -1;  ///< 128 + signal when one ended it
    std::string out, err;
};

inline std::string contents(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// `meanwhile` gets the process id while it runs.
inline Printed run_program(const std::string& program, std::vector<std::string> arguments,
                           const std::function<void(pid_t)>& meanwhile = {}) {
    const TemporaryFolder folder;
    const std::string out = (folder / "out").string(), err = (folder / "err").string();
    arguments.insert(arguments.begin(), program);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
        ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600), 1);
        ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600), 2);
        ::execv(program.c_str(), argv.data());
        ::_exit(127);
    }
    if (meanwhile) meanwhile(pid);
    int status = 0;
    ::waitpid(pid, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), contents(out),
            contents(err)};
}

/// Everything that it writes to a terminal of so many columns, both outputs. `kind`: TERM.
inline std::string run_at_terminal(const std::string& program, std::vector<std::string> arguments,
                                   unsigned short columns, const char* kind) {
    arguments.insert(arguments.begin(), program);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    winsize size{};
    size.ws_col = columns;
    size.ws_row = 24;
    int terminal = -1;
    const pid_t pid = ::forkpty(&terminal, nullptr, nullptr, &size);
    if (pid == 0) {
        ::setenv("TERM", kind, 1);
        ::execv(argv[0], argv.data());
        ::_exit(127);
    }
    std::string text;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(terminal, buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<std::size_t>(got));
    ::close(terminal);
    ::waitpid(pid, nullptr, 0);
    std::erase(text, '\r');
    return text;
}

}  // namespace assay::testing
