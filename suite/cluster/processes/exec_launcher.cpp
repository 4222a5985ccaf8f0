// A Launcher that starts workers as new programs. A thread of its own starts them, for two reasons:
// to copy a large process and to load a program from a slow disk takes time that the supervisor's
// loop does not have; and the kernel binds the death of a child to the thread that started it, so
// that has to be one that lives exactly as long as the launcher.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "suite/base/process.hpp"
#include "suite/cluster/processes/dead_workers.hpp"
#include "suite/cluster/processes/exec_worker.hpp"
#include "suite/cluster/processes/local_worker.hpp"

namespace assay::cluster {
namespace {

ProcessCommand command_for(const ExecProgram& program) {
    ProcessCommand command;
    command.arguments = {program.program};
    command.arguments.insert(command.arguments.end(), program.arguments.begin(),
                             program.arguments.end());
    command.environment = program.environment;
    if (const auto off = flight_recorder_off(program.environment))
        command.environment.push_back(*off);
    command.in = Stream::null();
    command.own_group = true;
    command.parent_death_signal = SIGKILL;
    return command;
}

class ExecLauncher final : public Launcher {
  public:
    explicit ExecLauncher(const ExecProgram& program)
        : command_(command_for(program)), worker_name_(program.worker) {}

    ~ExecLauncher() override {
        if (starter_.joinable()) {
            {
                const std::lock_guard lock(mutex_);
                ending_ = true;
            }
            asked_.notify_one();
            starter_.join();
        }
        take_started();
        for (auto& [worker, child] : children_) {
            if (!child.process.running()) continue;
            ::pidfd_send_signal(child.process.pidfd(), SIGKILL, nullptr, 0);
            reap_child(child.process);
        }
    }

    void launch(WorkerId worker, const nlohmann::json& config) override {
        Request request{
            worker,
            make_supplies({{"worker", worker}, {"name", worker_name_}, {"config", config}})};
        if (!starter_.joinable()) starter_ = std::thread([this] { start_workers(); });
        const std::lock_guard lock(mutex_);
        requests_.push_back(std::move(request));
        asked_.notify_one();
    }

    std::vector<Start> starts() override {
        take_started();
        return std::exchange(starts_, {});
    }

    void signal(const Launched& worker, int signal_number) override {
        signal_by_pidfd(worker.death, signal_number);
    }

    std::string exit_status(WorkerId worker) override {
        const auto found = children_.find(worker);
        if (found == children_.end()) return "";
        Child& child = found->second;
        if (child.process.running()) {
            pollfd ended{child.process.pidfd(), POLLIN, 0};
            if (::poll(&ended, 1, 0) <= 0) return "";
            const auto status = reap_child(child.process);
            child.how = status ? how_it_ended(*status)
                               : "gone, exit status taken by other code of this process";
            child.lifeline.reset();
        }
        return child.how;
    }

    int wake_fd() const override { return wake_.get(); }

  private:
    struct Request {
        WorkerId worker;
        WorkerSupplies supplies;
    };
    struct Child {
        Process process;
        FileDescriptor lifeline;  ///< our end
        std::string how;          ///< once it was reaped
    };
    struct Started {
        Start start;
        Child child;
    };

    // In the thread.

    void start_workers() {
        // The signals of this process are for its other threads; and the new programs begin with
        // them held back, until run_exec_worker() can take them.
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
        std::unique_lock lock(mutex_);
        while (true) {
            asked_.wait(lock, [this] { return ending_ || !requests_.empty(); });
            if (ending_) return;
            Request request = std::move(requests_.front());
            requests_.pop_front();
            lock.unlock();
            Started started = start(std::move(request));
            lock.lock();
            started_.push_back(std::move(started));
            ::eventfd_write(wake_.get(), 1);
        }
    }

    Started start(Request request) const {
        Started started{.start = {.worker = request.worker}, .child = {}};
        try {
            Pipe lifeline;
            ProcessCommand command = command_;
            command.descriptors = {request.supplies.theirs.get(), request.supplies.config.get(),
                                   lifeline.read.get()};
            static_assert(kExecChannelFd == 3 && kExecConfigFd == 4 && kExecLifelineFd == 5);
            started.child.process = Process::spawn(command);
            const int pidfd = started.child.process.pidfd();
            started.start.launched = {
                .channel = std::move(request.supplies.ours),
                .death = FileDescriptor(
                    check_call(::fcntl(pidfd, F_DUPFD_CLOEXEC, 0), "a second pidfd of a worker")),
                .pid = long(started.child.process.pid()),
                .host = "localhost"};
            started.child.lifeline = std::move(lifeline.write);
        } catch (const std::exception& error) {
            started.child = {};
            started.start.why_not = error.what();
        }
        return started;
    }

    // In the supervisor's thread.

    void take_started() {
        eventfd_t ignored;
        ::eventfd_read(wake_.get(), &ignored);
        std::vector<Started> started;
        {
            const std::lock_guard lock(mutex_);
            started.swap(started_);
        }
        for (auto& [start, child] : started) {
            if (start.why_not.empty()) children_.emplace(start.worker, std::move(child));
            starts_.push_back(std::move(start));
        }
    }

    const ProcessCommand command_;
    const std::string worker_name_;
    FileDescriptor wake_{check_call(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")};
    std::map<WorkerId, Child> children_;
    std::vector<Start> starts_;

    std::mutex mutex_;  ///< of what follows
    std::condition_variable asked_;
    std::deque<Request> requests_;
    std::vector<Started> started_;
    bool ending_ = false;
    std::thread starter_;
};

}  // namespace

std::unique_ptr<Launcher> make_exec_launcher(ExecProgram program) {
    return std::make_unique<ExecLauncher>(program);
}

}  // namespace assay::cluster
