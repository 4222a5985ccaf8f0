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
    give_up_the_silent();
    replace_the_lost();
    dispatch();
}

void ScheduledService::hear(Host& host) {
    if (host.engine->has_news()) {
        StepReport report;
        host.engine->take(report);
        note_kept(host, report);
        requests_.hear(report, host.requests, counts_);
    }
    if (host.given_up && host.engine->heard_s() > host.given_up_s) host.given_up = false;
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

void ScheduledService::note_kept(Host& host, const StepReport& report) {
    for (const EndedRequest& ended : report.ended) {
        if (ended.why == Finish::no_blocks && !keeps_)
            throw BrokenRule{"a request found no blocks where nothing is kept"};
        const bool well = ended.why == Finish::stop || ended.why == Finish::length ||
                          ended.why == Finish::context;
        if (!well || !requests_.all[host.requests.at(ended.request)].request.binds()) continue;
        host.kept.push_back(ended.request);
        ++counts_["kept"];
    }
}

void ScheduledService::release_kept(Host& host) {
    for (const RequestId request : host.kept) host.engine->release(request);
    host.kept.clear();
}

// ---- who does what ------------------------------------------------------------------------------

void ScheduledService::take_back(Host& host) {
    for (const auto& [id, number] : host.requests) requests_.pending.push_back(number);
    std::sort(requests_.pending.begin(), requests_.pending.end());
}

/// An engine that says nothing may be slow, or frozen, or its words may be on their way.
void ScheduledService::give_up_the_silent() {
    for (Host& host : hosts_) {
        if (host.gone || host.given_up || host.requests.empty() || host.engine->lost()) continue;
        if (now_s() < std::max(host.engine->heard_s(), host.asked_s) + host.patience_s) continue;
        ++counts_["given_up"];
        host.patience_s *= 2;  // one that is slow comes to a token, too
        host.given_up = true;
        host.given_up_s = now_s();
        take_back(host);
        if (misdeed_ == Misdeed::hears_the_lost) continue;
        for (const auto& [id, number] : host.requests) host.engine->remove(id);
        host.requests.clear();
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
        for (const auto& [id, number] : host.requests)
            if (!requests_.all[number].request.binds() &&
                host.engine->state_of(id).ids != requests_.all[number].state.ids)
                throw BrokenRule{"what is known of a lost request is not what was heard"};
        take_back(host);
        host.requests.clear();
    }
    for (; lost > 0; --lost) start_engine();
}

void ScheduledService::dispatch() {
    std::vector<std::size_t> left;
    for (const std::size_t number : requests_.pending) {
        Host* best = nullptr;
        if (requests_.all[number].comes_s <= now_s())
            for (Host& host : hosts_) {
                // Its next token is not to be of older weights than its last.
                const bool old = requests_.is_ahead_of(number, host.engine->version());
                if (host.gone || host.given_up || !host.engine->ready() || old) continue;
                if (!best || host.requests.size() < best->requests.size()) best = &host;
            }
        if (!best)
            left.push_back(number);
        else
            give(*best, number);
    }
    requests_.pending = std::move(left);
}

void ScheduledService::give(Host& host, std::size_t number) {
    host.requests[requests_.give(*host.engine, number, misdeed_)] = number;
    host.asked_s = now_s();
}

// ---- what must have become of it ----------------------------------------------------------------

void ScheduledService::check_the_end() {
    for (Host& host : hosts_) {
        if (host.gone) continue;
        release_kept(host);
        check_engine(*host.engine);
    }
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
        if (!engine.idle()) throw BrokenRule{"an engine has requests that were answered"};
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
