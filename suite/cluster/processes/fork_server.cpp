// The supervisor's side of the fork server: a Launcher that asks it for workers.
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "suite/base/process.hpp"
#include "suite/cluster/processes/dead_workers.hpp"
#include "suite/cluster/processes/fork_server_process.hpp"
#include "suite/cluster/processes/local_worker.hpp"

namespace assay::cluster {
namespace {

/// Requests without an answer. So few always fit into the socket: to ask never waits, not even for
/// a server that has been stopped.
constexpr int kMostUnanswered = 32;

constexpr const char* kServerGone = "the fork server is gone (was it killed?)";

/// A thread that was joined is still listed for a moment.
constexpr std::chrono::milliseconds kJoinedThreadsGone{100};

void refuse_threads() {
#ifndef __SANITIZE_THREAD__  // whose run time has a thread of its own
    const auto deadline = std::chrono::steady_clock::now() + kJoinedThreadsGone;
    while (true) {
        const auto threads =
            std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
        if (threads == 1) return;
        if (std::chrono::steady_clock::now() > deadline)
            throw std::logic_error(fmt::format(
                "make_fork_server(): this process already has {} threads; a process forked from it "
                "could find locks held for ever. Make the fork server first, or start the workers "
                "by exec (make_exec_launcher)",
                threads));
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
#endif
}

class ForkServerLauncher final : public Launcher {
  public:
    explicit ForkServerLauncher(const WorkerMain& worker_main) {
        refuse_threads();
        int ends[2];
        check_call(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends),
                   "socketpair for the fork server");
        socket_ = FileDescriptor(ends[0]);
        FileDescriptor server_end(ends[1]);
        std::fflush(nullptr);  // else the children would print what is buffered here once more
        server_ = Process::forked([&]() -> int { run_fork_server(server_end.get(), worker_main); });
        server_.pidfd();  // while nobody can have reaped it
    }

    ~ForkServerLauncher() override {
        socket_.reset();  // the lifeline: the server kills its children and ends
        // Should somebody have stopped it.
        ::pidfd_send_signal(server_.pidfd(), SIGCONT, nullptr, 0);
        reap_child(server_);
    }

    void launch(WorkerId worker, const nlohmann::json& config) override {
        if (gone_) throw std::runtime_error(no_worker());
        WorkerSupplies supplies = make_supplies(config);
        ours_[worker] = std::move(supplies.ours);
        requests_.push_back({worker, std::move(supplies.theirs), std::move(supplies.config)});
        ask();
    }

    std::vector<Start> starts() override {
        collect();
        return std::exchange(starts_, {});
    }

    void signal(const Launched& worker, int signal_number) override {
        signal_by_pidfd(worker.death, signal_number);
    }

    std::string exit_status(WorkerId worker) override {
        collect();
        const auto found = ended_.find(worker);
        if (found != ended_.end()) return found->second;
        // Who reaps it then does not tell us.
        return gone_ ? fmt::format("{}, and the worker with it", kServerGone) : "";
    }

    int wake_fd() const override { return gone_ ? -1 : socket_.get(); }

  private:
    struct Request {
        WorkerId worker;
        FileDescriptor channel, config;
    };

    static std::string no_worker() {
        return fmt::format("{}: no worker can be started", kServerGone);
    }

    void ask() {
        for (; !requests_.empty() && unanswered_ < kMostUnanswered; ++unanswered_) {
            const Request& next = requests_.front();
            try {
                send_packet(socket_.get(), {ForkPacket::Kind::launch, next.worker, -1, 0},
                            {next.channel.get(), next.config.get()});
            } catch (const std::system_error&) {
                return lose_server();
            }
            requests_.pop_front();
        }
    }

    void collect() {
        while (!gone_) {
            pollfd watched{socket_.get(), POLLIN, 0};
            if (::poll(&watched, 1, 0) <= 0) return;
            if (auto received = receive_packet(socket_.get())) {
                take(*received);
                ask();
            } else {
                lose_server();
            }
        }
    }

    void take(ReceivedPacket& received) {
        const auto& packet = received.packet;
        if (packet.kind == ForkPacket::Kind::ended) {
            ended_[packet.worker] = how_it_ended(to_exit_status(packet.status));
            return;
        }
        --unanswered_;
        Start start{.worker = packet.worker};
        auto channel = ours_.extract(packet.worker);
        if (packet.kind == ForkPacket::Kind::refused) {
            start.why_not = fmt::format("the fork server cannot start worker {}: {}", packet.worker,
                                        std::strerror(packet.status));
        } else if (received.descriptors.empty()) {
            // It ends with its channel, which goes here.
            start.why_not = fmt::format(
                "worker {} cannot be watched: too many files are open (ulimit -n)", packet.worker);
        } else {
            start.launched = {.channel = std::move(channel.mapped()),
                              .death = std::move(received.descriptors[0]),
                              .pid = long(packet.pid),
                              .host = "localhost"};
        }
        starts_.push_back(std::move(start));
    }

    /// What was forked in spite of it dies with it.
    void lose_server() {
        gone_ = true;
        for (const auto& [worker, channel] : ours_)
            starts_.push_back({.worker = worker, .launched = {}, .why_not = no_worker()});
        ours_.clear();
        requests_.clear();
    }

    FileDescriptor socket_;
    Process server_;
    bool gone_ = false;
    std::deque<Request> requests_;             ///< not sent yet
    int unanswered_ = 0;                       ///< sent
    std::map<WorkerId, FileDescriptor> ours_;  ///< our ends, of all that are not started yet
    std::vector<Start> starts_;
    std::map<WorkerId, std::string> ended_;
};

}  // namespace

std::unique_ptr<Launcher> make_fork_server(WorkerMain worker_main) {
    return std::make_unique<ForkServerLauncher>(worker_main);
}

}  // namespace assay::cluster
