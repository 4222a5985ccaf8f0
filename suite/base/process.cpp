#include "suite/base/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>

namespace assay {
namespace {

using Seconds = std::chrono::duration<double>;

/// How a child that cannot become the program ends; nobody sees it.
constexpr int not_started = 127;
constexpr int body_threw = 1;

/// Waits until `fd` is readable. False: not within `limit`.
bool becomes_readable(int fd, std::optional<Seconds> limit) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    while (true) {
        int wait_ms = -1;
        if (limit) {
            // A year is never; larger numbers overflow the milliseconds.
            const Seconds left = std::min(*limit, Seconds(365.0 * 86400)) - (Clock::now() - start);
            wait_ms = static_cast<int>(std::ceil(std::clamp(left.count(), 0.0, 86400.0) * 1000));
        }
        pollfd entry{fd, POLLIN, 0};
        const int ready = ::poll(&entry, 1, wait_ms);
        if (ready > 0) return true;
        if (ready < 0 && errno != EINTR) check_call(ready, "poll");
        if (limit && Seconds(Clock::now() - start) >= *limit) return false;
    }
}

ExitStatus status_of(int wait_status) {
    if (WIFEXITED(wait_status)) return {.code = WEXITSTATUS(wait_status)};
    return {.code = std::nullopt, .signal = WTERMSIG(wait_status)};
}

const std::string& program_of(const ProcessCommand& command) {
    return command.program.empty() ? command.arguments.front() : command.program;
}

/// Whatever execve() needs, made before the fork: between fork and exec nothing may be allocated.
class Prepared {
  public:
    explicit Prepared(const ProcessCommand& command) : command_(command), parent_(::getpid()) {
        for (const std::string& word : command.arguments) argv_.push_back(c_str(word));
        argv_.push_back(nullptr);
        set_environment();
        candidates_ = program_candidates(program_of(command));
        folder_ = command.folder.string();
        for (const int fd : command.descriptors) passed_.push_back(raised(fd));
    }

    /// The child's end of one of its standard streams; `ours`: the other end of a pipe.
    void set_stream(int number, const Stream& stream, FileDescriptor& ours) {
        // Where there is none to inherit, the first file that the program opens would take its
        // place.
        const bool lacks = stream.kind == Stream::Kind::inherit && !is_inherited(number);
        switch (lacks ? Stream::Kind::null : stream.kind) {
            case Stream::Kind::inherit:
                return;
            case Stream::Kind::null: {
                const FileDescriptor null(
                    check_call(::open("/dev/null", O_RDWR | O_CLOEXEC), "/dev/null"));
                standard_[number] = raised(null.get());
                return;
            }
            case Stream::Kind::pipe: {
                Pipe pipe;
                const bool child_reads = number == STDIN_FILENO;
                standard_[number] = raised((child_reads ? pipe.read : pipe.write).get());
                ours = std::move(child_reads ? pipe.write : pipe.read);
                return;
            }
            case Stream::Kind::descriptor:
                standard_[number] = raised(stream.fd);
        }
    }

    /// Where the child writes why it could not become the program; the other end is ours.
    void set_report(const FileDescriptor& write_end) { report_ = raised(write_end.get()); }
    void close_report() { report_.reset(); }

    /// In the child; only async-signal-safe calls from here to exec.
    [[noreturn]] void become_program() const noexcept {
        if (command_.own_group) ::setpgid(0, 0);
        if (command_.parent_death_signal != 0) {
            ::prctl(PR_SET_PDEATHSIG, command_.parent_death_signal);
            if (::getppid() != parent_) ::_exit(not_started);  // it died before the call
        }
        for (int number = 0; number < 3; ++number)
            if (standard_[number]) ::dup2(standard_[number].get(), number);
        int next = 3;
        for (const FileDescriptor& fd : passed_) ::dup2(fd.get(), next++);
        ::dup3(report_.get(), next, O_CLOEXEC);
        ::close_range(static_cast<unsigned>(next) + 1, ~0U, 0);
        int error = 0;
        if (!folder_.empty() && ::chdir(folder_.c_str()) != 0) error = errno;
        if (error == 0) error = exec();
        [[maybe_unused]] const ssize_t ignored = ::write(next, &error, sizeof error);
        ::_exit(not_started);
    }

  private:
    static bool is_inherited(int fd) {
        const int flags = ::fcntl(fd, F_GETFD);
        return flags >= 0 && (flags & FD_CLOEXEC) == 0;
    }
    static char* c_str(const std::string& text) { return const_cast<char*>(text.c_str()); }

    /// A copy above the numbers that the child gives to its own, so that dup2 there never closes
    /// one that is still to be passed on.
    FileDescriptor raised(int fd) const {
        const int least = 4 + static_cast<int>(command_.descriptors.size());
        return FileDescriptor(
            check_call(::fcntl(fd, F_DUPFD_CLOEXEC, least), "a descriptor for a new process"));
    }

    void set_environment() {
        const auto is_left_out = [&](std::string_view entry) {
            const std::string_view name = entry.substr(0, entry.find('='));
            return std::any_of(command_.environment.begin(), command_.environment.end(),
                               [&](const auto& each) { return name == each.first; }) ||
                   std::find(command_.unset.begin(), command_.unset.end(), name) !=
                       command_.unset.end();
        };
        for (const auto& [name, value] : command_.environment)
            added_.push_back(fmt::format("{}={}", name, value));
        for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
            if (!is_left_out(*entry)) environment_.push_back(*entry);
        for (const std::string& entry : added_) environment_.push_back(c_str(entry));
        environment_.push_back(nullptr);
    }

    /// Returns only with what went wrong.
    int exec() const noexcept {
        int error = ENOENT;
        for (const std::string& candidate : candidates_) {
            ::execve(candidate.c_str(), argv_.data(), environment_.data());
            // One that is there and may not be executed says more than others that are not there.
            if (errno != ENOENT && errno != ENOTDIR) error = errno;
            if (error != ENOENT && error != EACCES) break;
        }
        return error;
    }

    const ProcessCommand& command_;
    const pid_t parent_;
    std::vector<char*> argv_, environment_;
    std::vector<std::string> added_, candidates_;
    std::string folder_;
    FileDescriptor standard_[3], report_;
    std::vector<FileDescriptor> passed_;
};

}  // namespace

std::vector<std::string> program_candidates(const std::string& program) {
    if (program.find('/') != std::string::npos) return {program};
    std::vector<std::string> candidates;
    const char* path = std::getenv("PATH");
    std::string_view folders = path != nullptr ? path : "/bin:/usr/bin";
    while (true) {
        const std::size_t end = folders.find(':');
        const std::string_view folder = folders.substr(0, end);
        candidates.push_back(fmt::format("{}/{}", folder.empty() ? "." : folder, program));
        if (end == std::string_view::npos) return candidates;
        folders.remove_prefix(end + 1);
    }
}

std::string to_string(const ExitStatus& status) {
    if (status.code) return fmt::format("exited with status {}", *status.code);
    return fmt::format("killed by signal {} ({})", status.signal, ::strsignal(status.signal));
}

Process Process::spawn(const ProcessCommand& command) {
    if (command.arguments.empty()) throw std::invalid_argument("a command without a program");
    Process process;
    Prepared prepared(command);
    prepared.set_stream(STDIN_FILENO, command.in, process.in);
    prepared.set_stream(STDOUT_FILENO, command.out, process.out);
    prepared.set_stream(STDERR_FILENO, command.err, process.err);
    Pipe report;
    prepared.set_report(report.write);
    process.pid_ = check_call(::fork(), "fork");
    if (process.pid_ == 0) prepared.become_program();
    process.leads_group_ = command.own_group;
    if (command.own_group) ::setpgid(process.pid_, process.pid_);  // whichever of the two is first
    report.write.reset();
    prepared.close_report();
    // Ends with the exec, which closes the other end.
    const std::string bytes = read_to_end(report.read);
    int error = 0;
    if (bytes.size() != sizeof error) return process;
    std::memcpy(&error, bytes.data(), sizeof error);
    process.wait();
    throw CannotStart(
        error, std::generic_category(),
        fmt::format("{} cannot be started{}", program_of(command),
                    error == ENOEXEC ? " (a script begins with a line like #!/bin/sh)" : ""));
}

Process Process::forked(const std::function<int()>& body, const ForkOptions& options) {
    const pid_t parent = ::getpid();
    Process process;
    process.pid_ = check_call(::fork(), "fork");
    if (process.pid_ != 0) return process;
    int status = body_threw;
    try {
        if (options.parent_death_signal != 0) {
            ::prctl(PR_SET_PDEATHSIG, options.parent_death_signal);
            if (::getppid() != parent) ::_exit(not_started);
        }
        status = body();
    } catch (...) {
        // The status tells.
    }
    ::_exit(status);
}

Process& Process::operator=(Process&& other) noexcept {
    if (this == &other) return *this;
    end();
    pid_ = std::exchange(other.pid_, -1);
    leads_group_ = std::exchange(other.leads_group_, false);
    pidfd_ = std::move(other.pidfd_);
    in = std::move(other.in);
    out = std::move(other.out);
    err = std::move(other.err);
    return *this;
}

int Process::pidfd() {
    if (!running()) throw std::logic_error("no process to watch");
    if (!pidfd_) pidfd_.reset(check_call(::pidfd_open(pid_, 0), "pidfd_open"));
    return pidfd_.get();
}

ExitStatus Process::wait() {
    if (!running()) throw std::logic_error("no process to wait for");
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0)
        if (errno != EINTR) {
            pid_ = -1;  // reaped by somebody else: the number may be another process' by now
            check_call(-1, "waitpid");
        }
    pid_ = -1;
    pidfd_.reset();
    return status_of(status);
}

std::optional<ExitStatus> Process::wait_for(Seconds limit) {
    if (!becomes_readable(pidfd(), limit)) return std::nullopt;
    return wait();
}

void Process::kill(int signal_number) noexcept {
    if (running()) ::kill(pid_, signal_number);
}

void Process::kill_group(int signal_number) noexcept {
    if (running() && leads_group_) ::kill(-pid_, signal_number);
}

void Process::disown() noexcept {
    pid_ = -1;
    pidfd_.reset();
}

void Process::end() noexcept {
    if (!running()) return;
    kill_group();
    kill();
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
}

void end_with_lifeline(int lifeline_fd) {
    const pid_t self = ::getpid();
    ::fcntl(lifeline_fd, F_SETFD, FD_CLOEXEC);
    ::fcntl(lifeline_fd, F_SETOWN, ::getpgrp() == self ? -self : self);
    ::fcntl(lifeline_fd, F_SETSIG, SIGKILL);
    ::fcntl(lifeline_fd, F_SETFL, O_ASYNC);
    // It may have closed before the above was in place.
    pollfd entry{lifeline_fd, POLLIN, 0};
    if (::poll(&entry, 1, 0) > 0) ::_exit(1);
}

Pipe::Pipe() {
    int ends[2];
    check_call(::pipe2(ends, O_CLOEXEC), "pipe");
    read.reset(ends[0]);
    write.reset(ends[1]);
    // Where a standard stream is closed its number is free, and a pipe that took it would get what
    // is written to that stream.
    for (FileDescriptor* const end : {&read, &write})
        if (end->get() <= STDERR_FILENO)
            end->reset(check_call(::fcntl(end->get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1), "pipe"));
}

void close_all_but(std::initializer_list<int> ascending) {
    unsigned first = STDERR_FILENO + 1;
    for (const int kept : ascending) {
        if (static_cast<unsigned>(kept) > first)
            ::close_range(first, static_cast<unsigned>(kept) - 1, 0);
        first = static_cast<unsigned>(kept) + 1;
    }
    ::close_range(first, ~0U, 0);
}

bool write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

std::string read_to_end(const FileDescriptor& from, std::size_t most_bytes,
                        std::optional<Seconds> patience) {
    const auto start = std::chrono::steady_clock::now();
    std::string text;
    char bytes[1 << 16];
    while (text.size() < most_bytes) {
        if (patience) {
            const Seconds left = *patience - (std::chrono::steady_clock::now() - start);
            if (left.count() <= 0 || !becomes_readable(from.get(), left)) break;
        }
        const ssize_t count =
            ::read(from.get(), bytes, std::min(sizeof bytes, most_bytes - text.size()));
        if (count == 0) break;
        if (count < 0 && errno == EINTR) continue;
        check_call(static_cast<int>(count), "reading from a process");
        text.append(bytes, static_cast<std::size_t>(count));
    }
    return text;
}

}  // namespace assay
