// What an engine that is a worker of a driver is told, and what it says: messages of suite/drive.
// Requests are called by the caller's numbers. States travel as base64 of to_bytes(RequestState);
// with keys and values, as these bytes by a drive::Transfer. Whoever goes on with them looks at
// their checksum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "impls/decode/back_ends.hpp"
#include "impls/decode/batch_engine.hpp"
#include "impls/decode/modelled/modelled_back_end.hpp"
#include "suite/drive/messages.hpp"

namespace assay::decode {

ASSAY_ROW(MadeToken, request, id, version, log_probability, sampled_log_probability)
ASSAY_FIELDS(EndedRequest, request, why, reused, preemptions, prompt_log_probabilities)
ASSAY_ROW(BatchThroughput, steps, tokens, seconds)
ASSAY_FIELDS(EngineStats, waiting, running, free_blocks, held_blocks, peak_blocks, steps,
             computed_tokens, preemptions, by_batch)
ASSAY_FIELDS(BatchOptions, max_batch, chunk, prefix, swap, model, version, max_requests)
ASSAY_FIELDS(StepCost, fixed_s, weights_s, token_s, position_s, block_s)
ASSAY_FIELDS(EngineLimits, model, vocabulary, context, blocks, block_bytes, can_link, has_texts,
             max_requests)

/// How an engine is started.
struct EngineSettings {
    BatchOptions options{};
    std::string weights{};  ///< what its EngineModel understands: a file
    int blocks = 0;         ///< of the cache
    int threads = 0;        ///< 0: all cores this process may use
    ActivationType activations = ActivationType::exact;
    std::optional<KvType> kv{};  ///< none: as BackEndOptions has it
    /// A message goes once a request has so many new tokens, or has ended: fewer, larger messages.
    int say_every = 1;
    /// Steps end when a device that costs this would end them; none: when they are done.
    std::optional<StepCost> pace{};
    double load_s = 0;  ///< modelled seconds until weights are there, the first ones too
};
ASSAY_FIELDS(EngineSettings, options, weights, blocks, threads, activations, kv, say_every, pace,
             load_s)

namespace service {

// ---- to the engine -----------------------------------------------------------------------------
// What is said of a request that has ended crossed its end on the way.

/// A request, new or begun elsewhere; answered by Taken or Refused. bytes > 0: that many are
/// offered, as state_object(exported), by the engine that exported it: answered by Awaits, and once
/// more when they Came, or when another Take of it brings a state in their place.
struct Take {
    RequestId request = -1;
    std::string state;
    RequestId exported = -1;
    std::uint64_t bytes = 0;
};
struct Came {
    RequestId request = -1;
};
/// What was kept of it is not wanted any more, once no request that has not ended is linked to it.
struct LetGo {
    RequestId kept = -1;
};
/// Answered by Dropped.
struct Drop {
    RequestId request = -1;
};
/// It is no more of this engine's business; answered by Exported, or where it is bound to its
/// engine by Refused: it stays.
struct Export {
    RequestId request = -1;
    bool with_cache = false;
};
/// Its state, which is offered, is not wanted any more.
struct Withdraw {
    RequestId exported = -1;
};
/// No step until GoOn; answered by Paused, after all that was made before.
struct Pause {};
struct GoOn {};
/// Beside steps; answered by Loaded or NotLoaded.
struct Load {
    int version = 0;
    std::string weights;
};
/// Of what was loaded, between steps; answered by Committed, or by NotLoaded: also where sequences
/// are kept.
struct Commit {
    int version = 0;
    bool keep_cache = false;
};
struct EmptyCache {};
/// Answered by Status, beside steps and loading.
struct AskStatus {
    std::int64_t number = 0;
};
/// It ends in order.
struct Leave {};

using ToEngine = std::variant<Take, Came, LetGo, Drop, Export, Withdraw, Pause, GoOn, Load, Commit,
                              EmptyCache, AskStatus, Leave>;

// ---- from it -----------------------------------------------------------------------------------

/// Its first weights are there.
struct Ready {
    EngineLimits limits;
    int version = 0;
};
/// There is room for its state now.
struct Awaits {
    RequestId request = -1;
};
struct Taken {
    RequestId request = -1;
};
/// It goes on without it: a damaged state, or one that does not fit.
struct Refused {
    RequestId request = -1;
    std::string why;
    bool cache = false;  ///< for its keys and values alone, which are of another identity
};
/// What steps brought.
struct Made {
    int steps = 0;
    double seconds = 0;  ///< of these steps, by the back end's clock
    int waiting = 0;     ///< requests that were not admitted yet
    std::vector<MadeToken> tokens;
    std::vector<EndedRequest> ended;
};
struct Dropped {
    RequestId request = -1;
};
/// `state`, or so many bytes that are offered as state_object(request) until it is told to withdraw
/// them.
struct Exported {
    RequestId request = -1;
    std::string state;
    std::uint64_t bytes = 0;
};
struct Paused {};
struct Loaded {
    int version = 0;
    double seconds = 0;
};
struct NotLoaded {
    int version = 0;
    std::string why;
};
struct Committed {
    int version = 0;
    double seconds = 0;  ///< of this machine's time, in which no step ran
};
struct Status {
    std::int64_t number = 0;  ///< of AskStatus
    EngineStats stats;
    int version = 0;   ///< of the weights in use; 0: none yet
    int loading = 0;   ///< version; 0: nothing
    int prepared = 0;  ///< version that can be committed; 0: none
    bool paused = false;
};

using FromEngine = std::variant<Ready, Awaits, Taken, Refused, Made, Dropped, Exported, Paused,
                                Loaded, NotLoaded, Committed, Status>;

ASSAY_MESSAGE(Take, "take", request, state, exported, bytes)
ASSAY_MESSAGE(Came, "came", request)
ASSAY_MESSAGE(LetGo, "let_go", kept)
ASSAY_MESSAGE(Drop, "drop", request)
ASSAY_MESSAGE(Export, "export", request, with_cache)
ASSAY_MESSAGE(Withdraw, "withdraw", exported)
ASSAY_MESSAGE(Pause, "pause")
ASSAY_MESSAGE(GoOn, "go_on")
ASSAY_MESSAGE(Load, "load", version, weights)
ASSAY_MESSAGE(Commit, "commit", version, keep_cache)
ASSAY_MESSAGE(EmptyCache, "empty_cache")
ASSAY_MESSAGE(AskStatus, "ask_status", number)
ASSAY_MESSAGE(Leave, "leave")
ASSAY_MESSAGE(Ready, "ready", limits, version)
ASSAY_MESSAGE(Awaits, "awaits", request)
ASSAY_MESSAGE(Taken, "taken", request)
ASSAY_MESSAGE(Refused, "refused", request, why, cache)
ASSAY_MESSAGE(Made, "made", steps, seconds, waiting, tokens, ended)
ASSAY_MESSAGE(Dropped, "dropped", request)
ASSAY_MESSAGE(Exported, "exported", request, state, bytes)
ASSAY_MESSAGE(Paused, "paused")
ASSAY_MESSAGE(Loaded, "loaded", version, seconds)
ASSAY_MESSAGE(NotLoaded, "not_loaded", version, why)
ASSAY_MESSAGE(Committed, "committed", version, seconds)
ASSAY_MESSAGE(Status, "status", number, stats, version, loading, prepared, paused)

/// What a transfer calls the state of an attempt that was exported.
std::string state_object(RequestId exported);
/// Of a state that an engine of these limits can export or take.
std::uint64_t most_state_bytes(const EngineLimits& limits);
/// A state as text of a message, and back. Throws UserError: no base64, or as request_state_from().
std::string state_text(std::span<const std::byte> bytes);
std::vector<std::byte> state_bytes(const std::string& text);

}  // namespace service
}  // namespace assay::decode
