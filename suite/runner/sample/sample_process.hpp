// One sample in a process of its own: started, listened to, timed out, killed and reaped with all
// its offspring.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "suite/experiment/experiment.hpp"
#include "suite/runner/interruption.hpp"
#include "suite/runner/sample/sample_protocol.hpp"
#include "suite/runner/sample/turn.hpp"

namespace assay::runner {

/// File descriptors of a sample's process, beside its standard ones (spec on 0; 1 and 2 are
/// captured).
inline constexpr int result_fd = 3;
inline constexpr int lifeline_fd = 4;  ///< EOF on it: the runner is gone

/// Whose process a sample is.
struct SampleProgram {
    std::string executable = "/proc/self/exe";  ///< this program, or another build of it
    /// Of result lines that are kept (all but progress): a sample that writes more has gone mad and
    /// must not fill our memory.
    std::size_t max_recorded_bytes = 512UL << 20U;
};

struct SampleEnd {
    SampleStatus status = SampleStatus::failed;
    std::string reason;  ///< a sentence, with the tail of its standard error when it crashed
    double seconds = 0;  ///< wall time of the process
};

/// Whoever has something to do while a sample runs: called with 0 right before the process starts,
/// then when the sample reaches the age in seconds that the last call returned, and after messages
/// of it came.
using Look = std::function<double(double age_s)>;

/// Starts `program` + " sample" as leader of its own process group and returns when it and
/// every process descending from it are gone: SIGKILL after spec.timeout_s (failed, "timeout …"),
/// on an interruption (interrupted), or when it writes nonsense or too much (failed). One that
/// writes without pause delays neither. Should the caller be
/// killed, the kernel kills the sample. `on_message` gets everything but the end, as it comes;
/// `look` may be empty. A sample whose scenario says so (slowdown.hpp) is slowed meanwhile.
/// Samples run side by side where each has a thread and all have one `turn`: the caller holds it,
/// and gives it to others while there is nothing to do but wait for the process.
SampleEnd run_sample_process(const SampleSpec& spec,
                             const std::function<void(Message&&)>& on_message,
                             const Interruption& interruption, const SampleProgram& program = {},
                             const Look& look = {}, Turn* turn = nullptr);

}  // namespace assay::runner
