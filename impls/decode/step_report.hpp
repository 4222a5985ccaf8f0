// What an engine tells of its steps: tokens, ends, how much it has done.
#pragma once

#include <cstdint>
#include <vector>

#include "impls/decode/requests/request_state.hpp"
#include "impls/decode/schedule/scheduler.hpp"

namespace assay::decode {

struct MadeToken {
    RequestId request = -1;
    int id = -1;
    int version = 0;            ///< of the weights
    float log_probability = 0;  ///< nats, of the raw logits' softmax
    /// nats, with which the sampler drew it; 0: it had no choice (Outcome)
    float sampled_log_probability = 0;
};

struct EndedRequest {
    RequestId request = -1;
    Finish why = Finish::length;
    int reused = 0;  ///< prompt tokens found in the cache when it was first admitted
    int preemptions = 0;
    std::vector<double> prompt_log_probabilities;  ///< of the second on; where asked for
};

/// What steps brought.
struct StepReport {
    int steps = 0;  ///< 0: there was nothing to do
    std::vector<MadeToken> tokens;
    std::vector<EndedRequest> ended;
    double seconds = 0;  ///< by the back end's clock
    int waiting = 0;     ///< requests that were not admitted yet behind the last of them
    void clear();
};

/// Of all steps that had so many requests.
struct BatchThroughput {
    std::int64_t steps = 0, tokens = 0;  ///< tokens made
    double seconds = 0;
};

struct EngineStats {
    int waiting = 0, running = 0;
    int free_blocks = 0;  ///< those of the cache of prefixes too
    int held_blocks = 0, peak_blocks = 0;
    std::int64_t steps = 0;
    std::int64_t computed_tokens = 0;  ///< all that were fed, however often
    std::int64_t preemptions = 0;
    std::vector<BatchThroughput> by_batch;  ///< [requests of a step]
};

}  // namespace assay::decode
