// One thread, one poll loop over the lifeline, its parent and a signalfd. It holds no descriptor
// but these and the standard streams, and so do its children: an end of file that somebody waits
// for would not come while a stranger keeps a copy of the descriptor. It forks by itself, not as a
// suite/base/process.hpp: its children do not exec, and they go with their lifeline, not with an
// object.
#include "suite/cluster/processes/fork_server_process.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "suite/base/file_descriptor.hpp"
#include "suite/cluster/processes/dead_workers.hpp"
#include "suite/cluster/processes/local_worker.hpp"
#include "suite/cluster/processes/signal_watch.hpp"

namespace assay::cluster {
namespace {
constexpr std::size_t kMaxDescriptors = 2;
}

void send_packet(int socket, const ForkPacket& packet, const std::vector<int>& descriptors) {
    iovec data{const_cast<ForkPacket*>(&packet), sizeof packet};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxDescriptors)] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    if (!descriptors.empty()) {
        const std::size_t bytes = sizeof(int) * descriptors.size();
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(bytes);
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(bytes);
        std::memcpy(CMSG_DATA(header), descriptors.data(), bytes);
    }
    ssize_t sent;
    do {
        sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    check_call(static_cast<int>(sent), "send to the other side of the fork server");
}

std::optional<ReceivedPacket> receive_packet(int socket, int flags) {
    ReceivedPacket received;
    iovec data{&received.packet, sizeof received.packet};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxDescriptors)];
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ssize_t got;
    do {
        // ECONNRESET is told once, by a side that is gone and had not read everything: what it had
        // sent before still comes.
        got = ::recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
    } while (got < 0 && (errno == EINTR || errno == ECONNRESET));
    check_call(static_cast<int>(got), "receive from the other side of the fork server");
    if (got == 0) return std::nullopt;
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd;
            std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
            received.descriptors.emplace_back(fd);
        }
    }
    return received;
}

namespace {

[[noreturn]] void be_worker(pid_t server, WorkerId worker, FileDescriptor channel,
                            FileDescriptor config, const WorkerMain& worker_main) noexcept {
    // Dies with the fork server; the check covers a server that died before the call.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != server) ::_exit(kWorkerFailed);
    ::setpgid(0, 0);
    // No static destructors: they belong to the process this one was forked from, and libraries may
    // have threads of their own that outlive them.
    ::_exit(run_worker(worker, std::move(channel), [&](ControlChannel& control) {
        const nlohmann::json read = read_config(config);
        config.reset();
        return worker_main(worker, control, read);
    }));
}

class ForkServer {
  public:
    ForkServer(int socket, const WorkerMain& worker_main)
        : socket_(socket), worker_main_(worker_main) {
        sigset_t blocked;
        ::sigemptyset(&blocked);
        ::sigaddset(&blocked, SIGCHLD);
        ::sigaddset(&blocked, SIGTERM);
        ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
        signals_ = check_call(::signalfd(-1, &blocked, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd");
        parent_ = check_call(::pidfd_open(::getppid(), 0), "pidfd of the fork server's parent");
    }

    [[noreturn]] void serve() {
        while (true) {
            pollfd watched[] = {{socket_, POLLIN, 0}, {signals_, POLLIN, 0}, {parent_, POLLIN, 0}};
            if (::poll(watched, 3, -1) < 0 && errno != EINTR) shut_down(1);
            // Where our parent has forked, and not exec'ed, the lifeline does not end with it.
            if (watched[2].revents != 0) shut_down(0);
            if (watched[1].revents != 0) take_signals();
            if (watched[0].revents != 0) {
                auto request = receive_packet(socket_);
                if (!request) shut_down(0);
                launch(*request);
            }
        }
    }

    [[noreturn]] void shut_down(int status) {
        for (const auto& [pid, worker] : children_) kill_worker_group(pid);
        for (const auto& [pid, worker] : children_) ::waitpid(pid, nullptr, 0);
        ::_exit(status);
    }

  private:
    void take_signals() {
        signalfd_siginfo info{};
        while (::read(signals_, &info, sizeof info) == sizeof info) {
            if (info.ssi_signo == SIGTERM) shut_down(0);
        }
        reap();
    }

    void reap() {
        // Forgotten before anyone is told: should telling fail, shut_down() must not signal numbers
        // that may be others' by then.
        std::vector<ForkPacket> packets;
        for (const EndedChild& ended : reap_ended_children())
            if (const auto child = children_.extract(ended.pid))
                packets.push_back(
                    {ForkPacket::Kind::ended, child.mapped(), ended.pid, ended.wait_status});
        for (const ForkPacket& packet : packets) send_packet(socket_, packet);
    }

    void launch(ReceivedPacket& request) {
        const int worker = request.packet.worker;
        if (request.packet.kind != ForkPacket::Kind::launch || request.descriptors.size() != 2) {
            send_packet(socket_, {ForkPacket::Kind::refused, worker, -1, EPROTO});
            return;
        }
        const pid_t server = ::getpid();
        const pid_t pid = ::fork();
        if (pid == 0) {
            FileDescriptor channel = std::move(request.descriptors[0]);
            FileDescriptor config = std::move(request.descriptors[1]);
            close_all_but(
                {std::min(channel.get(), config.get()), std::max(channel.get(), config.get())});
            be_worker(server, worker, std::move(channel), std::move(config), worker_main_);
        }
        const int pidfd = pid < 0 ? -1 : ::pidfd_open(pid, 0);
        if (pidfd < 0) {
            const int error = errno;
            if (pid > 0) {
                ::kill(pid, SIGKILL);
                ::waitpid(pid, nullptr, 0);
            }
            send_packet(socket_, {ForkPacket::Kind::refused, worker, -1, error});
            return;
        }
        const FileDescriptor owned(pidfd);
        children_[pid] = worker;
        send_packet(socket_, {ForkPacket::Kind::launched, worker, pid, 0}, {pidfd});
    }

    int socket_;
    int signals_ = -1;
    int parent_ = -1;  ///< pidfd
    const WorkerMain& worker_main_;
    std::map<pid_t, int> children_;  ///< not reaped yet
};

}  // namespace

void run_fork_server(int socket, const WorkerMain& worker_main) {
    SignalWatch::discard_inherited();
    switch_off_flight_recorder();  // before any thread exists here, and for the workers alone
    // What workers have started and do not outlive comes to us, who reap it, not to whoever uses
    // us.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    // A session of its own: the terminal's Ctrl-C reaches the supervisor alone, which decides.
    ::setsid();
    ::signal(SIGINT, SIG_IGN);
    ::signal(SIGHUP, SIG_IGN);
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGCHLD, SIG_DFL);  // ignored, it would take the exit statuses with it
    ::prctl(PR_SET_NAME, "assay-forks");
    close_all_but({socket});
    if (const int null = ::open("/dev/null", O_RDONLY); null > 0) {
        ::dup2(null, STDIN_FILENO);
        ::close(null);
    }
    ForkServer* server = nullptr;
    try {
        server = new ForkServer(socket, worker_main);
        server->serve();
    } catch (const std::exception& error) {
        // Mostly: the supervisor went away while something was being sent to it.
        if (server != nullptr) server->shut_down(1);
        fmt::print(stderr, "assay: the fork server failed: {}\n", error.what());
    }
    ::_exit(1);
}

}  // namespace assay::cluster
