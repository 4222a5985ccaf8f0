// The sample's own process.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "suite/base/error.hpp"
#include "suite/runner/runner.hpp"
#include "suite/runner/sample/pipe_recorder.hpp"
#include "suite/runner/sample/sample_process.hpp"

namespace assay::runner {
namespace {

/// Has the kernel SIGKILL our process group when the runner's end of the lifeline closes, that is
/// when the runner dies in whatever way. A thread could do it too, but fork servers must be made
/// before any thread exists.
void tie_to_runner() {
    const pid_t self = ::getpid();
    ::fcntl(lifeline_fd, F_SETFD, FD_CLOEXEC);
    ::fcntl(lifeline_fd, F_SETOWN, ::getpgrp() == self ? -self : self);
    ::fcntl(lifeline_fd, F_SETSIG, SIGKILL);
    ::fcntl(lifeline_fd, F_SETFL, O_ASYNC);
    // It may have died before the above was in place.
    pollfd entry{lifeline_fd, POLLIN, 0};
    if (::poll(&entry, 1, 0) > 0) ::_exit(1);
}

bool is_pipe(int fd) {
    struct stat status {};
    return ::fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
}

End make_sample(const Registry& registry, const SampleSpec& spec, PipeRecorder& recorder) {
    const Experiment& experiment = *registry.experiment(spec.experiment);
    try {
        if (experiment.unsupported)
            if (const auto reason = experiment.unsupported(spec))
                return {SampleStatus::unsupported, *reason};
        experiment.run(spec, recorder);
        return {SampleStatus::ok, ""};
    } catch (const SampleError& error) {
        const bool known = error.status() != SampleStatus::running;
        return {known ? error.status() : SampleStatus::failed, error.what()};
    } catch (const NotSupportedHere& error) {
        return {SampleStatus::unsupported, error.what()};
    } catch (const std::bad_alloc&) {
        return {SampleStatus::failed, "out of memory"};
    } catch (const std::exception& error) {
        return {SampleStatus::failed, error.what()};
    }
}

}  // namespace

int sample_main(const Registry& registry) {
    if (!is_pipe(result_fd) || !is_pipe(lifeline_fd))
        throw UserError("`assay sample` is how assay starts its own samples; use `assay run`");
    ::fcntl(result_fd, F_SETFD, FD_CLOEXEC);
    tie_to_runner();
    const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
    std::optional<SampleSpec> spec;
    try {
        spec = sample_spec_from_json(nlohmann::json::parse(text));
    } catch (const std::exception& error) {
        throw UserError(fmt::format("the sample's spec cannot be read: {}", error.what()));
    }
    const Experiment* experiment = registry.experiment(spec->experiment);
    if (experiment == nullptr)
        throw UserError(fmt::format("no experiment {} in this build", spec->experiment));
    PipeRecorder recorder(*experiment, spec->provenance, result_fd);
    const End end = make_sample(registry, *spec, recorder);
    recorder.end(end.status, end.reason);
    return 0;
}

}  // namespace assay::runner
