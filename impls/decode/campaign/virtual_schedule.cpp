#include "impls/decode/campaign/virtual_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "impls/decode/batch_engine.hpp"
#include "impls/decode/campaign/heard_requests.hpp"
#include "impls/decode/modelled/modelled_back_end.hpp"
#include "suite/base/error.hpp"

namespace assay::decode {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr double patience_s = 40;  // until an engine that says nothing is given up

class VirtualService {
  public:
    VirtualService(std::uint64_t seed, Misdeed misdeed) : random_(seed), misdeed_(misdeed) {
        draw();
    }

    drive::SeedOutcome run() {
        drive::SeedOutcome outcome;
        try {
            for (long turns = 0; !requests_.all_answered(); ++turns) {
                if (turns > 100000) throw BrokenRule{"it does not come to an end"};
                turn();
            }
            check_the_end();
            outcome.ok = true;
        } catch (const BrokenRule& broken) {
            outcome.why = broken.why;
        }
        outcome.counts = counts_;
        outcome.says = fmt::format("{} requests, {} engines of {} blocks, {}", requests_.all.size(),
                                   wanted_engines_, model_.blocks,
                                   equal_weights_ ? "equal weights" : "other weights each time");
        return outcome;
    }

  private:
    struct Host {
        std::unique_ptr<BatchEngine> engine;
        ModelledBackEnd* back_end = nullptr;  // in use, where no weights were committed since
        std::map<RequestId, std::size_t> requests;
        StepReport report;  // of the step under way
        bool busy = false;
        double ready_s = 0;  // when that ends
        double hangs_until_s = 0;
        double slowness = 1;
        bool given_up = false;
        int committed = 1;
        std::optional<double> commits_s;
        int moves = 0;          // requests to be moved away when a step is over
        bool corrupts = false;  // the next of them is damaged
    };
    enum class Trouble { kill, hang, slow, corrupt, nan, publish, move };

    std::uint64_t below(std::uint64_t n) { return random_() % n; }
    double seconds(int most) {
        return static_cast<double>(below(static_cast<std::uint64_t>(most) * 8)) / 8;
    }

    // ---- the schedule --------------------------------------------------------------------------

    void draw() {
        model_.vocabulary = 5 + static_cast<int>(below(200));
        model_.context = 40 + static_cast<int>(below(100));
        model_.cost = {.fixed_s = 0.25, .weights_s = 1, .token_s = 0.0625, .position_s = 0};
        model_.checks = true;
        options_.max_batch = 1 + static_cast<int>(below(6));
        options_.chunk = 4 + static_cast<int>(below(40));
        options_.prefix = below(4) != 0;
        options_.swap = below(2) == 0;
        options_.model = "modelled";
        equal_weights_ = below(2) == 0;
        if (misdeed_ == Misdeed::keeps_the_cache) equal_weights_ = false;
        requests_.draw({.fewest = 3,
                        .more = 12,
                        .fewest_tokens = 1,
                        .more_tokens = 50,
                        .one_stops_of = 3,
                        .priorities = true,
                        .vocabulary = model_.vocabulary,
                        .context = model_.context,
                        .model = options_.model},
                       random_, [&] { return seconds(60); });
        model_.blocks = requests_.least_blocks(model_.context) + static_cast<int>(below(10));
        wanted_engines_ = 1 + static_cast<int>(below(3));
        for (int i = 0; i < wanted_engines_; ++i) start_engine();
        for (std::uint64_t n = 1 + below(8); n > 0; --n)
            troubles_.emplace(seconds(90), static_cast<Trouble>(below(7)));
    }
    std::uint64_t weights_of(int version) const {
        return equal_weights_ ? 1 : static_cast<std::uint64_t>(version);
    }
    std::unique_ptr<ModelledBackEnd> back_end(int version) const {
        ModelledSettings settings = model_;
        settings.weights = weights_of(version);
        return std::make_unique<ModelledBackEnd>(settings);
    }
    void start_engine() {
        Host& host = hosts_.emplace_back();
        BatchOptions options = options_;
        options.version = host.committed = published_;
        auto owned = back_end(published_);
        host.back_end = owned.get();
        host.engine = std::make_unique<BatchEngine>(std::move(owned), options);
    }

    // ---- time ----------------------------------------------------------------------------------

    /// The next thing that happens, whatever it is.
    void turn() {
        double next = troubles_.empty() ? never : troubles_.begin()->first;
        for (const std::size_t number : requests_.pending) {
            // Who is there already waits for an engine with newer weights.
            const double comes_s = requests_.all[number].comes_s;
            if (comes_s > now_s_) next = std::min(next, comes_s);
        }
        for (const Host& host : hosts_) {
            if (hangs(host)) {
                next = std::min(next, host.hangs_until_s);
                if (!host.given_up && !host.requests.empty())
                    next = std::min(next, silent_since(host) + patience_s);
                continue;
            }
            if (host.busy) next = std::min(next, host.ready_s);
            if (host.commits_s) next = std::min(next, std::max(*host.commits_s, host.ready_s));
        }
        if (next == never) throw BrokenRule{"everybody waits for ever"};
        now_s_ = std::max(now_s_, next);
        while (!troubles_.empty() && troubles_.begin()->first <= now_s_) {
            const Trouble trouble = troubles_.begin()->second;
            troubles_.erase(troubles_.begin());
            make(trouble);
        }
        for (Host& host : hosts_) go_on(host);
        for (std::size_t i = 0; i < hosts_.size(); ++i)
            for (; hosts_[i].moves > 0 && can_move(hosts_[i]); --hosts_[i].moves)
                move(hosts_[i], std::exchange(hosts_[i].corrupts, false));
        give_up_the_silent();
        dispatch();
        for (Host& host : hosts_) begin_step(host);
    }
    static double silent_since(const Host& host) { return host.ready_s; }
    bool hangs(const Host& host) const { return host.hangs_until_s > now_s_; }

    void go_on(Host& host) {
        if (hangs(host)) return;
        if (host.busy && host.ready_s <= now_s_) {
            host.busy = false;
            hear(host);
        }
        if (host.given_up && !host.busy) {
            // It is there again, and is told that nobody waits for it.
            for (const RequestId request : host.engine->unfinished()) host.engine->remove(request);
            host.requests.clear();
            host.given_up = false;
        }
        if (!host.busy && host.commits_s && *host.commits_s <= now_s_) {
            const bool keep =
                misdeed_ == Misdeed::keeps_the_cache || (equal_weights_ && below(2) == 0);
            host.engine->commit(keep ? BatchEngine::Cache::keep : BatchEngine::Cache::recompute);
            host.committed = host.engine->version();
            host.back_end = nullptr;
            host.commits_s.reset();
            ++counts_[keep ? "commits_keeping" : "commits"];
        }
    }
    void begin_step(Host& host) {
        if (host.busy || hangs(host) || host.given_up || host.engine->idle()) return;
        host.report.clear();
        host.engine->step(host.report, 1 + static_cast<int>(below(4)));
        if (host.report.steps == 0) throw BrokenRule{"an engine with requests has nothing to do"};
        host.busy = true;
        host.ready_s = now_s_ + host.report.seconds * host.slowness;
    }

    void hear(Host& host) {
        if (!host.given_up || misdeed_ == Misdeed::hears_the_lost) {
            for (const MadeToken& token : host.report.tokens)
                if (token.version != host.committed)
                    throw BrokenRule{fmt::format("a token of version {}, where {} was committed",
                                                 token.version, host.committed)};
            requests_.hear(host.report, host.requests, counts_);
        }
        host.report.clear();
    }

    // ---- who does what -------------------------------------------------------------------------

    void dispatch() {
        std::vector<std::size_t> left;
        for (const std::size_t number : requests_.pending) {
            if (requests_.all[number].comes_s > now_s_) {
                left.push_back(number);
                continue;
            }
            Host* best = nullptr;
            for (Host& host : hosts_) {
                // Its next token is not to be of older weights than its last.
                const bool old = requests_.is_ahead_of(number, host.committed);
                if (host.given_up || old) continue;
                if (!best || host.requests.size() < best->requests.size()) best = &host;
            }
            if (!best) {
                left.push_back(number);
                continue;
            }
            best->requests[requests_.give(*best->engine, number, misdeed_)] = number;
        }
        requests_.pending = std::move(left);
        if (!requests_.pending.empty() &&
            std::all_of(hosts_.begin(), hosts_.end(), [](auto& host) { return host.given_up; })) {
            start_engine();
            dispatch();
        }
    }
    void take_back(Host& host) {
        for (const auto& [id, number] : host.requests)
            if (requests_.all[number].answers == 0) requests_.pending.push_back(number);
        std::sort(requests_.pending.begin(), requests_.pending.end());
    }
    void give_up_the_silent() {
        for (Host& host : hosts_) {
            if (host.given_up || !hangs(host) || host.requests.empty() ||
                now_s_ < silent_since(host) + patience_s)
                continue;
            host.given_up = true;
            ++counts_["given_up"];
            take_back(host);
        }
    }

    // ---- trouble -------------------------------------------------------------------------------

    void make(Trouble trouble) {
        Host& host = hosts_[below(hosts_.size())];
        switch (trouble) {
            case Trouble::kill:
                return kill(host);
            case Trouble::hang:
                if (hangs(host)) return;
                host.hangs_until_s = now_s_ + 1 + seconds(100);
                if (!host.busy) host.ready_s = now_s_;
                ++counts_["fault.hang"];
                return;
            case Trouble::slow:
                host.slowness = 1 + seconds(8);
                ++counts_["fault.slow"];
                return;
            case Trouble::nan:
                return strike(host);
            case Trouble::publish:
                return publish();
            case Trouble::corrupt:
                host.corrupts = true;
                [[fallthrough]];
            case Trouble::move:
                ++host.moves;
                return;
        }
    }

    void kill(Host& host) {
        ++counts_["fault.kill"];
        if (!host.given_up) {
            take_back(host);
        }
        std::swap(host, hosts_.back());
        hosts_.pop_back();
        start_engine();
    }

    void strike(Host& host) {
        if (host.back_end == nullptr || host.engine->idle()) return;
        host.back_end->fail_next(static_cast<int>(below(8)));
        ++counts_["fault.nan"];
    }

    void publish() {
        ++published_;
        ++counts_["published"];
        for (Host& host : hosts_) {
            host.engine->prepare(published_, back_end(published_));
            host.commits_s = now_s_ + seconds(10);
        }
    }

    bool can_move(const Host& host) const {
        return !host.busy && !hangs(host) && !host.given_up && !host.requests.empty();
    }
    /// One request to another engine, its state damaged on the way or not.
    void move(Host& from, bool corrupt) {
        auto chosen = from.requests.begin();
        std::advance(chosen, static_cast<std::ptrdiff_t>(below(from.requests.size())));
        const auto [id, number] = *chosen;
        Host& to = hosts_[below(hosts_.size())];
        const RequestState state = from.engine->state_of(id, below(2) == 0);
        if (to.given_up || (!state.versions.empty() && state.versions.back() > to.committed))
            return;
        std::vector<std::byte> bytes = to_bytes(state);
        if (corrupt) {
            ++counts_["fault.corrupt"];
            bytes[below(bytes.size())] ^= static_cast<std::byte>(1 << below(8));
        }
        from.engine->remove(id);
        from.requests.erase(chosen);
        try {
            RequestState arrived = request_state_from(bytes);
            if (corrupt) throw BrokenRule{"a damaged state was not refused"};
            to.requests[to.engine->resume(arrived)] = number;
            ++counts_[state.kv_positions > 0 ? "moved_with_cache" : "moved"];
        } catch (const UserError&) {
            if (!corrupt) throw BrokenRule{"a state that is whole was refused"};
            if (misdeed_ == Misdeed::believes_corruption && !state.ids.empty()) {
                RequestState wrong = state;
                wrong.ids.back() = (wrong.ids.back() + 1) % model_.vocabulary;
                wrong.kv = {};
                wrong.kv_positions = 0;
                to.requests[to.engine->resume(wrong)] = number;
                return;
            }
            ++counts_["refused"];
            requests_.pending.push_back(number);
        }
    }

    // ---- what must have become of it -----------------------------------------------------------

    void check_the_end() {
        for (Host& host : hosts_) {
            if (host.given_up) continue;  // it was not heard of again
            if (host.busy) {
                host.busy = false;
                hear(host);
            }
            host.engine->empty_cache();
            if (const int held = host.engine->stats().held_blocks; held != 0)
                throw BrokenRule{fmt::format("{} blocks are left", held)};
        }
        requests_.check_answers(counts_);
        for (const HeardRequest& request : requests_.all) check_tokens(request);
    }

    void check_tokens(const HeardRequest& heard) const {
        const RequestState& state = heard.state;
        std::vector<int> tokens = heard.request.prompt;
        std::optional<Finish> end;
        for (std::size_t i = 0; i < state.ids.size(); ++i) {
            if (end) throw BrokenRule{"a request went on behind its end"};
            Pick pick;
            pick.sampling = heard.request.sampling;
            pick.draw = i;
            const std::vector<std::uint64_t> weights(tokens.size(), weights_of(state.versions[i]));
            const ModelledToken expected = modelled_token(tokens, weights, pick, model_.vocabulary);
            if (state.ids[i] != expected.id ||
                state.log_probabilities[i] != expected.log_probability)
                throw BrokenRule{fmt::format("token {} of a request is {}, and alone {}", i,
                                             state.ids[i], expected.id)};
            tokens.push_back(state.ids[i]);
            const auto& stops = heard.request.stop_ids;
            if (std::find(stops.begin(), stops.end(), tokens.back()) != stops.end())
                end = Finish::stop;
            else if (static_cast<int>(i) + 1 == heard.request.max_tokens)
                end = Finish::length;
            else if (static_cast<int>(tokens.size()) == model_.context + 1)
                end = Finish::context;
        }
        check_end(heard, end);
    }

    std::mt19937_64 random_;
    Misdeed misdeed_;
    ModelledSettings model_;
    BatchOptions options_;
    bool equal_weights_ = true;
    int wanted_engines_ = 1, published_ = 1;
    HeardRequests requests_;
    std::vector<Host> hosts_;
    std::multimap<double, Trouble> troubles_;
    double now_s_ = 0;
    std::map<std::string, long> counts_;
};

}  // namespace

drive::SeedOutcome run_virtual_schedule(std::uint64_t seed, Misdeed misdeed) {
    return VirtualService(seed, misdeed).run();
}

}  // namespace assay::decode
