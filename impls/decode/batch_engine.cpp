#include "impls/decode/batch_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "suite/base/error.hpp"

namespace assay::decode {
namespace {

// Tokens made in one go: what they leave to be read stays in the processor's caches.
constexpr int most_ahead = 16384;

BatchOptions checked(const BatchOptions& options) {
    if (options.max_batch < 1) throw UserError("a batch has at least one request");
    if (options.chunk < 1) throw UserError("a chunk has at least one token");
    if (options.max_requests < 1) throw UserError("an engine takes at least one request");
    return options;
}

ScheduleSettings schedule_of(const BackEnd& back_end, const BatchOptions& options) {
    return {.blocks = back_end.blocks(),
            .context = back_end.context(),
            .max_batch = options.max_batch,
            .chunk = options.chunk,
            .prefix = options.prefix,
            .swap = options.swap};
}

}  // namespace

struct BatchEngine::Note {
    float log_probability = 0, sampled = 0;
    int version = 0;
};

struct BatchEngine::Live {
    RequestId id = -1;
    RequestState state;                     // but for its tokens and what the scheduler knows
    std::vector<Note> notes;                // of each token; the scheduler has the ids
    std::vector<std::byte> stored;          // keys and values in the host's memory, block by block
    std::unique_ptr<LinkedRequest> linked;  // null: it has no links
    std::optional<StopTexts> stops;

    bool by_token() const { return !state.request.forced_ids.empty() || stops.has_value(); }
};

void StepReport::clear() {
    steps = 0;
    tokens.clear();
    ended.clear();
    seconds = 0;
    waiting = 0;
}

BatchEngine::BatchEngine(std::unique_ptr<BackEnd> back_end, const BatchOptions& options,
                         TextOf text_of)
    : back_end_(std::move(back_end)),
      ahead_(dynamic_cast<RunsAhead*>(back_end_.get())),
      options_(checked(options)),
      text_of_(std::move(text_of)),
      version_(options.version),
      scheduler_(schedule_of(*back_end_, options)) {
    const auto batch = static_cast<std::size_t>(options.max_batch);
    slices_.resize(batch);
    outcomes_.resize(batch);
    picked_.resize(batch);
    failed_.resize(batch);
    stopped_.resize(batch);
    stops_.resize(batch);
    scored_.reserve(static_cast<std::size_t>(options.chunk));
    stats_.by_batch.resize(batch + 1);
}

BatchEngine::~BatchEngine() = default;

// ---- requests -----------------------------------------------------------------------------------

EngineLimits BatchEngine::limits() const {
    return {.model = options_.model,
            .vocabulary = back_end_->vocabulary(),
            .context = back_end_->context(),
            .blocks = back_end_->blocks(),
            .block_bytes = back_end_->block_bytes(),
            .can_link = back_end_->can_link(),
            .has_texts = text_of_ != nullptr,
            .max_requests = options_.max_requests};
}

void BatchEngine::release(RequestId kept) {
    if (linked_.is_linked_to(kept))
        released_.insert(kept);
    else
        scheduler_.let_go(linked_.release(kept));
}

RequestId BatchEngine::submit(const BatchRequest& request) {
    RequestState state;
    state.model = options_.model;
    state.request = as_served(request);
    return resume(state);
}

RequestId BatchEngine::resume(const RequestState& state, std::optional<RequestId> as) {
    check_state(state, limits());
    linked_.check(state.request, limits());
    if (state.kv_positions > 0 && state.kv_identity != back_end_->identity())
        throw UserError(
            "the keys and values of the request were computed with other weights or another "
            "arithmetic than this engine's; leave them out");
    if (slots_.size() >= static_cast<std::size_t>(options_.max_requests)) throw full(slots_.size());
    const RequestId id = as.value_or(last_id_ + 1);
    if (slots_.contains(id) || linked_.keeps(id))
        throw UserError(fmt::format("a request of the number {} is here already", id));
    return add(state, id, stops_of(state));
}

/// As far as its tokens have come.
std::optional<StopTexts> BatchEngine::stops_of(const RequestState& state) const {
    if (state.request.stops.empty()) return std::nullopt;
    StopTexts stops(state.request.stops);
    for (const int made : state.ids)
        if (stops.add(text_of_(made)))
            throw UserError("the state of a request contradicts itself: a text had stopped it");
    return stops;
}

RequestId BatchEngine::add(const RequestState& state, RequestId id,
                           std::optional<StopTexts> stops) {
    int slot = static_cast<int>(live_.size());
    if (unused_.empty()) {
        live_.emplace_back();
    } else {
        slot = unused_.back();
        unused_.pop_back();
    }
    Live& live = live_[static_cast<std::size_t>(slot)];
    live.id = id;
    last_id_ = std::max(last_id_, id);
    live.state = state;
    const BatchRequest& request = live.state.request;
    std::vector<int> tokens = request.prompt;
    tokens.insert(tokens.end(), state.ids.begin(), state.ids.end());
    for (std::size_t i = 0; i < state.ids.size(); ++i)
        live.notes.push_back(
            {state.log_probabilities[i], state.sampled_log_probabilities[i], state.versions[i]});
    live.state.keep_first(0);
    live.linked = linked_.begin(id, request);
    live.stops = std::move(stops);
    live.stored = std::move(live.state.kv);
    live.state.forget_cache();
    slots_.emplace(live.id, slot);
    by_token_ += live.by_token() ? 1 : 0;
    scheduler_.on(Submit{.request = slot,
                         .tokens = tokens,
                         .prompt = static_cast<int>(request.prompt.size()),
                         .max_tokens = request.max_tokens,
                         .stop_ids = request.stop_ids,
                         .priority = request.priority,
                         .most_reused = request.most_reused(),
                         .admitted = state.admitted,
                         .stored = state.kv_positions,
                         .hook = live.linked.get()});
    return live.id;
}

bool BatchEngine::cancel(RequestId request, StepReport& report) {
    const auto found = slots_.find(request);
    if (found == slots_.end()) return false;
    actions_.clear();
    scheduler_.on(Cancel{found->second}, actions_);
    report_ended(report);
    return true;
}

void BatchEngine::remove(RequestId request) {
    StepReport unread;
    cancel(request, unread);
}

void BatchEngine::give_back(int slot) {
    Live& live = live_[static_cast<std::size_t>(slot)];
    by_token_ -= live.by_token() ? 1 : 0;
    slots_.erase(live.id);
    live.linked.reset();
    for (const RequestId kept : std::exchange(released_, {})) release(kept);
    live.stored = std::vector<std::byte>();
    live.state = {};
    live.notes = std::vector<Note>();
    unused_.push_back(slot);
}

bool BatchEngine::idle() const { return slots_.empty(); }

std::vector<RequestId> BatchEngine::unfinished() const {
    std::vector<std::pair<long, RequestId>> found;
    for (const auto& [id, slot] : slots_) found.emplace_back(scheduler_.sequence(slot).arrival, id);
    std::sort(found.begin(), found.end());
    std::vector<RequestId> ids;
    for (const auto& [arrival, id] : found) ids.push_back(id);
    return ids;
}

RequestState BatchEngine::state_of(RequestId request, bool with_cache) const {
    const int slot = slots_.at(request);
    const Live& live = live_[static_cast<std::size_t>(slot)];
    const Scheduler::Sequence& sequence = scheduler_.sequence(slot);
    if (live.state.request.binds())
        throw UserError("a request that is linked to others, or kept for them, cannot move");
    RequestState state = live.state;
    for (std::size_t i = 0; i < live.notes.size(); ++i)
        state.append(sequence.tokens[static_cast<std::size_t>(sequence.prompt) + i],
                     live.notes[i].version, live.notes[i].log_probability, live.notes[i].sampled);
    state.reused += sequence.reused;
    state.preemptions += sequence.preemptions;
    state.admitted = sequence.admitted;
    if (!with_cache || sequence.mixed) return state;
    state.kv_positions = sequence.fed + sequence.stored;  // one of them is 0
    if (state.kv_positions == 0) return state;
    state.kv_identity = back_end_->identity();
    if (sequence.stored > 0) {
        state.kv = live.stored;
        return state;
    }
    const std::size_t size = back_end_->block_bytes();
    state.kv.resize(static_cast<std::size_t>(blocks_for(state.kv_positions)) * size);
    for (std::size_t i = 0; i * size < state.kv.size(); ++i)
        back_end_->read_block(sequence.blocks[i], std::span(state.kv).subspan(i * size, size));
    return state;
}

// ---- steps --------------------------------------------------------------------------------------

void BatchEngine::step(StepReport& report, int most) {
    actions_.clear();
    const bool one = ahead_ == nullptr || by_token_ > 0;
    const int ahead = std::max(1, most_ahead / std::max(1, scheduler_.running()));
    scheduler_.on(NextStep{one ? 1 : std::min(most, ahead)}, actions_);
    carry_out();
    if (!actions_.feeds.empty()) {
        make_slices();
        if (actions_.steps == 1)
            run_one(report);
        else
            run_several(report);
    }
    report_ended(report);
    report.waiting = scheduler_.waiting();
}

void BatchEngine::carry_out() {
    const std::size_t size = back_end_->block_bytes();
    const auto stored = [&](const SwapBlock& swap) {
        std::vector<std::byte>& bytes = live_[static_cast<std::size_t>(swap.request)].stored;
        const std::size_t at = static_cast<std::size_t>(swap.index) * size;
        if (bytes.size() < at + size) bytes.resize(at + size);
        return std::span(bytes).subspan(at, size);
    };
    for (const SwapBlock& swap : actions_.swaps_out)
        back_end_->read_block(swap.block, stored(swap));
    for (const CopyBlock& copy : actions_.copies)
        back_end_->copy_block(copy.from, copy.to, copy.positions);
    for (const SwapBlock& swap : actions_.swaps_in)
        back_end_->write_block(swap.block, stored(swap));
    for (const SwapBlock& swap : actions_.swaps_in)
        live_[static_cast<std::size_t>(swap.request)].stored.clear();
    linked_.carry_out(*back_end_);
    for (const int request : actions_.forgotten)
        live_[static_cast<std::size_t>(request)].stored.clear();
}

void BatchEngine::make_slices() {
    scored_.clear();
    for (std::size_t i = 0; i < actions_.feeds.size(); ++i) {
        const Feed& feed = actions_.feeds[i];
        const Scheduler::Sequence& sequence = scheduler_.sequence(feed.request);
        Live& live = live_[static_cast<std::size_t>(feed.request)];
        const RequestState& state = live.state;
        const BatchRequest& request = state.request;
        const auto made = static_cast<std::size_t>(sequence.made());
        Slice& slice = slices_[i];
        slice.ids = std::span(sequence.tokens)
                        .subspan(static_cast<std::size_t>(feed.first),
                                 static_cast<std::size_t>(feed.count));
        slice.first_position = feed.first;
        slice.positions = slice.rotations = {};
        slice.blocks = sequence.blocks;
        slice.picks = feed.picks;
        slice.pick.sampling = request.sampling;
        slice.pick.draw = made;
        slice.pick.forced = request.forced_ids.empty() ? -1 : request.forced_ids[made];
        slice.pick.allowed = request.allowed;
        if (live.linked) live.linked->make_slice(sequence.tokens, feed.first, feed.count, slice);
        slice.scored = {};
        const int known = static_cast<int>(state.prompt_log_probabilities.size());
        if (!request.prompt_log_probabilities || feed.first + feed.count <= known ||
            known + 1 >= sequence.prompt)
            continue;
        const std::size_t first = scored_.size();
        for (int at = feed.first; at < feed.first + feed.count; ++at)
            scored_.push_back(at >= known && at + 1 < sequence.prompt
                                  ? sequence.tokens[static_cast<std::size_t>(at) + 1]
                                  : -1);
        slice.scored = std::span(scored_).subspan(first);
    }
}

void BatchEngine::run_one(StepReport& report) {
    const std::size_t feeds = actions_.feeds.size();
    back_end_->run(std::span(slices_).first(feeds), std::span(outcomes_).first(feeds));
    int made = 0;
    for (std::size_t i = 0; i < feeds; ++i) {
        const Feed& feed = actions_.feeds[i];
        const Outcome& outcome = outcomes_[i];
        failed_[i] = outcome.finite ? 0 : 1;
        stopped_[i] = 0;
        picked_[i] = outcome.id;
        stats_.computed_tokens += static_cast<std::int64_t>(slices_[i].ids.size());
        if (!outcome.finite) continue;
        RequestState& state = live_[static_cast<std::size_t>(feed.request)].state;
        std::vector<double>& scores = state.prompt_log_probabilities;
        if (scores.empty() && !slices_[i].scored.empty())
            scores.reserve(state.request.prompt.size());
        for (std::size_t at = 0; at < slices_[i].scored.size(); ++at)
            if (slices_[i].scored[at] >= 0) scores.push_back(outcome.scores[at]);
        if (!feed.picks) continue;
        ++made;
        note_token(i, outcome, report);
    }
    note_step(back_end_->step_seconds(), made);
    ++report.steps;
    report.seconds += back_end_->step_seconds();
    scheduler_.on(StepDone{1, std::span(picked_).first(feeds), std::span(failed_).first(feeds),
                           std::span(stopped_).first(feeds)},
                  actions_);
}

void BatchEngine::run_several(StepReport& report) {
    const std::size_t feeds = actions_.feeds.size();
    const std::size_t room = feeds * static_cast<std::size_t>(actions_.steps);
    if (picked_.size() < room) picked_.resize(room);
    if (log_probabilities_.size() < room) log_probabilities_.resize(room);
    if (sampled_.size() < room) sampled_.resize(room);
    if (durations_.size() < static_cast<std::size_t>(actions_.steps))
        durations_.resize(static_cast<std::size_t>(actions_.steps));
    for (std::size_t i = 0; i < feeds; ++i) {
        stops_[i] = scheduler_.sequence(actions_.feeds[i].request).stop_ids;
        failed_[i] = 0;
    }
    const int steps = ahead_->run_ahead(std::span(slices_).first(feeds), actions_.steps,
                                        std::span(stops_).first(feeds), picked_, log_probabilities_,
                                        sampled_, durations_);
    for (std::size_t i = 0; i < feeds; ++i) {
        Live& live = live_[static_cast<std::size_t>(actions_.feeds[i].request)];
        make_room(live);
        for (int step = 0; step < steps; ++step) {
            const std::size_t at = static_cast<std::size_t>(step) * feeds + i;
            live.notes.push_back({log_probabilities_[at], sampled_[at], version_});
        }
    }
    for (int step = 0; step < steps; ++step) {
        for (std::size_t i = 0; i < feeds; ++i) {
            const std::size_t at = static_cast<std::size_t>(step) * feeds + i;
            const Live& live = live_[static_cast<std::size_t>(actions_.feeds[i].request)];
            report.tokens.push_back(
                {live.id, picked_[at], version_, log_probabilities_[at], sampled_[at]});
        }
        note_step(durations_[static_cast<std::size_t>(step)], static_cast<int>(feeds));
        report.seconds += durations_[static_cast<std::size_t>(step)];
    }
    stats_.computed_tokens += static_cast<std::int64_t>(steps) * static_cast<std::int64_t>(feeds);
    report.steps += steps;
    scheduler_.on(StepDone{steps, picked_, std::span(failed_).first(feeds), {}}, actions_);
}

/// For all that it can make: once the first comes, not while it waits.
void BatchEngine::make_room(Live& live) const {
    const BatchRequest& request = live.state.request;
    const auto most = static_cast<std::size_t>(std::min(
        request.max_tokens, back_end_->context() + 1 - static_cast<int>(request.prompt.size())));
    if (live.notes.capacity() < most) live.notes.reserve(most);
}

void BatchEngine::note_token(std::size_t feed, const Outcome& outcome, StepReport& report) {
    Live& live = live_[static_cast<std::size_t>(actions_.feeds[feed].request)];
    if (live.notes.size() == live.notes.capacity()) make_room(live);
    live.notes.push_back({outcome.log_probability, outcome.sampled_log_probability, version_});
    report.tokens.push_back(
        {live.id, outcome.id, version_, outcome.log_probability, outcome.sampled_log_probability});
    if (live.stops) stopped_[feed] = live.stops->add(text_of_(outcome.id)) ? 1 : 0;
}

void BatchEngine::note_step(double seconds, int tokens) {
    ++stats_.steps;
    BatchThroughput& throughput = stats_.by_batch[actions_.feeds.size()];
    ++throughput.steps;
    throughput.tokens += tokens;
    throughput.seconds += seconds;
}

void BatchEngine::report_ended(StepReport& report) {
    for (const Finished& finished : actions_.finished) {
        Live& live = live_[static_cast<std::size_t>(finished.request)];
        const Scheduler::Sequence& sequence = scheduler_.sequence(finished.request);
        report.ended.push_back(
            {.request = live.id,
             .why = finished.why,
             .reused = live.state.reused + sequence.reused,
             .preemptions = live.state.preemptions + sequence.preemptions,
             .prompt_log_probabilities = std::move(live.state.prompt_log_probabilities)});
        stats_.preemptions += sequence.preemptions;
        give_back(finished.request);
    }
}

// ---- weights ------------------------------------------------------------------------------------

void BatchEngine::prepare(int version, std::shared_ptr<ModelWeights> weights) {
    if (version <= version_)
        throw UserError(fmt::format("version {} of the weights does not come after version {}",
                                    version, version_));
    if (!back_end_->fits(*weights))
        throw UserError("the new weights are of another shape or type than those in use");
    next_version_ = version;
    next_ = std::move(weights);
}

void BatchEngine::commit(Cache cache) {
    if (!next_) throw std::logic_error("no weights were prepared");
    if (has_links()) throw std::logic_error("weights change while sequences are kept or linked");
    actions_.clear();
    scheduler_.on(SwapWeights{cache == Cache::keep}, actions_);
    carry_out();
    back_end_->use(std::move(next_));
    version_ = next_version_;
}

EngineStats BatchEngine::stats() const {
    EngineStats stats = stats_;
    stats.waiting = scheduler_.waiting();
    stats.running = scheduler_.running();
    stats.free_blocks = scheduler_.available_blocks();
    stats.held_blocks = scheduler_.held_blocks();
    stats.peak_blocks = scheduler_.peak_blocks();
    for (const auto& [id, slot] : slots_)
        stats.preemptions += scheduler_.sequence(slot).preemptions;
    return stats;
}

}  // namespace assay::decode
