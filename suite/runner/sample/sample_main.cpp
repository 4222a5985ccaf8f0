// The sample's own process.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "suite/base/error.hpp"
#include "suite/base/process.hpp"
#include "suite/runner/runner.hpp"
#include "suite/runner/sample/pipe_recorder.hpp"
#include "suite/runner/sample/sample_process.hpp"

namespace assay::runner {
namespace {

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
    end_with_lifeline(lifeline_fd);  // with the runner
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
