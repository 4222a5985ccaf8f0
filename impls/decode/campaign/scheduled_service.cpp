#include "impls/decode/campaign/scheduled_service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace assay::decode {
namespace {

constexpr std::uint64_t tick = 0, wake_up = 1;  // timers

bool was_killed(const std::string& how) { return how == "signal 9" || how == "killed"; }
bool was_silent(const std::string& how) {
    return how == "frozen" || how.starts_with("heartbeat lost");
}

}  // namespace

ScheduledService::ScheduledService(const ScheduleBounds& bounds, Misdeed misdeed,
                                   std::mt19937_64& random, drive::Driver& driver,
                                   const MemoryRecorder& recorder)
    : bounds_(bounds),
      misdeed_(misdeed),
      random_(random),
      driver_(driver),
      recorder_(recorder),
      engines_(driver),
      alone_(bounds.model) {
    engines_.listen([this](const drive::DriverEvent& event) {
        const auto* const timer = std::get_if<drive::Timer>(&event);
        if (timer && timer->id == tick)
            driver_.start(drive::StartTimer{tick, bounds_.patience_s / 4});
    });
    engines_.place_by(*this);
    engines_.hear_requests({.tokens = {}, .done = [this](const Done& done) { hear(done); }});
    if (misdeed_ == Misdeed::forgets_a_token)
        engines_.distort([](RequestState& state) {
            if (!state.ids.empty()) state.keep_first(state.ids.size() - 1);
        });
    draw();
}

drive::SeedOutcome ScheduledService::run() {
    drive::SeedOutcome outcome;
    try {
        for (std::uint64_t i = 0; i < wanted_engines_; ++i) start_engine();
        driver_.start(drive::StartTimer{tick, bounds_.patience_s / 4});
        for (const HeardRequest& each : requests_.all) wake_at(each.comes_s);
        for (const auto& [t_s, trouble] : troubles_) wake_at(t_s);
        while (!requests_.all_answered()) {
            if (now_s() > bounds_.longest_s) throw BrokenRule{"it does not come to an end"};
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

/// Time stands still where nothing happens.
void ScheduledService::wake_at(double t_s) {
    driver_.start(drive::StartTimer{wake_up, std::max(0.0, t_s - now_s())});
}

// ---- the schedule -------------------------------------------------------------------------------

void ScheduledService::draw() {
    const ServedModel& model = bounds_.model;
    settings_.options.model = model.name;
    settings_.options.max_batch = 1 + static_cast<int>(below(6));
    settings_.options.chunk = 4 + static_cast<int>(below(40));
    settings_.options.prefix = below(4) != 0;
    settings_.options.swap = below(2) == 0;
    settings_.threads = 1;
    settings_.pace = bounds_.cost;
    equal_weights_ = below(2) == 0 && misdeed_ != Misdeed::keeps_the_cache;
    RequestDraw requests = bounds_.requests;
    requests.vocabulary = model.vocabulary;
    requests.context = model.context;
    requests.model = model.name;
    keeps_ = requests.one_is_kept_of > 0 && below(4) == 0 && misdeed_ != Misdeed::keeps_the_cache;
    if (!keeps_) requests.one_is_kept_of = 0;
    requests_.draw(requests, random_, [&] { return seconds(bounds_.horizon_s); });
    for (std::size_t number = 0; number < requests_.all.size(); ++number)
        to_come_.push_back(number);
    settings_.blocks = requests_.least_blocks(model.context) + static_cast<int>(below(10));
    wanted_engines_ = bounds_.fewest_engines + below(3);
    constexpr std::array names{"kill", "hang", "slow", "corrupt", "nan", "wipe", "publish", "move"};
    std::string named;
    const auto plan = [&](std::uint64_t trouble) {
        troubles_.emplace(seconds(bounds_.horizon_s), static_cast<Trouble>(trouble));
        named += fmt::format(" {}", names[trouble]);
    };
    plan(bounds_.seed % 6);
    // Moves and new weights come twice as often as each fault.
    for (std::uint64_t n = 1 + below(7); n > 0; --n) {
        const std::uint64_t drawn = below(10);
        plan(drawn < 8 ? drawn : drawn - 2);
    }
    says_ = fmt::format("{}, {} requests, {} engines of {} blocks, {}:{}", model.name,
                        requests_.all.size(), wanted_engines_, settings_.blocks,
                        equal_weights_ ? "equal weights" : "other weights each time", named);
}

std::string ScheduledService::weights_of(int version) const {
    return std::to_string(equal_weights_ ? 1 : version);
}

void ScheduledService::start_engine() {
    EngineSettings settings = settings_;
    settings.options.version = published_;
    settings.weights = weights_of(published_);
    settings.load_s = seconds(bounds_.most_load_s);
    Host& host = hosts_.emplace_back();
    host.patience_s = bounds_.patience_s;
    host.engine = &engines_.start(settings);
    host.asked = published_;
}

// ---- time ---------------------------------------------------------------------------------------

void ScheduledService::turn() {
    engines_.hear();
    while (!troubles_.empty() && troubles_.begin()->first <= now_s()) {
        const Trouble trouble = troubles_.begin()->second;
        troubles_.erase(troubles_.begin());
        make(trouble);
    }
    for (Host& host : hosts_)
        if (!host.gone) hear(host);
    check_refusals();
    give_up_the_silent();
    replace_the_lost();
    ask();
}

void ScheduledService::hear(Host& host) {
    if (host.given_up && host.engine->heard_s() > host.given_up_s) {
        host.given_up = false;
        engines_.pool().open(host.engine->seat(), true);
    }
    if (host.engine->ready()) bring_weights(host);
}

void ScheduledService::bring_weights(Host& host) {
    EngineClient& engine = *host.engine;
    if (!engine.why_not_loaded().empty())
        throw BrokenRule{"weights were refused: " + engine.why_not_loaded()};
    if (engine.version() == host.asked) {
        host.committing = false;
        if (host.asked == published_) return;
        host.asked = published_;
        engine.load(published_, weights_of(published_));
    } else if (engine.prepared() == host.asked && !host.committing) {
        const bool keep = misdeed_ == Misdeed::keeps_the_cache || (equal_weights_ && below(2) == 0);
        engine.begin_commit(keep ? BatchEngine::Cache::keep : BatchEngine::Cache::recompute);
        host.committing = true;
        ++counts_[keep ? "commits_keeping" : "commits"];
    }
}

// ---- requests -----------------------------------------------------------------------------------

void ScheduledService::ask() {
    std::erase_if(to_come_, [&](std::size_t number) {
        const HeardRequest& request = requests_.all[number];
        if (request.comes_s > now_s()) return false;
        numbers_[engines_.pool().ask({.request = request.request})] = number;
        return true;
    });
    engines_.go_on();
}

void ScheduledService::hear(const Done& done) {
    if (done.end.why == Finish::no_blocks && !keeps_)
        throw BrokenRule{"a request found no blocks where nothing is kept"};
    requests_.hear(done, numbers_.at(done.request), engines_.pool(), counts_);
    if (done.how != Done::How::ended || !engines_.pool().bound(done.request)) return;
    kept_.push_back(done.request);
    ++counts_["kept"];
}

std::optional<Seat> ScheduledService::choose(Number request, std::span<const Place> places) {
    const std::span<const Run> runs = engines_.pool().runs(request);
    std::vector<Place> fit;
    for (const Place& place : places)
        if (runs.empty() || place.version >= runs.back().version) fit.push_back(place);
    const auto seat = fewest_given(fit, 0);
    for (Host& host : hosts_)
        if (seat && host.engine->seat() == *seat) host.asked_s = now_s();
    return seat;
}

/// An engine that says nothing may be slow, or frozen, or its words may be on their way.
void ScheduledService::give_up_the_silent() {
    Pool& pool = engines_.pool();
    for (Host& host : hosts_) {
        if (host.gone || host.given_up || host.engine->lost()) continue;
        const std::vector<Number> has = pool.with(host.engine->seat());
        if (has.empty()) continue;
        if (now_s() < std::max(host.engine->heard_s(), host.asked_s) + host.patience_s) continue;
        ++counts_["given_up"];
        host.patience_s *= 2;  // one that is slow comes to a token, too
        host.given_up = true;
        host.given_up_s = now_s();
        pool.open(host.engine->seat(), false);
        for (const Number request : has) {
            if (misdeed_ != Misdeed::hears_the_lost) {
                pool.take_back(request);
                continue;
            }
            const std::span<const Token> tokens = pool.tokens(request);  // and goes on hearing it
            numbers_[pool.ask({.request = pool.asked(request).request,
                               .tokens = {tokens.begin(), tokens.end()}})] = numbers_.at(request);
        }
    }
}

void ScheduledService::replace_the_lost() {
    std::size_t lost = 0;
    for (Host& host : hosts_) {
        if (host.gone || !host.engine->lost()) continue;
        host.gone = true;
        ++lost;
        const std::string& how = host.engine->how_lost();
        if (!was_killed(how) && !was_silent(how))
            throw BrokenRule{"an engine ended by itself: " + how};
        ++counts_[was_killed(how) ? "killed" : "given_up"];
    }
    for (; lost > 0; --lost) start_engine();
}

/// States that were damaged, and keys and values of other weights; no others.
void ScheduledService::check_refusals() const {
    long damaged = 0, struck = 0;
    for (const Host& host : hosts_)
        for (const service::Refused& refused : host.engine->refusals()) {
            damaged += refused.cache ? 0 : 1;
            if (refused.cache && equal_weights_)
                throw BrokenRule{"keys and values of equal weights were refused"};
        }
    if (damaged == 0) return;
    for (const auto& event : recorder_.events)
        struck += event.kind == "fault" && event.detail.at("kind") == "corrupt";
    if (damaged > struck) throw BrokenRule{"a state that is whole was refused"};
}

// ---- what must have become of it ----------------------------------------------------------------

void ScheduledService::check_the_end() {
    for (const Number request : kept_) engines_.pool().release(request);
    engines_.go_on();
    for (Host& host : hosts_)
        if (!host.gone) check_engine(*host.engine);
    for (const Host& host : hosts_)
        for (const service::Refused& refused : host.engine->refusals())
            ++counts_[refused.cache ? "recomputed" : "refused"];
    if (engines_.states_between() > 0) throw BrokenRule{"a state is left between two engines"};
    count_faults();
    requests_.check_answers(counts_);
    for (const HeardRequest& request : requests_.all)
        alone_.check(request, settings_, [this](int version) { return weights_of(version); });
}

void ScheduledService::count_faults() {
    for (const auto& event : recorder_.events)
        if (event.kind == "fault") ++counts_["fault." + event.detail.at("kind").get<std::string>()];
}

/// One that hangs may be lost on the way.
void ScheduledService::check_engine(EngineClient& engine) {
    try {
        engine.empty_cache();
        const service::Status status = engine.status();
        if (status.stats.waiting + status.stats.running > 0)
            throw BrokenRule{"an engine has requests that were answered"};
        if (status.stats.held_blocks != 0)
            throw BrokenRule{fmt::format("{} blocks are left", status.stats.held_blocks)};
        engine.leave();
        if (!engines_.hear_until([&] { return engine.lost(); }, bounds_.longest_s))
            throw BrokenRule{"an engine does not leave"};
    } catch (const EngineLost&) {
    }
    const std::string& how = engine.how_lost();
    if (how != "exit 0" && !was_killed(how) && !was_silent(how))
        throw BrokenRule{"an engine ended otherwise than in order: " + how};
}

}  // namespace assay::decode
