// Which requests are fed how many tokens in the next step, and which blocks of the cache they have:
// continuous batching without I/O, clock, thread or tensor. The same settings and events give the
// same actions.
//
// A step feeds every decoding request one token, then prompts in chunks. Requests are admitted by
// priority, then arrival, while there are blocks for what they know and one more; one whose prefix
// another is just computing waits for that. Where blocks run short the last to arrive is taken out,
// and keeps its place in the queue. Where nothing runs and what is kept leaves no blocks for the
// next one, that one ends: nothing else would ever change.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "impls/decode/schedule/block_pool.hpp"
#include "impls/decode/schedule/cache_hook.hpp"
#include "impls/decode/schedule/prefix_tree.hpp"
#include "suite/base/describe.hpp"

namespace assay::decode {

struct ScheduleSettings {
    int blocks = 0;      ///< of the cache
    int context = 0;     ///< most tokens of a sequence
    int max_batch = 32;  ///< requests at once
    int chunk = 64;      ///< most tokens of prompts in a step
    bool prefix = true;  ///< whether what was computed is kept for others
    bool swap = false;   ///< preempted requests go to the host's memory; else they are recomputed
};

/// Blocks without which a request could never be run to its end: its prompt and one more, or all
/// tokens that are fed.
int least_blocks(int prompt, int max_tokens, int context);

/// no_blocks: what is kept of others leaves too few blocks for it, and nothing runs that would give
/// some back.
enum class Finish { stop, length, context, cancelled, failed, no_blocks };
ASSAY_NAMES(Finish, stop, length, context, cancelled, failed, no_blocks)

// ---- events -------------------------------------------------------------------------------------
// Requests are called by small numbers that are free again once they are finished.

struct Submit {
    int request = -1;
    std::span<const int> tokens;  ///< the prompt, and what was already made of it elsewhere
    int prompt = 0;               ///< how many of `tokens` are the prompt
    int max_tokens = 16;
    std::span<const int> stop_ids;
    int priority = 0;                                   ///< higher first
    int most_reused = std::numeric_limits<int>::max();  ///< tokens it may find in the cache
    bool admitted = false;  ///< elsewhere, before; then nothing counts as reused
    /// Of the first so many tokens the keys and values are in the host's memory.
    int stored = 0;
    CacheHook* hook = nullptr;  ///< of an optional method; outlives the request
};
struct Cancel {
    int request = -1;
};
/// A step is wanted, or up to `most` that differ in nothing but the tokens.
struct NextStep {
    int most = 1;
};
/// The steps asked for last were made, in all or the first `steps` of them.
struct StepDone {
    int steps = 1;
    std::span<const int> picked;    ///< [steps][feeds]: ids; of those that do not pick: anything
    std::span<const char> failed;   ///< [feeds]; in the last of the steps
    std::span<const char> stopped;  ///< [feeds]: by a text; empty: none, as in more steps than one
};
/// The weights are others from now on. No request has a hook, and nothing is kept.
struct SwapWeights {
    bool keep = false;  ///< what is in the cache goes on being used by those who have it
};
using Event = std::variant<Submit, Cancel, NextStep, StepDone, SwapWeights>;

// ---- actions: lists in the order in which they are to be done
// ------------------------------------

/// To or from the host's memory.
struct SwapBlock {
    int request = -1, index = 0;  ///< which of the request's blocks
    int block = -1;
    bool operator==(const SwapBlock&) const = default;
};
struct CopyBlock {
    int from = -1, to = -1, positions = 0;
    bool operator==(const CopyBlock&) const = default;
};
struct Feed {
    int request = -1;
    int first = 0, count = 0;  ///< tokens of the request, those that a hook brings too
    bool picks = false;        ///< whether the token after the last is wanted
    bool operator==(const Feed&) const = default;
};
struct Finished {
    int request = -1;
    Finish why = Finish::length;
    bool operator==(const Finished&) const = default;
};

struct Actions {
    std::vector<SwapBlock> swaps_out;
    std::vector<CopyBlock> copies;
    std::vector<SwapBlock> swaps_in;
    std::vector<int>
        forgotten;  ///< requests whose copy in the host's memory is not wanted any more
    std::vector<Feed> feeds;
    int steps = 0;  ///< how often they may be made before anything else is to be decided
    std::vector<Finished> finished;

    void clear();
    bool operator==(const Actions&) const = default;
};

class Scheduler {
  public:
    explicit Scheduler(const ScheduleSettings& settings);

    /// Appends to `actions`. What an event calls by a number must be known; a Submit needs
    /// least_blocks() of the cache.
    void on(const Event& event, Actions& actions);
    void on(const Submit&);
    void on(const Cancel&, Actions&);
    void on(const NextStep&, Actions&);
    void on(const StepDone&, Actions&);
    void on(const SwapWeights&, Actions&);

    /// What it knows of a request; to be read until the number is submitted again.
    struct Sequence {
        std::vector<int> tokens;  ///< prompt and all that was picked
        int prompt = 0;
        int max_tokens = 0;
        std::vector<int> stop_ids;
        int priority = 0;
        long arrival = 0;
        int most_reused = 0;
        CacheHook* hook = nullptr;

        std::vector<int> blocks;
        int fed = 0;            ///< tokens whose keys and values are in `blocks`
        bool decoding = false;  ///< the one token that is not fed was just picked
        int stored = 0;         ///< tokens whose keys and values are in the host's memory
        bool admitted = false;  ///< at least once
        bool mixed = false;     ///< some of its keys and values are of earlier weights
        bool cacheable = true;  ///< whether others may use its keys and values
        PrefixTree::Place place;
        int reused = 0, preemptions = 0;

        int made() const { return static_cast<int>(tokens.size()) - prompt; }
        int unfed() const { return static_cast<int>(tokens.size()) - fed; }
    };
    const Sequence& sequence(int request) const {
        return sequences_[static_cast<std::size_t>(request)];
    }

    int waiting() const { return static_cast<int>(waiting_.size()); }
    int running() const { return static_cast<int>(running_.size()); }
    /// Blocks that nobody holds, or only the cache of prefixes.
    int available_blocks() const { return tree_.available(); }
    int held_blocks() const { return pool_.held(); }
    /// Blocks that a hook kept.
    void let_go(std::span<const int> blocks);
    /// Tokens at the beginning of `tokens` that a request would find in the cache.
    int cached_tokens(std::span<const int> tokens);
    int peak_blocks() const { return peak_; }
    const BlockPool& pool() const { return pool_; }
    /// What runs keeps its blocks, and is found again from its next step on.
    void empty_cache();

  private:
    Sequence& at(int request) { return sequences_[static_cast<std::size_t>(request)]; }
    bool before(int a, int b) const;  // in the queue
    void set_mixed(Sequence& sequence, bool mixed);
    void wait(int request);
    void release_blocks(Sequence& sequence);
    void leave(int request, Finish why, Actions& actions);
    bool grow(int request, int tokens, Actions& actions);
    void preempt(int request, Actions& actions);
    static CacheHook::Chunk chunk_of(const Sequence& sequence, int most);
    std::span<const int> findable(const Sequence& sequence) const;
    bool prefix_is_being_computed(const Sequence& sequence, int cached) const;
    enum class Admission { done, waits_for_prefix, lacks_blocks };
    Admission admit(int request, Actions& actions);
    int steps_alike(int most, const Actions& actions) const;
    int missing_blocks(int steps) const;
    std::optional<Finish> end_of(const Sequence& sequence) const;

    ScheduleSettings settings_;
    BlockPool pool_;
    PrefixTree tree_;
    std::vector<Sequence> sequences_;  // by request
    std::vector<int> waiting_;         // in the order of the queue
    std::vector<int> running_;         // in the order of arrival
    std::vector<int> prefilling_;      // in the order of the queue; of one plan
    std::vector<int> shared_;          // blocks of a match
    std::vector<Feed> planned_;        // of the step under way
    int planned_steps_ = 0;
    long arrivals_ = 0;
    int peak_ = 0;
};

}  // namespace assay::decode
