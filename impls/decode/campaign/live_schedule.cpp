#include "impls/decode/campaign/live_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "impls/decode/campaign/heard_requests.hpp"
#include "impls/decode/campaign/served_models.hpp"
#include "impls/decode/service/engine_client.hpp"
#include "suite/base/error.hpp"

namespace assay::decode {
namespace {

constexpr cluster::Seconds longest{60};
constexpr cluster::Seconds patience{1};  // of an engine's silence
constexpr double horizon_s = 0.8;        // in which requests and faults come

class LiveService {
  public:
    LiveService(std::uint64_t seed, Misdeed misdeed)
        : random_(seed),
          misdeed_(misdeed),
          model_(seed % 2 == 0 ? served_hashes() : served_decoder()),
          processes_(cluster::make_fork_server(engine_worker(model_.make)),
                     {.heartbeat_timeout = patience}) {
        draw(seed);
    }

    drive::SeedOutcome run() {
        drive::SeedOutcome outcome;
        try {
            for (int i = 0; i < wanted_engines_; ++i) start_engine();
            while (!requests_.all_answered()) {
                if (now_s() > longest.count()) throw BrokenRule{"it does not come to an end"};
                turn();
            }
            check_the_end();
            outcome.ok = true;
        } catch (const BrokenRule& broken) {
            outcome.why = broken.why;
        }
        outcome.counts = counts_;
        outcome.says = says_;
        return outcome;
    }

  private:
    struct Host {
        EngineClient* engine = nullptr;
        std::map<RequestId, std::size_t> requests;
        int asked = 0;  // version of the weights
        bool committing = false, corrupts = false, gone = false;
    };
    enum class Trouble { kill, hang, slow, corrupt, nan, publish, move };

    std::uint64_t below(std::uint64_t n) { return random_() % n; }
    double seconds(double most) { return static_cast<double>(below(1000)) / 1000 * most; }
    double now_s() { return processes_.supervisor().now_s() - start_s_.value_or(0); }

    // ---- the schedule --------------------------------------------------------------------------

    void draw(std::uint64_t seed) {
        settings_.options.model = model_.name;
        settings_.threads = 1;
        settings_.options.max_batch = 2 + static_cast<int>(below(5));
        settings_.options.chunk = 8 + static_cast<int>(below(40));
        settings_.options.prefix = below(4) != 0;
        settings_.options.swap = below(2) == 0;
        settings_.pace = StepCost{.fixed_s = 0.002, .weights_s = 0.002, .token_s = 0.0001};
        equal_weights_ = misdeed_ != Misdeed::keeps_the_cache && below(2) == 0;
        requests_.draw({.fewest = 5,
                        .more = 8,
                        .fewest_tokens = 10,
                        .more_tokens = 80,
                        .one_stops_of = 4,
                        .vocabulary = model_.vocabulary,
                        .context = model_.context,
                        .model = model_.name},
                       random_, [&] { return seconds(horizon_s); });
        settings_.blocks = requests_.least_blocks(model_.context) + static_cast<int>(below(12));
        wanted_engines_ = 2 + static_cast<int>(below(2));
        std::string named;
        const auto plan = [&](Trouble trouble) {
            troubles_.emplace(0.05 + seconds(horizon_s), trouble);
            named += fmt::format(" {}", name_of(trouble));
        };
        plan(static_cast<Trouble>(seed % 5));
        // Moves and new weights come twice as often as each fault.
        for (std::uint64_t n = 2 + below(5); n > 0; --n) {
            const std::uint64_t drawn = below(9);
            plan(static_cast<Trouble>(drawn < 7 ? drawn : drawn - 2));
        }
        says_ = fmt::format("{}, {} requests, {} engines of {} blocks, {}:{}", model_.name,
                            requests_.all.size(), wanted_engines_, settings_.blocks,
                            equal_weights_ ? "equal weights" : "other weights each time", named);
    }
    static const char* name_of(Trouble trouble) {
        constexpr std::array names{"kill", "hang", "slow", "corrupt", "nan", "publish", "move"};
        return names[static_cast<std::size_t>(trouble)];
    }
    std::string weights_of(int version) const {
        return std::to_string(equal_weights_ ? 1 : version);
    }

    void start_engine() {
        EngineSettings settings = settings_;
        settings.options.version = published_;
        settings.weights = weights_of(published_);
        Host& host = hosts_.emplace_back();
        host.engine = &processes_.start(settings);
        host.asked = published_;
    }

    // ---- time ----------------------------------------------------------------------------------

    void turn() {
        double wait_s = 0.02;
        if (!troubles_.empty()) wait_s = std::min(wait_s, troubles_.begin()->first - now_s());
        processes_.hear(cluster::Seconds(std::max(0.0, wait_s)));
        if (!start_s_ && hosts_.front().engine->ready()) start_s_ = processes_.supervisor().now_s();
        if (!start_s_) return;
        while (!troubles_.empty() && troubles_.begin()->first <= now_s()) {
            const Trouble trouble = troubles_.begin()->second;
            troubles_.erase(troubles_.begin());
            make(trouble);
        }
        for (Host& host : hosts_)
            if (!host.gone) hear(host);
        replace_the_lost();
        dispatch();
    }

    void hear(Host& host) {
        StepReport report;
        host.engine->take(report);
        requests_.hear(report, host.requests, counts_);
        if (host.engine->ready()) bring_weights(host);
    }
    void bring_weights(Host& host) {
        EngineClient& engine = *host.engine;
        if (!engine.why_not_loaded().empty())
            throw BrokenRule{"weights were refused: " + engine.why_not_loaded()};
        if (engine.version() == host.asked) {
            host.committing = false;
            if (host.asked == published_) return;
            host.asked = published_;
            engine.load(published_, weights_of(published_));
        } else if (engine.prepared() == host.asked && !host.committing) {
            const bool keep =
                misdeed_ == Misdeed::keeps_the_cache || (equal_weights_ && below(2) == 0);
            engine.begin_commit(keep ? BatchEngine::Cache::keep : BatchEngine::Cache::recompute);
            host.committing = true;
            ++counts_[keep ? "commits_keeping" : "commits"];
        }
    }

    // ---- who does what -------------------------------------------------------------------------

    void replace_the_lost() {
        std::size_t lost = 0;
        for (Host& host : hosts_) {
            if (host.gone || !host.engine->lost()) continue;
            host.gone = true;
            ++lost;
            const std::string& how = host.engine->how_lost();
            if (how != "signal 9" && !how.starts_with("heartbeat lost"))
                throw BrokenRule{"an engine ended by itself: " + how};
            ++counts_[how == "signal 9" ? "killed" : "given_up"];
            for (const auto& [id, number] : host.requests) {
                if (host.engine->state_of(id).ids != requests_.all[number].state.ids)
                    throw BrokenRule{"what is known of a lost request is not what was heard"};
                requests_.pending.push_back(number);
            }
            host.requests.clear();
        }
        std::sort(requests_.pending.begin(), requests_.pending.end());
        for (; lost > 0; --lost) start_engine();
    }

    void dispatch() {
        std::vector<std::size_t> left;
        for (const std::size_t number : requests_.pending) {
            Host* best = nullptr;
            if (requests_.all[number].comes_s <= now_s())
                for (Host& host : hosts_) {
                    // Its next token is not to be of older weights than its last.
                    const bool old = requests_.is_ahead_of(number, host.engine->version());
                    if (host.gone || !host.engine->ready() || old) continue;
                    if (!best || host.requests.size() < best->requests.size()) best = &host;
                }
            if (!best)
                left.push_back(number);
            else
                best->requests[requests_.give(*best->engine, number, misdeed_)] = number;
        }
        requests_.pending = std::move(left);
    }
    // ---- trouble -------------------------------------------------------------------------------

    /// One that has something to do, if there is one.
    Host* one_of_the_live() {
        std::vector<Host*> live, busy;
        for (Host& host : hosts_) {
            if (host.gone || !host.engine->ready()) continue;
            live.push_back(&host);
            if (!host.requests.empty()) busy.push_back(&host);
        }
        const std::vector<Host*>& from = busy.empty() ? live : busy;
        return from.empty() ? nullptr : from[below(from.size())];
    }

    void make(Trouble trouble) {
        Host* const host = one_of_the_live();
        if (host == nullptr) {
            troubles_.emplace(now_s() + 0.05, trouble);  // until somebody is there
            return;
        }
        cluster::Supervisor& supervisor = processes_.supervisor();
        const cluster::WorkerId worker = host->engine->worker();
        switch (trouble) {
            case Trouble::kill:
                ++counts_["fault.kill"];
                return supervisor.kill(worker);
            case Trouble::hang:
                // Some come back before anybody has noticed.
                ++counts_["fault.hang"];
                return supervisor.hang(worker, below(2) == 0 ? patience * 3 : patience / 5);
            case Trouble::slow:
                ++counts_["fault.slow"];
                if (below(2) == 0) return host->engine->slow(2 + seconds(3));
                supervisor.slow(worker, 0.3, cluster::Seconds(0.5));
                return;
            case Trouble::nan:
                ++counts_["fault.nan"];
                return host->engine->strike(service::Strike::nan,
                                            static_cast<std::int64_t>(below(8)));
            case Trouble::publish:
                ++published_;
                ++counts_["published"];
                return;
            case Trouble::corrupt:
                host->engine->strike(service::Strike::corrupt,
                                     static_cast<std::int64_t>(below(1U << 30)));
                host->corrupts = true;
                [[fallthrough]];
            case Trouble::move:
                return move(*host);
        }
    }

    void move(Host& from) {
        hear(from);
        std::vector<Host*> others;
        for (Host& host : hosts_)
            if (&host != &from && !host.gone && host.engine->ready() &&
                host.engine->version() >= from.engine->version())
                others.push_back(&host);
        if (others.empty() || from.requests.empty() || from.committing) return;
        Host& to = *others[below(others.size())];
        auto chosen = from.requests.begin();
        std::advance(chosen, static_cast<std::ptrdiff_t>(below(from.requests.size())));
        const auto [id, number] = *chosen;
        const bool with_cache = below(2) == 0;
        try {
            const auto moved = from.engine->move(id, *to.engine, with_cache);
            if (!moved) return;  // its end is about to be heard
            from.requests.erase(id);
            to.requests[moved->request] = number;
            const bool corrupt = std::exchange(from.corrupts, false);
            if (corrupt) ++counts_["fault.corrupt"];
            if (to.engine->lost()) return;
            if (moved->damaged != corrupt)
                throw BrokenRule{corrupt ? "a damaged state was not refused"
                                         : "a state that is whole was refused"};
            ++counts_[corrupt ? "refused" : with_cache ? "moved_with_cache" : "moved"];
        } catch (const EngineLost&) {
            // It is still the lost one's.
        }
    }

    // ---- what must have become of it -----------------------------------------------------------

    void check_the_end() {
        for (Host& host : hosts_)
            if (!host.gone) check_engine(*host.engine);
        requests_.check_answers(counts_);
        for (const HeardRequest& request : requests_.all) check_tokens(request);
    }

    /// One that hangs may be lost on the way.
    void check_engine(EngineClient& engine) {
        try {
            engine.empty_cache();
            const service::Status status = engine.status();
            if (!engine.idle()) throw BrokenRule{"an engine has requests that were answered"};
            if (status.stats.held_blocks != 0)
                throw BrokenRule{fmt::format("{} blocks are left", status.stats.held_blocks)};
            engine.leave();
            if (!processes_.hear_until([&] { return engine.lost(); }, longest))
                throw BrokenRule{"an engine does not leave"};
        } catch (const EngineLost&) {
        }
        const std::string& how = engine.how_lost();
        if (how != "exit 0" && how != "signal 9" && !how.starts_with("heartbeat lost"))
            throw BrokenRule{"an engine ended otherwise than in order: " + how};
    }

    /// In this process, one request after the other.
    BatchEngine& engine_alone(int version) {
        auto& engine = alone_[weights_of(version)];
        if (!engine)
            engine = std::make_unique<BatchEngine>(
                model_.make(settings_, weights_of(version)),
                BatchOptions{.max_batch = 1, .prefix = false, .model = settings_.options.model});
        return *engine;
    }

    void check_tokens(const HeardRequest& request) {
        const RequestState& heard = request.state;
        RequestState known = heard;
        known.ids.clear();
        known.log_probabilities.clear();
        known.versions.clear();
        std::optional<Finish> end;
        while (known.ids.size() < heard.ids.size()) {
            if (end) throw BrokenRule{"a request went on behind its end"};
            // What follows is of one version, as far as it does.
            const int version = heard.versions[known.ids.size()];
            BatchEngine& engine = engine_alone(version);
            const RequestId id = engine.resume(known);
            for (StepReport report; !end && known.ids.size() < heard.ids.size() &&
                                    heard.versions[known.ids.size()] == version;
                 report.clear()) {
                engine.step(report);
                for (const MadeToken& token : report.tokens) check_token(heard, known, token);
                if (!report.ended.empty()) end = report.ended.front().why;
            }
            if (!end) engine.remove(id);
        }
        check_end(request, end);
    }
    void check_token(const RequestState& heard, RequestState& known, const MadeToken& token) const {
        const std::size_t i = known.ids.size();
        if (heard.ids[i] != token.id || heard.log_probabilities[i] != token.log_probability)
            throw BrokenRule{fmt::format("token {} of a request is {}, and alone {}", i,
                                         heard.ids[i], token.id)};
        known.ids.push_back(token.id);
        known.log_probabilities.push_back(token.log_probability);
        known.versions.push_back(heard.versions[i]);
    }

    std::mt19937_64 random_;
    Misdeed misdeed_;
    ServedModel model_;
    EngineProcesses processes_;
    EngineSettings settings_;
    bool equal_weights_ = true;
    int wanted_engines_ = 2, published_ = 1;
    HeardRequests requests_;
    std::deque<Host> hosts_;
    std::multimap<double, Trouble> troubles_;
    std::optional<double> start_s_;  // of time: the first engine is ready
    std::map<std::string, std::unique_ptr<BatchEngine>> alone_;  // by weights
    std::map<std::string, long> counts_;
    std::string says_;
};

}  // namespace

drive::SeedOutcome run_live_schedule(std::uint64_t seed, Misdeed misdeed) {
    return LiveService(seed, misdeed).run();
}

}  // namespace assay::decode
