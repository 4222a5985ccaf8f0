// What a batch engine must give, written for plainness: lists that are searched from end to end,
// blocks as shared pointers, every token computed from all tokens before it. Ids, steps, reuse,
// preemptions and blocks are to be the same.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "impls/decode/modelled/modelled_back_end.hpp"
#include "impls/decode/requests/batch_run.hpp"
#include "tests/decode/batch/random_jobs.hpp"

namespace assay::decode {

struct NaiveSettings {
    int blocks = 0, context = 0, vocabulary = 0, max_batch = 32, chunk = 64;
    bool prefix = true, swap = false;
    std::optional<std::int64_t> reload_at;
};

class NaiveEngine {
  public:
    NaiveEngine(std::span<const BatchJob> jobs, const NaiveSettings& settings)
        : settings_(settings), jobs_(jobs) {
        run_.answers.resize(jobs.size());
        for (std::size_t i = 0; i < jobs.size(); ++i) requests_.push_back({i, &jobs[i]});
    }

    BatchRun run() {
        for (std::int64_t step = 0;;) {
            for (Request& request : requests_)
                if (request.job->cancel_at && *request.job->cancel_at <= step && !request.ended &&
                    (request.came || *request.job->cancel_at <= request.job->at_step))
                    end(request, Finish::cancelled);
            if (settings_.reload_at && *settings_.reload_at <= step && version_ == 1) reload();
            std::vector<Request*> coming;
            for (Request& request : requests_)
                if (!request.came && !request.ended && request.job->at_step <= step)
                    coming.push_back(&request);
            std::stable_sort(coming.begin(), coming.end(), [](const Request* a, const Request* b) {
                return a->job->at_step < b->job->at_step;
            });
            for (Request* const request : coming) come(*request);
            if (unended_here() == 0) {
                std::optional<std::int64_t> next;
                for (const Request& request : requests_)
                    if (!request.ended)
                        next = std::min(next.value_or(request.job->at_step), request.job->at_step);
                if (!next) break;
                step = *next;
                continue;
            }
            make_step();
            ++step;
        }
        for (const BatchAnswer& answer : run_.answers) {
            run_.reused_tokens += answer.reused;
            run_.preemptions += answer.preemptions;
        }
        return run_;
    }

  private:
    struct Block {};
    using BlockPointer = std::shared_ptr<Block>;
    struct Request {
        std::size_t number;
        const BatchJob* job;
        bool came = false, ended = false, running = false, decoding = false, admitted = false;
        long arrival = 0;
        int prompt = 0, max_tokens = 0, fed = 0, stored = 0;
        std::vector<int> tokens;
        std::vector<BlockPointer> blocks;
    };
    struct Cached {
        std::vector<int> path;  // all tokens from the first on
        BlockPointer block;
        long idle_since = 0;
    };
    static int blocks_for(int tokens) { return (tokens + 15) / 16; }

    void come(Request& request) {
        const BatchRequest& asked = request.job->request;
        request.came = true;
        request.arrival = ++clock_;
        request.tokens = asked.prompt;
        request.prompt = static_cast<int>(asked.prompt.size());
        request.max_tokens =
            asked.forced_ids.empty() ? asked.max_tokens : static_cast<int>(asked.forced_ids.size());
    }
    int unended_here() const {
        return static_cast<int>(std::count_if(requests_.begin(), requests_.end(),
                                              [](auto& each) { return each.came && !each.ended; }));
    }
    void end(Request& request, Finish why) {
        release(request);
        request.ended = true;
        request.running = false;
        run_.answers[request.number].finish = why;
    }
    void release(Request& request) {
        while (!request.blocks.empty()) {
            const BlockPointer block = request.blocks.back();
            request.blocks.pop_back();
            if (Cached* const cached = cached_as(block); cached && !in_use(block))
                cached->idle_since = ++clock_;
        }
        request.fed = 0;
        request.decoding = false;
    }
    void reload() {
        version_ = 2;
        cache_.clear();
        for (Request& request : requests_) {
            release(request);
            request.running = false;
            request.stored = 0;
        }
    }

    // ---- blocks ----
    bool in_use(const BlockPointer& block) const {
        return std::any_of(requests_.begin(), requests_.end(), [&](const Request& request) {
            return std::count(request.blocks.begin(), request.blocks.end(), block) > 0;
        });
    }
    std::set<BlockPointer> used() const {
        std::set<BlockPointer> blocks;
        for (const Request& request : requests_)
            blocks.insert(request.blocks.begin(), request.blocks.end());
        return blocks;
    }
    int held() const {
        std::set<BlockPointer> blocks = used();
        for (const Cached& cached : cache_) blocks.insert(cached.block);
        return static_cast<int>(blocks.size());
    }
    int available() const { return settings_.blocks - static_cast<int>(used().size()); }
    Cached* cached_as(const BlockPointer& block) {
        for (Cached& cached : cache_)
            if (cached.block == block) return &cached;
        return nullptr;
    }
    BlockPointer take(const BlockPointer& spared = nullptr) {
        if (held() == settings_.blocks) {
            auto oldest = cache_.end();
            for (auto each = cache_.begin(); each != cache_.end(); ++each)
                if (!in_use(each->block) && each->block != spared &&
                    (oldest == cache_.end() || each->idle_since < oldest->idle_since))
                    oldest = each;
            cache_.erase(oldest);
        }
        return std::make_shared<Block>();
    }

    // ---- what is cached ----
    static int common(std::span<const int> a, std::span<const int> b) {
        int count = 0;
        while (count < static_cast<int>(std::min(a.size(), b.size())) &&
               a[static_cast<std::size_t>(count)] == b[static_cast<std::size_t>(count)])
            ++count;
        return count;
    }
    struct Match {
        std::vector<BlockPointer> full;
        BlockPointer partial;
        int positions = 0;
        int tokens() const { return static_cast<int>(full.size()) * 16 + positions; }
    };
    Match match(std::span<const int> tokens) const {
        Match found;
        for (;;) {
            const int level = static_cast<int>(found.full.size());
            const Cached* best = nullptr;
            int most = 16 * level;
            for (auto each = cache_.rbegin(); each != cache_.rend(); ++each)
                if (blocks_for(static_cast<int>(each->path.size())) == level + 1 &&
                    common(each->path, tokens) > most)
                    best = &*each, most = common(each->path, tokens);
            if (best && most == 16 * (level + 1)) {
                found.full.push_back(best->block);
                continue;
            }
            if (best) found.partial = best->block;
            found.positions = most - 16 * level;
            return found;
        }
    }
    void note_in_cache(Request& request) {
        for (int level = 0; 16 * level < request.fed; ++level) {
            const int end = std::min(request.fed, 16 * (level + 1));
            const std::vector<int> path(request.tokens.begin(), request.tokens.begin() + end);
            BlockPointer& block = request.blocks[static_cast<std::size_t>(level)];
            const bool own = cached_as(block) != nullptr;
            if (own) cached_as(block)->path = path;
            const bool full = end == 16 * (level + 1);
            if (own && !full) return;
            BlockPointer same, shorter;
            for (const Cached& each : cache_) {
                if (each.block == block ||
                    blocks_for(static_cast<int>(each.path.size())) != level + 1)
                    continue;
                if (common(each.path, path) == end)
                    same = each.block;
                else if (common(each.path, path) == static_cast<int>(each.path.size()))
                    shorter = each.block;
            }
            const auto drop = [&](const BlockPointer& gone) {
                cache_.erase(std::find_if(cache_.begin(), cache_.end(),
                                          [&](const Cached& each) { return each.block == gone; }));
            };
            if (same) {
                if (!full) return;
                if (own) drop(block);
                block = same;
            } else if (!own) {
                if (shorter) drop(shorter);
                cache_.push_back({path, block});
            }
        }
    }

    // ---- a step ----
    std::vector<Request*> of(bool running) {
        std::vector<Request*> found;
        for (Request& request : requests_)
            if (request.came && !request.ended && request.running == running)
                found.push_back(&request);
        std::sort(found.begin(), found.end(),
                  [](const Request* a, const Request* b) { return a->arrival < b->arrival; });
        return found;
    }
    static void by_priority(std::vector<Request*>& requests) {
        std::stable_sort(requests.begin(), requests.end(), [](const Request* a, const Request* b) {
            return a->job->request.priority > b->job->request.priority;
        });
    }
    struct Fed {
        Request* request;
        int count;
    };

    void make_step() {
        bool preempted = false;
        for (Request* const request : of(true)) {
            if (!request->running || !request->decoding) continue;
            if (blocks_for(request->fed + 1) <= static_cast<int>(request->blocks.size())) continue;
            while (request->running && available() == 0) {
                preempt(*of(true).back());
                preempted = true;
            }
            if (request->running) request->blocks.push_back(take());
        }
        std::vector<Fed> feeds;
        int rest = settings_.chunk;
        const auto chunk = [&](Request* request) {
            const int count =
                std::min(rest, static_cast<int>(request->tokens.size()) - request->fed);
            if (count > 0) feeds.push_back({request, count});
            rest -= count;
        };
        std::vector<Request*> prefilling;
        for (Request* const request : of(true)) {
            if (request->decoding)
                feeds.push_back({request, 1});
            else
                prefilling.push_back(request);
        }
        by_priority(prefilling);
        for (Request* const request : prefilling) chunk(request);
        std::vector<Request*> waiting = of(false);
        by_priority(waiting);
        for (Request* const request : waiting) {
            if (preempted || rest == 0 || static_cast<int>(of(true).size()) == settings_.max_batch)
                break;
            const std::optional<bool> in = admit(*request);
            if (!in) continue;
            if (!*in) break;
            if (request->decoding)
                feeds.push_back({request, 1});
            else
                chunk(request);
        }
        run_.peak_blocks = std::max(run_.peak_blocks, held());
        ++run_.steps;
        for (const Fed& fed : feeds) {
            run_.computed_tokens += fed.count;
            fed.request->fed += fed.count;
            if (fed.request->fed == static_cast<int>(fed.request->tokens.size()))
                pick(*fed.request);
        }
        if (settings_.prefix)
            for (const Fed& fed : feeds) note_in_cache(*fed.request);
        for (const Fed& fed : feeds)
            if (const auto why = ending(*fed.request)) end(*fed.request, *why);
    }

    void preempt(Request& request) {
        ++run_.answers[request.number].preemptions;
        if (settings_.swap) request.stored = request.fed;
        request.running = false;
        release(request);
    }

    /// Nothing: waits for another's prefix; false: lacks blocks.
    std::optional<bool> admit(Request& request) {
        const bool looks = settings_.prefix && request.stored == 0 &&
                           !request.job->request.prompt_log_probabilities;
        const auto wanted = std::span(request.tokens).first(request.tokens.size() - 1);
        Match found;
        if (looks) {
            found = match(wanted);
            for (const Request* const other : of(true))
                if (!other->decoding && common(other->tokens, wanted) > found.tokens()) return {};
        }
        const int known = static_cast<int>(request.tokens.size());
        const int all =
            std::min(blocks_for(known) + 1,
                     least_blocks(request.prompt, request.max_tokens, settings_.context));
        int idle = 0;
        for (const BlockPointer& block : found.full) idle += in_use(block) ? 0 : 1;
        int rest = available() - idle - (all - static_cast<int>(found.full.size()));
        if (rest < 0) return false;
        if (found.partial && !in_use(found.partial) && rest == 0) {
            found.partial = nullptr;
            found.positions = 0;
        }
        request.running = true;
        request.blocks = found.full;
        while (static_cast<int>(request.blocks.size()) < blocks_for(known))
            request.blocks.push_back(take(found.partial));
        if (found.partial && !in_use(found.partial))
            cached_as(found.partial)->idle_since = ++clock_;
        request.fed = found.tokens() + request.stored;
        request.decoding =
            request.stored > 0 && request.stored == known - 1 && known > request.prompt;
        request.stored = 0;
        if (!request.admitted)
            run_.answers[request.number].reused = std::min(found.tokens(), request.prompt - 1);
        request.admitted = true;
        return true;
    }

    void pick(Request& request) {
        const BatchRequest& asked = request.job->request;
        Pick pick;
        pick.sampling = asked.sampling;
        pick.draw = request.tokens.size() - static_cast<std::size_t>(request.prompt);
        if (!asked.forced_ids.empty()) pick.forced = asked.forced_ids[pick.draw];
        pick.allowed = asked.allowed;
        const std::vector<std::uint64_t> weights(request.tokens.size(), 1);
        const ModelledToken token =
            modelled_token(request.tokens, weights, pick, settings_.vocabulary);
        request.tokens.push_back(token.id);
        request.decoding = true;
        BatchAnswer& answer = run_.answers[request.number];
        answer.ids.push_back(token.id);
        answer.log_probabilities.push_back(token.log_probability);
        answer.sampled_log_probabilities.push_back(token.sampled_log_probability);
        answer.versions.push_back(version_);
    }

    std::optional<Finish> ending(const Request& request) const {
        const int made = static_cast<int>(request.tokens.size()) - request.prompt;
        if (!request.decoding || made == 0) return {};
        const BatchRequest& asked = request.job->request;
        if (asked.forced_ids.empty() &&
            std::count(asked.stop_ids.begin(), asked.stop_ids.end(), request.tokens.back()) > 0)
            return Finish::stop;
        std::string text;
        for (std::size_t i = static_cast<std::size_t>(request.prompt); i < request.tokens.size();
             ++i)
            text += digits(request.tokens[i]);
        for (const std::string& stop : asked.stops)
            if (asked.forced_ids.empty() && text.find(stop) != std::string::npos)
                return Finish::stop;
        if (made == request.max_tokens) return Finish::length;
        if (static_cast<int>(request.tokens.size()) == settings_.context + 1)
            return Finish::context;
        return {};
    }

    NaiveSettings settings_;
    std::span<const BatchJob> jobs_;
    std::vector<Request> requests_;
    std::vector<Cached> cache_;  // in the order in which they came
    long clock_ = 0;
    int version_ = 1;
    BatchRun run_;
};

}  // namespace assay::decode
