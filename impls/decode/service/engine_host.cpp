#include "impls/decode/service/engine_host.hpp"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>
#include <utility>

#include "suite/base/error.hpp"

namespace assay::decode::service {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

LoadedWeights carry_out(const WeightsOrder& order, const EngineModel& model,
                        const EngineSettings& settings) {
    const auto start = std::chrono::steady_clock::now();
    LoadedWeights loaded;
    try {
        loaded.weights = model.load(settings, order.origin);
        if (order.first) {
            loaded.back_end = model.with(settings, loaded.weights);
            if (model.texts) loaded.text_of = model.texts(settings);
        }
    } catch (...) {
        loaded.failure = std::current_exception();
    }
    loaded.seconds = settings.pace ? settings.load_s : seconds_since(start);
    return loaded;
}

EngineHost::EngineHost(EngineSettings settings, StateObjects objects, drive::Strike strike,
                       unsigned seed)
    : settings_(std::move(settings)),
      objects_(std::move(objects)),
      strike_(std::move(strike)),
      random_(seed + 1) {
    if (settings_.options.version < 1)
        throw UserError("the version of an engine's weights is at least 1");
    order(settings_.options.version, settings_.weights);
}

void EngineHost::on(const ToEngine& message, Answers& answers) {
    empty_if_wiped();
    // What else is answered counts on all tokens being told that were made before.
    if (!std::holds_alternative<Take>(message)) say_unsaid(answers);
    std::visit([&](const auto& one) { handle(one, answers); }, message);
}

// ---- requests -----------------------------------------------------------------------------------

void EngineHost::handle(const Take& take, Answers& answers) {
    const auto instead_of = take_coming(take.request);
    try {
        if (!engine_) throw UserError("the engine has no weights yet; wait until it is ready");
        if (take.bytes > 0) return await(take, answers);
        begin(take.request, state_bytes(take.state), answers);
    } catch (const UserError& error) {
        answers.push_back(Refused{take.request, error.what()});
    }
    if (instead_of && instead_of->then) handle(*instead_of->then, answers);
}

void EngineHost::await(const Take& take, Answers& answers) {
    if (!objects_.accept) throw UserError("no state can be transferred to this engine");
    if (take.bytes > most_state_bytes(engine_->limits()))
        throw UserError(
            fmt::format("a state of {} bytes is larger than this engine's cache", take.bytes));
    const std::string object = state_object(take.exported);
    const Bytes place = Bytes::zeros(take.bytes);
    objects_.accept(object, place);
    coming_.emplace(take.request, Coming{object, place, {}});
    answers.push_back(Awaits{take.request});
}

void EngineHost::handle(const Came& came, Answers& answers) {
    const auto coming = take_coming(came.request);
    if (!coming) return;
    begin(came.request, coming->place.view(), answers);
    if (coming->then) handle(*coming->then, answers);
}

/// Nothing is awaited any more.
std::optional<EngineHost::Coming> EngineHost::take_coming(RequestId request) {
    auto found = coming_.extract(request);
    if (!found) return std::nullopt;
    objects_.withdraw(found.mapped().object);
    return std::move(found.mapped());
}

void EngineHost::begin(RequestId request, std::span<const std::byte> bytes, Answers& answers) {
    bool cache = false;
    try {
        const RequestState state = request_state_from(bytes);
        cache = state.kv_positions > 0 && state.kv_identity != back_end_->identity();
        engine_->resume(state, request);
        answers.push_back(Taken{request});
    } catch (const UserError& error) {
        answers.push_back(Refused{request, error.what(), cache});
    }
}

bool EngineHost::has(RequestId request) const { return engine_ && engine_->has(request); }

void EngineHost::release(RequestId kept) {
    if (engine_) engine_->release(kept);
}

void EngineHost::handle(const Drop& drop, Answers& answers) {
    take_coming(drop.request);
    if (has(drop.request)) engine_->remove(drop.request);
    release(drop.request);  // its end crossed this
    answers.push_back(Dropped{drop.request});
}

void EngineHost::handle(const Export& wanted, Answers& answers) {
    const RequestId id = wanted.request;
    if (const auto coming = coming_.find(id); coming != coming_.end()) {
        coming->second.then = wanted;
        return;
    }
    if (!has(id)) return;
    std::vector<std::byte> bytes;
    bool with_cache = false;
    try {
        const RequestState state = engine_->state_of(id, wanted.with_cache && objects_.offer);
        with_cache = state.kv_positions > 0;
        bytes = to_bytes(state);
    } catch (const UserError& error) {
        answers.push_back(Refused{id, error.what()});
        return;
    }
    if (strike_(FaultKind::corrupt)) {
        const std::size_t bit = random_() % (bytes.size() * 8);
        bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    }
    busy_s_ += back_end_->take_transfer_seconds();
    engine_->remove(id);
    if (!with_cache) {
        answers.push_back(Exported{id, state_text(bytes)});
        return;
    }
    const std::uint64_t size = bytes.size();
    objects_.offer(state_object(id), Bytes::of(std::move(bytes)));
    answers.push_back(Exported{id, "", size});
}

void EngineHost::handle(const Withdraw& withdraw, Answers&) {
    if (objects_.withdraw) objects_.withdraw(state_object(withdraw.exported));
}

void EngineHost::handle(const EmptyCache&, Answers&) {
    if (engine_) engine_->empty_cache();
}

void EngineHost::empty_if_wiped() {
    if (engine_ && strike_(FaultKind::wipe)) engine_->empty_cache();
}

// ---- steps --------------------------------------------------------------------------------------

void EngineHost::step(Answers& answers) {
    empty_if_wiped();
    if (strike_(FaultKind::nan)) back_end_->fail_next(static_cast<std::int64_t>(random_()));
    StepReport report;
    engine_->step(report);
    busy_s_ += report.seconds;
    tell(std::move(report), answers);
}

void EngineHost::tell(StepReport&& report, Answers& answers) {
    unsaid_.steps += report.steps;
    unsaid_.seconds += report.seconds;
    unsaid_.waiting = report.waiting;
    unsaid_chunks_ += report.tokens.empty() ? 0 : 1;
    const bool ended = !report.ended.empty();
    const auto append = [](auto& to, auto& from) {
        to.insert(to.end(), std::make_move_iterator(from.begin()),
                  std::make_move_iterator(from.end()));
    };
    append(unsaid_.tokens, report.tokens);
    append(unsaid_.ended, report.ended);
    if (ended || unsaid_chunks_ >= settings_.say_every) say_unsaid(answers);
}

void EngineHost::say_unsaid(Answers& answers) {
    if (unsaid_.tokens.empty() && unsaid_.ended.empty()) return;
    unsaid_chunks_ = 0;
    answers.push_back(std::exchange(unsaid_, {}));
}

void EngineHost::handle(const Pause&, Answers& answers) {
    paused_ = true;
    answers.push_back(Paused{});
}

double EngineHost::take_busy_seconds() {
    const double seconds = std::exchange(busy_s_, 0);
    return settings_.pace ? seconds : 0;
}

// ---- weights ------------------------------------------------------------------------------------

void EngineHost::order(int version, WeightsOrigin origin) {
    loading_version_ = version;
    order_ = WeightsOrder{version, std::move(origin), !engine_};
}

void EngineHost::load(int version, WeightsOrigin origin, Answers& answers) {
    const auto refuse = [&](const std::string& why) { answers.push_back(NotLoaded{version, why}); };
    if (loads())
        return refuse(
            fmt::format("version {} of the weights is just being loaded", loading_version_));
    if (version <= engine_->version())
        return refuse(fmt::format("version {} of the weights does not come after version {}",
                                  version, engine_->version()));
    order(version, std::move(origin));
}

void EngineHost::loaded(LoadedWeights&& loaded, Answers& answers) {
    if (!loads()) throw std::logic_error("weights came that were not ordered");
    const int version = std::exchange(loading_version_, 0);
    try {
        if (loaded.failure) std::rethrow_exception(loaded.failure);
        if (!engine_) {
            auto back_end =
                std::make_unique<ServedBackEnd>(std::move(loaded.back_end), settings_.pace);
            back_end_ = back_end.get();
            engine_ = std::make_unique<BatchEngine>(std::move(back_end), settings_.options,
                                                    std::move(loaded.text_of));
            answers.push_back(Ready{engine_->limits(), engine_->version()});
            return;
        }
        engine_->prepare(version, std::move(loaded.weights));
        prepared_version_ = version;
        answers.push_back(Loaded{version, loaded.seconds});
    } catch (const UserError& error) {
        if (!engine_) throw;
        answers.push_back(NotLoaded{version, error.what()});
    }
}

void EngineHost::handle(const Commit& commit, Answers& answers) {
    if (prepared_version_ == 0 || commit.version != prepared_version_) {
        answers.push_back(NotLoaded{
            commit.version,
            fmt::format("version {} of the weights is not there to be used", commit.version)});
        return;
    }
    if (engine_->has_links()) {
        answers.push_back(NotLoaded{commit.version, "sequences are kept or linked; let them go"});
        return;
    }
    const auto start = std::chrono::steady_clock::now();
    engine_->commit(commit.keep_cache ? BatchEngine::Cache::keep : BatchEngine::Cache::recompute);
    prepared_version_ = 0;
    back_end_->take_transfer_seconds();  // a device's keys and values stay where they are
    answers.push_back(Committed{commit.version, settings_.pace ? 0 : seconds_since(start)});
}

void EngineHost::handle(const AskStatus& ask, Answers& answers) {
    Status status;
    status.number = ask.number;
    if (engine_) {
        status.stats = engine_->stats();
        status.version = engine_->version();
    }
    status.loading = loading_version_;
    status.prepared = prepared_version_;
    status.paused = paused_;
    answers.push_back(std::move(status));
}

}  // namespace assay::decode::service
