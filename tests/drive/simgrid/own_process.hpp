// SimGrid's engine can be built once per process: what needs one runs in a process of its own here,
// and hands back numbers.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>
#include <vector>

namespace assay::testing {

/// What `work` returns, bit for bit. Throws where the process fails.
inline std::vector<double> in_own_process(const std::function<std::vector<double>()>& work) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("no process");
    if (child == 0) {
        ::close(ends[0]);
        int status = 0;
        try {
            const std::vector<double> numbers = work();
            const char* at = reinterpret_cast<const char*>(numbers.data());
            for (std::size_t left = numbers.size() * sizeof(double); left > 0;) {
                const ssize_t written = ::write(ends[1], at, left);
                if (written <= 0) throw std::runtime_error("the pipe is broken");
                at += written;
                left -= static_cast<std::size_t>(written);
            }
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s\n", error.what());
            status = 1;
        }
        std::fflush(nullptr);
        ::_exit(status);
    }
    ::close(ends[1]);
    std::vector<double> numbers;
    for (std::size_t had = 0;;) {  // bytes of the last number
        if (had % sizeof(double) == 0) numbers.resize(had / sizeof(double) + 1);
        const ssize_t got = ::read(ends[0], reinterpret_cast<char*>(numbers.data()) + had,
                                   numbers.size() * sizeof(double) - had);
        if (got <= 0) {
            numbers.resize(had / sizeof(double));
            break;
        }
        had += static_cast<std::size_t>(got);
    }
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        throw std::runtime_error("the process failed");
    return numbers;
}

}  // namespace assay::testing
