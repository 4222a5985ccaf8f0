#include "suite/cluster/processes/local_worker.hpp"

#include <fmt/core.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace assay::cluster {

// The supervisor's side.

WorkerSupplies make_supplies(const nlohmann::json& config) {
    int ends[2];
    check_call(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends),
               "socketpair for a worker");
    WorkerSupplies supplies{FileDescriptor(ends[0]), FileDescriptor(ends[1]), {}};
    supplies.config = FileDescriptor(check_call(::memfd_create("assay-worker-config", MFD_CLOEXEC),
                                                "memfd for a worker's config"));
    const std::string text = config.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (!write_all(supplies.config.get(), text)) check_call(-1, "write of a worker's config");
    return supplies;
}

void signal_by_pidfd(const FileDescriptor& pidfd, int signal_number) {
    if (!pidfd || ::pidfd_send_signal(pidfd.get(), signal_number, nullptr, 0) == 0) return;
    if (errno != ESRCH) check_call(-1, fmt::format("signal {} to a worker", signal_number));
}

std::string how_it_ended(const ExitStatus& status) {
    if (status.code) return fmt::format("exit {}", *status.code);
    return fmt::format("signal {}", status.signal);
}

std::optional<EnvironmentVariable> flight_recorder_off(
    const std::vector<EnvironmentVariable>& added) {
    // Its own name and the one it had before: the user's word counts under either.
    for (const char* name : {"TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE"}) {
        const auto has_name = [&](const EnvironmentVariable& each) { return each.first == name; };
        if (std::getenv(name) != nullptr || std::any_of(added.begin(), added.end(), has_name))
            return std::nullopt;
    }
    return EnvironmentVariable("TORCH_FR_BUFFER_SIZE", "0");
}

void switch_off_flight_recorder() {
    if (const auto off = flight_recorder_off())
        ::setenv(off->first.c_str(), off->second.c_str(), /*overwrite=*/1);
}

// The worker's side.

nlohmann::json read_config(const FileDescriptor& config) {
    struct stat status {};
    check_call(::fstat(config.get(), &status), "fstat of a worker's config");
    std::string text(status.st_size, '\0');
    for (std::size_t done = 0; done < text.size();) {
        const int got = check_call(
            int(::pread(config.get(), text.data() + done,
                        std::min<std::size_t>(text.size() - done, 1 << 30), off_t(done))),
            "read of a worker's config");
        if (got == 0) break;
        done += got;
    }
    return nlohmann::json::parse(text);
}

int run_worker(WorkerId worker, FileDescriptor channel,
               const std::function<int(ControlChannel&)>& body) noexcept {
    ::prctl(PR_SET_NAME, fmt::format("assay-worker{}", worker).c_str());
    ::signal(SIGINT, SIG_IGN);  // the terminal's Ctrl-C is for the supervisor, which decides
    ::signal(SIGHUP, SIG_IGN);
    ::signal(SIGPIPE, SIG_IGN);  // a write to a dead peer is an error to handle, not an end
    ::signal(SIGCHLD, SIG_DFL);
    int status = kWorkerFailed;
    {
        ControlChannel control(channel.release());  // from here SIGTERM is a request
        sigset_t none;
        ::sigemptyset(&none);
        ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
        try {
            status = body(control);
        } catch (const std::exception& error) {
            fmt::print(stderr, "assay: worker {}: {}\n", worker, error.what());
            control.fail(error.what());
        }
    }
    std::fflush(nullptr);
    return status;
}

}  // namespace assay::cluster
