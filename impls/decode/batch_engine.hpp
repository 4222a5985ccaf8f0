// Many requests at once on one back end: what is fed in a step is decided by schedule/, computed by
// a BackEnd, and a request's tokens, bit for bit, do not depend on what runs beside it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "impls/decode/back_end.hpp"
#include "impls/decode/links/linked_cache.hpp"
#include "impls/decode/requests/request_check.hpp"
#include "impls/decode/requests/stop_texts.hpp"
#include "impls/decode/run_ahead.hpp"
#include "impls/decode/schedule/scheduler.hpp"
#include "impls/decode/step_report.hpp"

namespace assay::decode {

struct BatchOptions {
    int max_batch = 32;
    int chunk = 64;  ///< most prompt tokens of a step
    bool prefix = true;
    bool swap = false;  ///< preempted requests go to the host's memory; else they are recomputed
    std::string model;  ///< by which exported requests are told apart
    int version = 1;    ///< of the first weights
    /// That have not ended, at once; most of them wait, and take no more than what they ask for.
    int max_requests = 16384;
};

class BatchEngine {
  public:
    /// text_of: for requests that stop at texts. Throws UserError: settings that make no sense.
    BatchEngine(std::unique_ptr<BackEnd> back_end, const BatchOptions& options,
                TextOf text_of = {});
    ~BatchEngine();

    /// Throws UserError: ids that the model does not know, a prompt beyond the context, a cache too
    /// small for the request, numbers out of range, links as KeptSequences::check() says, as many
    /// requests as EngineLimits::max_requests.
    RequestId submit(const BatchRequest& request);
    /// Gives up what was kept of it, once no request that has not ended is linked to it; nothing
    /// happens where nothing was.
    void release(RequestId kept);
    /// Between steps; what was made so far stays made. False: it had ended before.
    bool cancel(RequestId request, StepReport& report);

    /// One step, or up to `most` where the back end can make several without a decision between
    /// them. Appends to `report`.
    void step(StepReport& report, int most = 1);
    bool idle() const;

    /// Weights for the steps after the next commit(), made beside the steps. `version` is above all
    /// before. Throws UserError where they do not fit the back end.
    void prepare(int version, std::shared_ptr<ModelWeights> weights);
    enum class Cache { recompute, keep };
    /// Between steps. recompute: what runs is computed anew; keep: keys and values of the old
    /// weights go on being used by the requests that have them, and by no other. std::logic_error:
    /// nothing was prepared, or sequences are kept or linked.
    void commit(Cache cache);
    int version() const { return version_; }

    /// `with_cache`: keys and values too, where they are all of the present weights. Throws
    /// std::out_of_range for a request that has ended, UserError for one with links.
    RequestState state_of(RequestId request, bool with_cache = false) const;
    /// Goes on with it here, with its keys and values if it brings them; under the number `as`, by
    /// which no request is known here. Throws UserError as submit(), and for a state of another
    /// model or that contradicts itself; for keys and values of another identity (BackEnd): take
    /// RequestState::forget_cache() then.
    RequestId resume(const RequestState& state, std::optional<RequestId> as = {});
    /// Requests that have not ended, in the order of arrival.
    std::vector<RequestId> unfinished() const;
    /// As if it had never come: nothing is reported.
    void remove(RequestId request);

    EngineStats stats() const;
    bool has(RequestId request) const { return slots_.contains(request); }  ///< not ended
    /// Whether sequences are kept or linked: then weights cannot change.
    bool has_links() const { return linked_.bind(); }
    /// Prompt tokens that a request with this prompt would find in the cache of prefixes.
    int cached_tokens(std::span<const int> prompt) { return scheduler_.cached_tokens(prompt); }
    /// Gives up the cache of prefixes.
    void empty_cache() { scheduler_.empty_cache(); }

    const BackEnd& back_end() const { return *back_end_; }
    EngineLimits limits() const;
    const Scheduler& scheduler() const { return scheduler_; }

  private:
    struct Note;  // of a token
    struct Live;
    std::optional<StopTexts> stops_of(const RequestState& state) const;
    RequestId add(const RequestState& state, RequestId id, std::optional<StopTexts> stops);
    void make_room(Live& live) const;
    void carry_out();
    void make_slices();
    void run_one(StepReport& report);
    void run_several(StepReport& report);
    void note_token(std::size_t feed, const Outcome& outcome, StepReport& report);
    void note_step(double seconds, int tokens);
    void report_ended(StepReport& report);
    void give_back(int slot);

    std::unique_ptr<BackEnd> back_end_;
    std::shared_ptr<ModelWeights> next_;
    RunsAhead* ahead_ = nullptr;  // back_end_, where it can
    BatchOptions options_;
    TextOf text_of_;
    int version_, next_version_ = 0;
    Scheduler scheduler_;
    LinkedCache linked_;
    std::set<RequestId> released_;  // and still linked to
    std::deque<Live> live_;         // by the scheduler's number
    std::vector<int> unused_;
    std::unordered_map<RequestId, int> slots_;
    RequestId last_id_ = -1;

    Actions actions_;
    std::vector<Slice> slices_;
    std::vector<Outcome> outcomes_;
    std::vector<int> picked_, scored_;
    std::vector<char> failed_, stopped_;
    std::vector<std::span<const int>> stops_;
    std::vector<float> log_probabilities_, sampled_;
    std::vector<double> durations_;
    int by_token_ = 0;  // requests of which each token is looked at: forced ids, stops
    EngineStats stats_;
};

}  // namespace assay::decode
