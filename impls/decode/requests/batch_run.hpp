// A list of requests through an engine from begin to end, each coming and going before a given
// step, with a move to a second engine and a swap of weights on the way.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "impls/decode/back_ends.hpp"
#include "impls/decode/batch_engine.hpp"

namespace assay::decode {

struct BatchJob {
    BatchRequest request;
    std::int64_t at_step = 0;  ///< comes before this step
    std::optional<std::int64_t> cancel_at;
};

struct BatchRunOptions {
    BatchOptions engine;
    BackEnds back_ends;
    TextOf text_of;  ///< for requests that stop at texts
    /// Before this step what is not finished goes on in a second engine, tokens only.
    std::optional<std::int64_t> move_at;
    bool move_cache = false;  ///< … keys and values too
    /// Before this step the same weights become those in use, as the next version; what runs is
    /// computed anew.
    std::optional<std::int64_t> reload_at;
};

struct BatchAnswer {
    std::vector<int> ids, versions;
    std::vector<float> log_probabilities, sampled_log_probabilities;  ///< as MadeToken has them
    std::vector<double> prompt_log_probabilities;  ///< of the second on, as far as it came
    Finish finish = Finish::cancelled;
    int reused = 0, preemptions = 0;
};

struct BatchRun {
    std::vector<BatchAnswer> answers;  ///< by job
    std::int64_t steps = 0;            ///< made, not jumped over while nothing was there
    std::int64_t computed_tokens = 0, reused_tokens = 0, preemptions = 0;
    int peak_blocks = 0;
    int exported_blocks = 0;  ///< whose keys and values moved to the second engine
    int held_blocks = 0;      ///< in the end, the cache of prefixes emptied
    double seconds = 0;       ///< of this machine's time
    double step_s = 0;        ///< by the clock of the back end: measured or modelled
};

/// Blocks for all of them at once.
int blocks_for_all(std::span<const BatchJob> jobs, int context);

/// Throws UserError as BatchEngine::submit().
BatchRun run_batch(std::span<const BatchJob> jobs, const BatchRunOptions& options);

}  // namespace assay::decode
