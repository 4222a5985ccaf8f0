// What whoever has requests needs of an engine: one in this process (batch_engine.hpp) or one in a
// process of its own (service/engine_client.hpp).
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

class RequestEngine {
  public:
    virtual ~RequestEngine() = default;

    /// Throws UserError: ids that the model does not know, a prompt beyond the context, a cache too
    /// small for the request, numbers out of range, links as KeptSequences::check() says, as many
    /// requests as EngineLimits::max_requests.
    virtual RequestId submit(const BatchRequest& request) = 0;
    /// Gives up what was kept of it; nothing happens where nothing was. std::logic_error: a request
    /// that has not ended is linked to it.
    virtual void release(RequestId kept) = 0;
    /// Between steps; what was made so far stays made. False: it had ended before.
    virtual bool cancel(RequestId request, StepReport& report) = 0;

    /// One step, or up to `most` where several can be made without a decision between them. Appends
    /// to `report`.
    virtual void step(StepReport& report, int most = 1) = 0;
    virtual bool idle() const = 0;
    virtual int version() const = 0;  ///< of the weights in use

    /// `with_cache`: keys and values too, where they are all of the present weights. Throws
    /// std::out_of_range for a request that has ended, UserError for one with links.
    virtual RequestState state_of(RequestId request, bool with_cache = false) const = 0;
    /// Goes on with it here, with its keys and values if it brings them. Throws UserError as
    /// submit(), and for a state of another model or that contradicts itself; for keys and values
    /// of another identity (BackEnd): take RequestState::forget_cache() then.
    virtual RequestId resume(const RequestState& state) = 0;
    /// Requests that have not ended, in the order of arrival.
    virtual std::vector<RequestId> unfinished() const = 0;
    /// As if it had never come: nothing is reported.
    virtual void remove(RequestId request) = 0;

    virtual EngineStats stats() const = 0;
    /// Gives up the cache of prefixes.
    virtual void empty_cache() = 0;
};

}  // namespace assay::decode
