// The part of the control work that is the kernel's: processes and pipes.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>

#include "suite/control/control_work.hpp"

namespace assay::control {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int children = 10;
constexpr int round_trips = 800;

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

pid_t started() {
    const pid_t child = ::fork();
    if (child < 0) fail("fork");
    return child;
}

int exit_status(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) fail("waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct Pipe {
    int read = -1, write = -1;
    Pipe() {
        int ends[2];
        if (::pipe(ends) != 0) fail("pipe");
        read = ends[0];
        write = ends[1];
    }
    ~Pipe() {
        ::close(read);
        ::close(write);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
};

/// Returns each byte plus one until the other end is closed.
[[noreturn]] void echo(const Pipe& to_us, const Pipe& from_us) {
    ::close(to_us.write);
    unsigned char byte = 0;
    while (::read(to_us.read, &byte, 1) == 1) {
        ++byte;
        if (::write(from_us.write, &byte, 1) != 1) break;
    }
    ::_exit(0);
}

}  // namespace

Done processes() {
    Done done;
    const auto start = Clock::now();
    for (int i = 0; i < children; ++i) {
        const pid_t child = started();
        if (child == 0) ::_exit(i % 100);
        done.checksum += static_cast<std::uint64_t>(exit_status(child));
    }
    pid_t partner = -1;
    {
        const Pipe there, back;
        partner = started();
        if (partner == 0) echo(there, back);
        unsigned char byte = 0;
        for (int i = 0; i < round_trips; ++i)
            if (::write(there.write, &byte, 1) != 1 || ::read(back.read, &byte, 1) != 1)
                fail("the control workload's pipe");
        done.checksum += byte;
    }
    exit_status(partner);
    done.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return done;
}

}  // namespace assay::control
