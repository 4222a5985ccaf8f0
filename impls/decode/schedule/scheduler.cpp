#include "impls/decode/schedule/scheduler.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace assay::decode {
namespace {

/// Tokens that are fed until a request ends; the last one it makes is not.
int most_fed(int prompt, int max_tokens, int context) {
    return prompt + std::min(max_tokens, context - prompt + 1) - 1;
}

int common_prefix(std::span<const int> a, std::span<const int> b) {
    const auto [end, unused] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    return static_cast<int>(end - a.begin());
}

}  // namespace

int least_blocks(int prompt, int max_tokens, int context) {
    return std::max(blocks_for(prompt) + 1, blocks_for(most_fed(prompt, max_tokens, context)));
}

void Actions::clear() {
    swaps_out.clear();
    copies.clear();
    swaps_in.clear();
    forgotten.clear();
    feeds.clear();
    steps = 0;
    finished.clear();
}

Scheduler::Scheduler(const ScheduleSettings& settings)
    : settings_(settings),
      pool_(settings.blocks),
      tree_(pool_),
      shared_(static_cast<std::size_t>(blocks_for(settings.context))) {
    running_.reserve(static_cast<std::size_t>(settings.max_batch));
    prefilling_.reserve(running_.capacity());
    planned_.reserve(running_.capacity());
}

void Scheduler::on(const Event& event, Actions& actions) {
    std::visit(
        [&](const auto& each) {
            using Each = std::decay_t<decltype(each)>;
            if constexpr (std::is_same_v<Each, Submit>)
                on(each);
            else
                on(each, actions);
        },
        event);
}

bool Scheduler::before(int a, int b) const {
    const Sequence &first = sequence(a), &second = sequence(b);
    if (first.priority != second.priority) return first.priority > second.priority;
    return first.arrival < second.arrival;
}

void Scheduler::set_mixed(Sequence& sequence, bool mixed) {
    sequence.mixed = mixed;
    const bool own = sequence.hook == nullptr ||
                     sequence.hook->first_brought() == std::numeric_limits<int>::max();
    sequence.cacheable = settings_.prefix && !mixed && own;
    sequence.place = {};
}

void Scheduler::wait(int request) {
    const auto place = std::upper_bound(waiting_.begin(), waiting_.end(), request,
                                        [this](int a, int b) { return before(a, b); });
    waiting_.insert(place, request);
}

void Scheduler::on(const Submit& event) {
    if (static_cast<std::size_t>(event.request) >= sequences_.size()) {
        sequences_.resize(static_cast<std::size_t>(event.request) + 1);
        waiting_.reserve(sequences_.capacity());
    }
    Sequence& added = at(event.request);
    // Room for what will be made comes with its blocks.
    added.tokens.assign(event.tokens.begin(), event.tokens.end());
    added.stop_ids.assign(event.stop_ids.begin(), event.stop_ids.end());
    added.blocks.clear();
    added.prompt = event.prompt;
    added.max_tokens = event.max_tokens;
    added.priority = event.priority;
    added.arrival = arrivals_++;
    added.most_reused = event.most_reused;
    added.hook = event.hook;
    added.fed = 0;
    added.decoding = false;
    added.stored = event.stored;
    added.admitted = event.admitted;
    set_mixed(added, false);
    added.reused = added.preemptions = 0;
    wait(event.request);
}

// ---- a step -------------------------------------------------------------------------------------

void Scheduler::on(const NextStep& event, Actions& actions) {
    const std::size_t preempted_before = waiting_.size();
    // Whoever came first gets blocks first, and keeps them.
    for (std::size_t i = 0; i < running_.size();) {
        const int request = running_[i];
        if (!at(request).decoding || grow(request, at(request).fed + 1, actions)) ++i;
    }
    const bool preempted = waiting_.size() != preempted_before;

    prefilling_.clear();
    for (const int request : running_) {
        if (sequence(request).decoding)
            actions.feeds.push_back({request, sequence(request).fed, 1, true});
        else
            prefilling_.push_back(request);
    }
    int rest = settings_.chunk;
    const auto feed_chunk = [&](int request) {
        const Sequence& sequence = at(request);
        const auto [count, computed] = chunk_of(sequence, rest);
        if (count == 0) return;
        rest -= computed;
        actions.feeds.push_back({request, sequence.fed, count, count == sequence.unfed()});
    };
    std::sort(prefilling_.begin(), prefilling_.end(),
              [this](int a, int b) { return before(a, b); });
    for (const int request : prefilling_) feed_chunk(request);

    // Those who lost their blocks just now would be the first to take them back. All lose them only
    // where kept sequences hold the rest.
    const bool admits = !preempted || running_.empty();
    for (std::size_t i = 0;
         admits && i < waiting_.size() && rest > 0 && running() < settings_.max_batch;) {
        const int request = waiting_[i];
        const Admission admission = admit(request, actions);
        if (admission == Admission::lacks_blocks) break;
        if (admission == Admission::waits_for_prefix) {
            ++i;
            continue;
        }
        waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
        running_.insert(std::upper_bound(running_.begin(), running_.end(), request,
                                         [this](int a, int b) {
                                             return sequence(a).arrival < sequence(b).arrival;
                                         }),
                        request);
        if (at(request).decoding)
            actions.feeds.push_back({request, at(request).fed, 1, true});
        else
            feed_chunk(request);
    }

    if (running_.empty() && !waiting_.empty()) leave(waiting_.front(), Finish::no_blocks, actions);

    actions.steps = actions.feeds.empty() ? 0 : preempted ? 1 : steps_alike(event.most, actions);
    if (actions.steps > 1)
        for (const Feed& feed : actions.feeds)
            grow(feed.request, feed.first + actions.steps, actions);
    else
        peak_ = std::max(peak_, pool_.held());
    planned_.assign(actions.feeds.begin(), actions.feeds.end());
    planned_steps_ = actions.steps;
}

/// How many of its tokens come next, where `most` of them may be computed, and how many that are.
CacheHook::Chunk Scheduler::chunk_of(const Sequence& sequence, int most) {
    if (sequence.hook != nullptr)
        return sequence.hook->chunk(sequence.fed, static_cast<int>(sequence.tokens.size()), most);
    const int count = std::min(sequence.unfed(), most);
    return {count, count};
}

/// Blocks for the first `tokens` of a request that runs. False: it was itself taken out.
bool Scheduler::grow(int request, int tokens, Actions& actions) {
    Sequence& sequence = at(request);
    while (static_cast<int>(sequence.blocks.size()) < blocks_for(tokens)) {
        while (tree_.available() == 0) {
            const int youngest = running_.back();
            preempt(youngest, actions);
            if (youngest == request) return false;
        }
        sequence.blocks.push_back(tree_.take());
    }
    return true;
}

/// `request`: the last of those that run.
void Scheduler::preempt(int request, Actions& actions) {
    Sequence& sequence = at(request);
    ++sequence.preemptions;
    if (settings_.swap) {
        const int blocks = blocks_for(sequence.fed);
        for (int i = 0; i < blocks; ++i)
            actions.swaps_out.push_back({request, i, sequence.blocks[static_cast<std::size_t>(i)]});
        sequence.stored = sequence.fed;
    }
    if (sequence.stored == 0) set_mixed(sequence, false);  // nothing old is left of it
    running_.pop_back();
    release_blocks(sequence);
    wait(request);
}

void Scheduler::release_blocks(Sequence& sequence) {
    // The last first, so that the cache gives up the ends of sequences before their beginnings.
    let_go(sequence.blocks);
    sequence.blocks.clear();
    sequence.fed = 0;
    sequence.decoding = false;
    sequence.place = {};
}

/// Tokens that it may take from the tree. The last is fed in any case: what comes after it is
/// wanted. What a hook brings is not looked for.
std::span<const int> Scheduler::findable(const Sequence& sequence) const {
    int most = std::min(static_cast<int>(sequence.tokens.size()) - 1, sequence.most_reused);
    if (sequence.hook != nullptr) most = std::min(most, sequence.hook->first_brought());
    return std::span(sequence.tokens).first(static_cast<std::size_t>(most));
}

/// Whether a request that runs will have more of this one's tokens in the cache than there are.
bool Scheduler::prefix_is_being_computed(const Sequence& sequence, int cached) const {
    const auto wanted = findable(sequence);
    return std::any_of(running_.begin(), running_.end(), [&](int request) {
        const Sequence& other = this->sequence(request);
        return !other.decoding && other.cacheable &&
               common_prefix(std::span(other.tokens), wanted) > cached;
    });
}

Scheduler::Admission Scheduler::admit(int request, Actions& actions) {
    Sequence& sequence = at(request);
    const int known = static_cast<int>(sequence.tokens.size());
    PrefixTree::Match match;
    const bool looks =
        sequence.most_reused > 0 && settings_.prefix && !sequence.mixed && sequence.stored == 0;
    if (looks) {
        match = tree_.match(findable(sequence), shared_);
        if (prefix_is_being_computed(sequence, match.tokens())) return Admission::waits_for_prefix;
    }
    const int wanted =
        std::min(blocks_for(known) + 1,
                 least_blocks(sequence.prompt, sequence.max_tokens, settings_.context)) -
        match.blocks;
    const auto idle = [&](int block) { return tree_.idle(block) ? 1 : 0; };
    int rest = tree_.available() - wanted;
    for (int i = 0; i < match.blocks; ++i) rest -= idle(shared_[static_cast<std::size_t>(i)]);
    if (rest < 0) return Admission::lacks_blocks;
    // The block that is copied must not be given up for the copy.
    if (match.partial != PrefixTree::none && rest < idle(match.partial)) {
        match.partial = PrefixTree::none;
        match.positions = 0;
    }

    const int most = most_fed(sequence.prompt, sequence.max_tokens, settings_.context) + 1;
    sequence.tokens.reserve(static_cast<std::size_t>(most));
    sequence.blocks.reserve(static_cast<std::size_t>(blocks_for(most)));
    for (int i = 0; i < match.blocks; ++i) {
        tree_.hold(shared_[static_cast<std::size_t>(i)]);
        sequence.blocks.push_back(shared_[static_cast<std::size_t>(i)]);
    }
    sequence.place = tree_.place_of(sequence.tokens, match.blocks);
    if (match.partial != PrefixTree::none) tree_.hold(match.partial);
    while (static_cast<int>(sequence.blocks.size()) < blocks_for(known))
        sequence.blocks.push_back(tree_.take());
    if (match.partial != PrefixTree::none) {
        actions.copies.push_back({match.partial,
                                  sequence.blocks[static_cast<std::size_t>(match.blocks)],
                                  match.positions});
        tree_.let_go(match.partial);
    }
    for (int i = 0; i < blocks_for(sequence.stored); ++i)
        actions.swaps_in.push_back({request, i, sequence.blocks[static_cast<std::size_t>(i)]});
    if (sequence.hook != nullptr) sequence.hook->on_admitted(sequence.blocks);
    sequence.fed = match.tokens() + std::exchange(sequence.stored, 0);
    if (!std::exchange(sequence.admitted, true))
        sequence.reused = std::min(match.tokens(), sequence.prompt - 1);
    sequence.decoding = sequence.made() > 0 && sequence.unfed() == 1 && !looks;
    return Admission::done;
}

/// How many steps can follow each other with nothing to decide but the tokens.
int Scheduler::steps_alike(int most, const Actions& actions) const {
    if (most <= 1) return 1;
    int steps = most;
    for (const Feed& feed : actions.feeds) {
        const Sequence& sequence = this->sequence(feed.request);
        if (!sequence.decoding) return 1;
        steps = std::min({steps, sequence.max_tokens - sequence.made(),
                          settings_.context + 1 - static_cast<int>(sequence.tokens.size())});
    }
    while (steps > 1 && missing_blocks(steps) > pool_.free()) steps /= 2;
    return steps;
}

int Scheduler::missing_blocks(int steps) const {
    int missing = 0;
    for (const int request : running_)
        missing += std::max(0, blocks_for(sequence(request).fed + steps) -
                                   static_cast<int>(sequence(request).blocks.size()));
    return missing;
}

void Scheduler::on(const StepDone& event, Actions& actions) {
    const std::size_t feeds = planned_.size();
    for (std::size_t i = 0; i < feeds; ++i) {
        const Feed& feed = planned_[i];
        Sequence& sequence = at(feed.request);
        const int steps = event.failed[i] != 0 ? event.steps - 1 : event.steps;
        for (int step = 0; step < steps; ++step) {
            sequence.fed += feed.count;
            if (!feed.picks) continue;
            sequence.tokens.push_back(event.picked[static_cast<std::size_t>(step) * feeds + i]);
            sequence.decoding = true;
        }
    }
    for (std::size_t i = 0; i < feeds; ++i) {
        const int request = planned_[i].request;
        Sequence& sequence = at(request);
        const bool failed = event.failed[i] != 0;
        if (sequence.cacheable && failed)
            tree_.forget(sequence.blocks);
        else if (sequence.cacheable)
            tree_.extend(sequence.place,
                         std::span(sequence.tokens).first(static_cast<std::size_t>(sequence.fed)),
                         sequence.blocks);
        // Blocks for steps that were not made.
        while (planned_steps_ > 1 &&
               static_cast<int>(sequence.blocks.size()) > blocks_for(sequence.fed)) {
            tree_.let_go(sequence.blocks.back());
            sequence.blocks.pop_back();
        }
    }
    peak_ = std::max(peak_, pool_.held());
    for (std::size_t i = 0; i < feeds; ++i) {
        const int request = planned_[i].request;
        if (event.failed[i] != 0)
            leave(request, Finish::failed, actions);
        else if (!planned_[i].picks)
            continue;
        else if (!event.stopped.empty() && event.stopped[i] != 0)
            leave(request, Finish::stop, actions);
        else if (const auto end = end_of(at(request)))
            leave(request, *end, actions);
    }
    planned_.clear();
}

std::optional<Finish> Scheduler::end_of(const Sequence& sequence) const {
    if (std::find(sequence.stop_ids.begin(), sequence.stop_ids.end(), sequence.tokens.back()) !=
        sequence.stop_ids.end())
        return Finish::stop;
    if (sequence.made() >= sequence.max_tokens) return Finish::length;
    if (static_cast<int>(sequence.tokens.size()) > settings_.context) return Finish::context;
    return std::nullopt;
}

// ---- between steps ------------------------------------------------------------------------------

void Scheduler::leave(int request, Finish why, Actions& actions) {
    for (std::vector<int>* const list : {&running_, &waiting_}) {
        const auto place = std::find(list->begin(), list->end(), request);
        if (place == list->end()) continue;
        list->erase(place);
        break;
    }
    Sequence& sequence = at(request);
    if (std::exchange(sequence.stored, 0) > 0) actions.forgotten.push_back(request);
    const bool well = why == Finish::stop || why == Finish::length || why == Finish::context;
    if (well && sequence.hook != nullptr &&
        sequence.hook->keeps(
            std::span(sequence.tokens).first(static_cast<std::size_t>(sequence.fed)),
            sequence.blocks))
        sequence.blocks.clear();
    release_blocks(sequence);
    // As many may wait as there is room for prompts; what was made of each is not kept besides.
    sequence.tokens = std::vector<int>();
    sequence.blocks = std::vector<int>();
    actions.finished.push_back({request, why});
}

void Scheduler::let_go(std::span<const int> blocks) {
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) tree_.let_go(*block);
}

int Scheduler::cached_tokens(std::span<const int> tokens) {
    return settings_.prefix ? tree_.match(tokens, shared_).tokens() : 0;
}

void Scheduler::on(const Cancel& event, Actions& actions) {
    leave(event.request, Finish::cancelled, actions);
}

void Scheduler::empty_cache() {
    tree_.clear();
    for (const int request : running_) at(request).place = {};
}

void Scheduler::on(const SwapWeights& event, Actions& actions) {
    empty_cache();
    if (event.keep) {
        for (const std::vector<int>* const list : {&running_, &waiting_})
            for (const int request : *list) {
                Sequence& sequence = at(request);
                if (sequence.fed == 0 && sequence.stored == 0) continue;
                set_mixed(sequence, true);
            }
        return;
    }
    for (const int request : waiting_)
        if (std::exchange(at(request).stored, 0) > 0) actions.forgotten.push_back(request);
    while (!running_.empty()) {
        const int request = running_.back();
        running_.pop_back();
        release_blocks(at(request));
        wait(request);
    }
    for (const int request : waiting_) set_mixed(at(request), false);
}

}  // namespace assay::decode
