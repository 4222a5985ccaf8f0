// A child process as an object: started with descriptors of its own, waited for with a time limit,
// killed and reaped when the object goes.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "suite/base/file_descriptor.hpp"

namespace assay {

/// How a process ended: it returned a code, or a signal ended it.
struct ExitStatus {
    std::optional<int> code;
    int signal = 0;  ///< where there is no code

    bool ok() const { return code == 0; }
};
/// "exited with status 3", "killed by signal 9 (Killed)".
std::string to_string(const ExitStatus& status);

/// The files that `program` may mean, in the order in which they are tried, as execvp() does: what
/// holds no '/' is looked for in PATH.
std::vector<std::string> program_candidates(const std::string& program);

/// What stands behind a standard stream of a new process.
struct Stream {
    enum class Kind { inherit, null, pipe, descriptor };
    Kind kind = Kind::inherit;
    int fd = -1;  ///< of kind descriptor; only has to stay open until the process was started

    /// Ours; /dev/null where ours is closed.
    static Stream inherited() { return {}; }
    static Stream null() { return {Kind::null, -1}; }
    static Stream pipe() { return {Kind::pipe, -1}; }  ///< Process holds the other end
    static Stream descriptor(int fd) { return {Kind::descriptor, fd}; }
};

/// A program to be started.
struct ProcessCommand {
    std::vector<std::string> arguments;  ///< with the name that the program is called by in front
    /// The file; empty: arguments[0]. Looked for in PATH where it holds no '/'.
    std::string program;
    std::vector<std::pair<std::string, std::string>> environment;  ///< set in addition to ours
    std::vector<std::string> unset;  ///< of ours it does not get these
    std::filesystem::path folder;    ///< to work in; empty: ours
    Stream in, out, err;
    /// Ours, passed on as 3, 4, … . No others but these and the standard streams stay open.
    std::vector<int> descriptors;
    bool own_group = false;       ///< it leads a process group, which is killed with it
    int parent_death_signal = 0;  ///< sent to it when the thread that started it ends
};

/// "PROGRAM cannot be started: No such file or directory": it is not there (ENOENT), may not be
/// executed (EACCES), or the like.
class CannotStart : public std::system_error {
    using std::system_error::system_error;
};

/// Used by one thread at a time.
class Process {
  public:
    /// Returns once the program runs. (A thread that forks at this moment, without exec, delays
    /// that until its child ends.) Throws CannotStart; another std::system_error where no process
    /// or pipe is to be had.
    static Process spawn(const ProcessCommand& command);

    struct ForkOptions {
        int parent_death_signal = 0;
    };
    /// Runs `body` in a copy of this process, which exits with what it returns, or with 1 where it
    /// throws; nothing else of this process is run in it, no destructors of statics either. For
    /// processes with one thread: locks that other threads hold stay locked in the copy for ever.
    static Process forked(const std::function<int()>& body, const ForkOptions& options);
    static Process forked(const std::function<int()>& body) { return forked(body, {}); }

    Process() = default;  ///< none
    Process(Process&& other) noexcept { *this = std::move(other); }
    Process& operator=(Process&& other) noexcept;
    ~Process() { end(); }

    /// Until it is reaped.
    bool running() const { return pid_ > 0; }
    pid_t pid() const { return pid_; }
    /// Becomes readable when the process has ended; opened when first asked for.
    int pidfd();

    /// Waits until it has ended, and reaps it. std::logic_error where there is no process.
    ExitStatus wait();
    /// The same, but nullopt when it has not ended within `limit`.
    std::optional<ExitStatus> wait_for(std::chrono::duration<double> limit);

    /// After it was reaped: nothing, so that a stranger with the same number is never hit.
    void kill(int signal_number = SIGKILL) noexcept;
    /// Everybody in the group that it leads (ProcessCommand::own_group).
    void kill_group(int signal_number = SIGKILL) noexcept;

    /// Somebody else has reaped it: its number may be another process' by now.
    void disown() noexcept;

    /// Our ends of the streams that are pipes.
    FileDescriptor in, out, err;

  private:
    /// Kills it, with its group if it has one, and reaps it.
    void end() noexcept;

    pid_t pid_ = -1;
    bool leads_group_ = false;
    FileDescriptor pidfd_;
};

/// Has the kernel SIGKILL this process, and the group that it leads, when the other end of the pipe
/// `lifeline_fd` closes: when the process that holds it ends, in whatever way. Exits where it has
/// closed already. A thread could do it too, but fork servers must be made before any thread
/// exists. Programs started later do not inherit the lifeline.
void end_with_lifeline(int lifeline_fd);

/// Both ends of a pipe, closed in programs that are started later; never 0, 1 or 2.
struct Pipe {
    FileDescriptor read, write;
    Pipe();  ///< std::system_error
};

/// In a process just forked: every descriptor is closed but the standard streams and these.
void close_all_but(std::initializer_list<int> ascending);

/// Whether all of it was written; else errno says why not. Signals do not interrupt it.
bool write_all(int fd, std::string_view text);

/// What comes until the end of the stream, but at most so many bytes, and no longer than
/// `patience`.
std::string read_to_end(const FileDescriptor& from,
                        std::size_t most_bytes = std::numeric_limits<std::size_t>::max(),
                        std::optional<std::chrono::duration<double>> patience = std::nullopt);

}  // namespace assay
