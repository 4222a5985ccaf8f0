// Requests that go on in another engine, where engines are processes whose steps end when the
// modelled GPU's would.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "impls/decode/requests/batch_run.hpp"
#include "suite/base/describe.hpp"

namespace assay::decode {

/// What becomes of the first engine when the last of the requests has half of its tokens.
enum class Departure { none, tokens, with_kv, sigkill };
ASSAY_NAMES(Departure, none, tokens, with_kv, sigkill)

/// So long after a step began the first engine is killed.
double into_a_step_s();

struct ProcessRun {
    std::vector<BatchAnswer> answers;  ///< by job: ids, log-probabilities
    double seconds = 0;               ///< of the modelled device, from first submission to last end
    double computed_again = 0;        ///< tokens fed a second time
    std::optional<double> noticed_s;  ///< sigkill: from the signal until it was known; real
    double late_s = 0;                ///< Driver::worst_late_s
};

/// Throws SampleError (interrupted).
ProcessRun run_in_processes(std::span<const BatchJob> jobs, int blocks, Departure departure);

}  // namespace assay::decode
