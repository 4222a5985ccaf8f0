#include "suite/runner/sample/sample_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <system_error>

#include "suite/base/process.hpp"
#include "suite/runner/sample/leftover_processes.hpp"
#include "suite/runner/sample/slowdown.hpp"

namespace assay::runner {
namespace {

using Clock = std::chrono::steady_clock;

/// How much of the last output of a crashed sample goes into its reason.
constexpr std::size_t tail_bytes = 600;

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

FileDescriptor as_file(const std::string& text) {
    FileDescriptor fd(::memfd_create("assay-sample", MFD_CLOEXEC));
    if (!fd || ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
        ::lseek(fd.get(), 0, SEEK_SET) != 0)
        fail("memfd");
    return fd;
}

/// A sample's process and our ends of its pipes.
struct Child {
    Process process;
    FileDescriptor results, output, lifeline;
};

Child start(const SampleSpec& spec, const SampleProgram& program) {
    const FileDescriptor input = as_file(to_json(spec).dump());
    Pipe results, output, lifeline;
    ProcessCommand command;
    command.program = program.executable;
    command.arguments = {"assay", "sample"};
    command.in = Stream::descriptor(input.get());
    command.out = command.err = Stream::descriptor(output.write.get());
    command.descriptors = {results.write.get(), lifeline.read.get()};  // result_fd, lifeline_fd
    command.own_group = true;
    command.parent_death_signal = SIGKILL;
    // Threads of libtorch that wait for each other sleep: spinning, they take a shared machine's
    // cores from the thread they wait for, and small models train ten times slower. Who knows
    // better sets it.
    if (std::getenv("OMP_WAIT_POLICY") == nullptr)
        command.environment.emplace_back("OMP_WAIT_POLICY", "passive");
    Child child{Process::spawn(command), std::move(results.read), std::move(output.read),
                std::move(lifeline.write)};
    ::fcntl(child.results.get(), F_SETFL, O_NONBLOCK);
    ::fcntl(child.output.get(), F_SETFL, O_NONBLOCK);
    return child;
}

/// Reads what the pipe holds, but no more than that of what is written meanwhile: whoever writes
/// without pause must not keep us from everything else. So all is read that a process wrote before
/// its death. False at the end of the stream.
template <typename Take>
bool drain(const FileDescriptor& fd, Take&& take) {
    char bytes[65536];
    ssize_t left = std::max(::fcntl(fd.get(), F_GETPIPE_SZ), int{sizeof bytes});
    while (left > 0) {
        const ssize_t count = ::read(fd.get(), bytes, sizeof bytes);
        if (count > 0)
            take(std::string_view(bytes, static_cast<std::size_t>(count)));
        else if (count == 0)
            return false;
        else if (errno != EINTR)
            return errno == EAGAIN;
        left -= std::max<ssize_t>(count, 0);
    }
    return true;
}

std::string describe(const ExitStatus& ended) {
    return to_string(ended) + (ended.signal == SIGKILL ? "; was memory short?" : "");
}

/// The last lines of what the sample printed, as one line.
std::string quoted_tail(std::string_view output) {
    while (!output.empty() && output.back() == '\n') output.remove_suffix(1);
    if (output.size() > tail_bytes) output.remove_prefix(output.size() - tail_bytes);
    if (output.empty()) return {};
    std::string text = "; its last output: ";
    for (const char c : output) text += c == '\n' ? std::string(" | ") : std::string(1, c);
    return text;
}

/// Listens to one child until it is gone.
class Listening {
  public:
    Listening(Child& child, const SampleSpec& spec,
              const std::function<void(Message&&)>& on_message, const Interruption& interruption,
              const SampleProgram& program, double slowdown, const Look& look, double first_look_s,
              Turn* turn)
        : child_(child),
          spec_(spec),
          on_message_(on_message),
          interruption_(interruption),
          look_(look),
          look_at_s_(first_look_s),
          turn_(turn),
          max_recorded_bytes_(program.max_recorded_bytes) {
        if (slowdown > 1) slowed_.emplace(child.process.pid(), slowdown);
        started_ = Clock::now();
        // A year is never; larger numbers overflow the clock.
        const double limit = std::min(spec.timeout_s, 365.0 * 86400.0);
        deadline_ = started_ + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(limit));
    }

    SampleEnd run() {
        pollfd entries[4] = {{child_.results.get(), POLLIN, 0},
                             {child_.output.get(), POLLIN, 0},
                             {child_.process.pidfd(), POLLIN, 0},
                             {interruption_.fd(), POLLIN, 0}};
        while (true) {
            if (wait_for(entries) < 0 && errno != EINTR) fail("poll");
            // Looked at before draining: what a dead child wrote is all there when we drain.
            const bool gone = entries[2].revents != 0;
            if (entries[0].revents != 0 && !read_results()) entries[0].fd = -1;
            if (entries[1].revents != 0 && !read_output()) entries[1].fd = -1;
            if (gone) break;
            if (entries[3].revents != 0) {
                stop({SampleStatus::interrupted, "interrupted by a signal to the runner"});
                entries[3].fd = -1;
            }
            if (Clock::now() >= deadline_)
                stop({SampleStatus::failed,
                      fmt::format("timeout: not done after {:g} s", spec_.timeout_s)});
            if (look_ && (heard_ || age_s() >= look_at_s_)) look_at_s_ = look_(age_s());
            heard_ = false;
        }
        read_results();
        read_output();
        // The leader is dead but not reaped, so that its group's number cannot be another's yet.
        slowed_.reset();
        child_.process.kill_group();
        SampleEnd result = verdict(child_.process.wait());
        result.seconds = age_s();
        return result;
    }

  private:
    double age_s() const { return std::chrono::duration<double>(Clock::now() - started_).count(); }

    int wait_for(std::span<pollfd> entries) const {
        int milliseconds = milliseconds_left();
        if (turn_ != nullptr) {  // what is seen while others go on is old when it is our turn
            turn_->unlock();
            ::poll(entries.data(), entries.size(), milliseconds);
            turn_->lock();
            milliseconds = 0;
        }
        return ::poll(entries.data(), entries.size(), milliseconds);
    }

    int milliseconds_left() const {
        if (stopped_) return 1000;
        double left = std::chrono::duration<double>(deadline_ - Clock::now()).count();
        if (look_) left = std::min(left, look_at_s_ - age_s());
        return static_cast<int>(std::ceil(std::clamp(left, 0.0, 3600.0) * 1000));
    }

    /// Ends the sample; the first reason counts.
    void stop(End why) {
        if (!stopped_) stopped_ = std::move(why);
        child_.process.kill_group();
    }

    bool read_results() {
        try {
            return drain(child_.results, [&](std::string_view bytes) {
                splitter_.feed(bytes, [&](std::string_view line) { take(line); });
            });
        } catch (const ProtocolError& error) {
            stop({SampleStatus::failed,
                  fmt::format("the sample's process wrote nonsense: {}", error.what())});
            return false;
        }
    }

    bool read_output() {
        return drain(child_.output, [&](std::string_view bytes) {
            output_ += bytes;
            if (output_.size() > 16 * tail_bytes) output_.erase(0, output_.size() - tail_bytes);
        });
    }

    void take(std::string_view line) {
        if (stopped_) return;
        Message message = decode(line);
        if (end_) throw ProtocolError("something after the end");
        if (!std::holds_alternative<Progress>(message)) recorded_bytes_ += line.size();
        if (recorded_bytes_ > max_recorded_bytes_)
            throw ProtocolError(fmt::format("more than {} bytes of results", max_recorded_bytes_));
        if (auto* end = std::get_if<End>(&message))
            end_ = std::move(*end);
        else
            on_message_(std::move(message));
        heard_ = true;
    }

    SampleEnd verdict(const ExitStatus& ended) const {
        if (stopped_) return {stopped_->status, stopped_->reason};
        if (end_ && (ended.ok() || end_->status != SampleStatus::ok))
            return {end_->status, end_->reason};
        if (ended.ok())
            return {SampleStatus::failed,
                    "the sample's process ended without saying how" + quoted_tail(output_)};
        return {SampleStatus::failed,
                fmt::format("the sample's process {}{}{}", describe(ended),
                            end_ ? " after it had reported success" : "", quoted_tail(output_))};
    }

    Child& child_;
    const SampleSpec& spec_;
    const std::function<void(Message&&)>& on_message_;
    const Interruption& interruption_;
    const Look& look_;
    double look_at_s_;    ///< age
    bool heard_ = false;  ///< messages came since the last look
    Turn* turn_;
    Clock::time_point started_, deadline_;
    LineSplitter splitter_;
    std::size_t recorded_bytes_ = 0;
    const std::size_t max_recorded_bytes_;
    std::string output_;
    std::optional<End> end_;
    std::optional<End> stopped_;
    std::optional<SlowedProcesses> slowed_;  ///< before the leader is reaped it must be gone
};

}  // namespace

SampleEnd run_sample_process(const SampleSpec& spec,
                             const std::function<void(Message&&)>& on_message,
                             const Interruption& interruption, const SampleProgram& program,
                             const Look& look, Turn* turn) {
    LeftoverProcesses leftovers;
    const Slowdown slowdown = slowdown_of(spec.scenario);
    SampleSpec told = spec;
    told.scenario = slowdown.scenario;
    const double first_look_s = look ? look(0) : 0;
    const auto ended = [&]() -> SampleEnd {
        try {
            // Goes, with its group and its lifeline, also where the listener throws (a full disk,
            // say): the sample must not outlive this call.
            Child child = start(told, program);
            leftovers.belongs(child.process.pid());
            return Listening(child, spec, on_message, interruption, program, slowdown.factor, look,
                             first_look_s, turn)
                .run();
        } catch (const CannotStart& error) {
            return {SampleStatus::failed, error.what()};
        } catch (...) {
            leftovers.reap();
            throw;
        }
    }();
    leftovers.reap();
    return ended;
}

}  // namespace assay::runner
