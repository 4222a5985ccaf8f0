// The supervisor's side of the fork server: a Launcher that asks it for workers.
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "suite/base/file_descriptor.hpp"
#include "suite/cluster/processes/fork_server_process.hpp"
#include "suite/cluster/processes/launcher.hpp"

namespace assay::cluster {
namespace {

std::string describe(int wait_status) {
    if (WIFSIGNALED(wait_status)) return fmt::format("signal {}", WTERMSIG(wait_status));
    return fmt::format("exit {}", WEXITSTATUS(wait_status));
}

void refuse_threads() {
#ifndef __SANITIZE_THREAD__  // whose run time has a thread of its own
    long threads = 0;
    for ([[maybe_unused]] const auto& task :
         std::filesystem::directory_iterator("/proc/self/task")) {
        ++threads;
    }
    if (threads > 1) {
        throw std::logic_error(
            fmt::format("make_fork_server(): this process already has {} threads; a process forked "
                        "from it could "
                        "find locks held for ever. Make the fork server first",
                        threads));
    }
#endif
}

class ForkServerLauncher final : public Launcher {
  public:
    explicit ForkServerLauncher(WorkerMain worker_main) {
        refuse_threads();
        switch_off_flight_recorder();
        // Should the fork server be killed, its children become ours, and we reap them.
        check_call(::prctl(PR_SET_CHILD_SUBREAPER, 1), "prctl(PR_SET_CHILD_SUBREAPER)");
        int ends[2];
        check_call(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends),
                   "socketpair for the fork server");
        socket_ = FileDescriptor(ends[0]);
        FileDescriptor server_end(ends[1]);
        std::fflush(nullptr);  // else the children would print what is buffered here once more
        // Not a suite/base/process.hpp: it does not exec, and ends with its lifeline.
        server_ = check_call(::fork(), "fork of the fork server");
        if (server_ == 0) run_fork_server(server_end.get(), worker_main);
    }

    ~ForkServerLauncher() override {
        socket_.reset();           // the lifeline: the server kills its children and ends
        ::kill(server_, SIGCONT);  // should somebody have stopped it
        ::waitpid(server_, nullptr, 0);
        // Ours only if the server was killed; they were killed with it. Else no such child: no
        // wait.
        for (const auto& [pid, worker] : running_) ::waitpid(pid_t(pid), nullptr, 0);
    }

    Launched launch(WorkerId worker, const nlohmann::json& config) override {
        int ends[2];
        check_call(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends),
                   "socketpair for a worker");
        FileDescriptor ours(ends[0]), theirs(ends[1]);
        const FileDescriptor config_file = write_config(config);
        if (gone_) throw_gone();
        try {
            send_packet(socket_.get(), {ForkPacket::Kind::launch, worker, -1, 0},
                        {theirs.get(), config_file.get()});
        } catch (const std::system_error&) {
            throw_gone();
        }
        while (auto reply = receive_packet(socket_.get())) {
            if (reply->packet.kind == ForkPacket::Kind::ended) {
                note_end(reply->packet);
                continue;
            }
            if (reply->packet.kind == ForkPacket::Kind::refused || reply->descriptors.empty()) {
                throw std::system_error(
                    reply->packet.status, std::generic_category(),
                    fmt::format("the fork server cannot start worker {}", worker));
            }
            running_[reply->packet.pid] = worker;
            ended_.erase(reply->packet.pid);
            return {ours.release(), reply->descriptors[0].release(), long(reply->packet.pid),
                    "localhost"};
        }
        throw_gone();
    }

    void signal(const Launched& worker, int signal_number) override {
        // By pidfd: never hits a stranger that got the number of a worker already reaped.
        if (::pidfd_send_signal(worker.death_fd, signal_number, nullptr, 0) != 0 &&
            errno != ESRCH) {
            check_call(-1,
                       fmt::format("signal {} to worker with pid {}", signal_number, worker.pid));
        }
    }

    std::string exit_status(const Launched& worker) override {
        collect();
        if (gone_ && running_.count(worker.pid) != 0) {
            int status = 0;
            if (::waitpid(pid_t(worker.pid), &status, WNOHANG) == worker.pid) {
                running_.erase(worker.pid);
                return describe(status) + " (the fork server had been killed)";
            }
        }
        const auto found = ended_.find(worker.pid);
        return found == ended_.end() ? "" : found->second;
    }

    int wake_fd() const override { return gone_ ? -1 : socket_.get(); }

  private:
    static FileDescriptor write_config(const nlohmann::json& config) {
        FileDescriptor file(check_call(::memfd_create("assay-worker-config", MFD_CLOEXEC),
                                       "memfd for a worker's config"));
        const std::string text =
            config.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        for (std::size_t done = 0; done < text.size();) {
            done += check_call(int(::write(file.get(), text.data() + done,
                                           std::min<std::size_t>(text.size() - done, 1 << 30))),
                               "write of a worker's config");
        }
        return file;
    }

    [[noreturn]] void throw_gone() {
        gone_ = true;
        throw std::runtime_error(
            "the fork server is gone (was it killed?): no worker can be started");
    }

    void note_end(const ForkPacket& packet) {
        running_.erase(packet.pid);
        ended_[packet.pid] = describe(packet.status);
    }

    void collect() {
        while (!gone_) {
            pollfd watched{socket_.get(), POLLIN, 0};
            if (::poll(&watched, 1, 0) <= 0) return;
            if (auto received = receive_packet(socket_.get())) {
                note_end(received->packet);
            } else {
                gone_ = true;
            }
        }
    }

    FileDescriptor socket_;
    pid_t server_ = -1;
    bool gone_ = false;
    std::map<std::int64_t, WorkerId> running_;   ///< by pid
    std::map<std::int64_t, std::string> ended_;  ///< by pid
};

}  // namespace

void switch_off_flight_recorder() {
    // Its own name and the one it had before: the user's word counts under either.
    if (std::getenv("TORCH_NCCL_TRACE_BUFFER_SIZE") != nullptr) return;
    ::setenv("TORCH_FR_BUFFER_SIZE", "0", /*overwrite=*/0);
}

std::unique_ptr<Launcher> make_fork_server(WorkerMain worker_main) {
    return std::make_unique<ForkServerLauncher>(std::move(worker_main));
}

}  // namespace assay::cluster
