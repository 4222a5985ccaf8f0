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

LoadedWeights load_weights(const MakeBackEnd& make, const EngineSettings& settings,
                           const std::string& weights) {
    const auto start = std::chrono::steady_clock::now();
    LoadedWeights loaded;
    try {
        loaded.back_end = make(settings, weights);
    } catch (...) {
        loaded.failure = std::current_exception();
    }
    loaded.seconds = settings.pace ? settings.load_s : seconds_since(start);
    return loaded;
}

EngineHost::EngineHost(EngineSettings settings, drive::Strike strike, unsigned seed)
    : settings_(std::move(settings)), strike_(std::move(strike)), random_(seed + 1) {
    if (settings_.options.version < 1)
        throw UserError("the version of an engine's weights is at least 1");
    order(settings_.options.version, settings_.weights);
}

void EngineHost::on(const ToEngine& message, Answers& answers) {
    empty_if_wiped();
    std::visit([&](const auto& one) { handle(one, answers); }, message);
}

// ---- requests -----------------------------------------------------------------------------------

void EngineHost::handle(const Take& take, Answers& answers) {
    const auto refuse = [&](const char* why) { answers.push_back(Refused{take.request, why}); };
    if (!engine_) return refuse("the engine has no weights yet; wait until it is ready");
    if (ours_.contains(take.request) || kept_.contains(take.request))
        return refuse("a request of this number is here already");
    try {
        const RequestId id = engine_->resume(request_state_from(state_bytes(take.state)),
                                             ours(take.links.value_or(Links())));
        ours_[take.request] = id;
        theirs_[id] = take.request;
        answers.push_back(Taken{take.request});
    } catch (const UserError& error) {
        refuse(error.what());
    }
}

/// With the engine's numbers in place of the caller's.
Links EngineHost::ours(const Links& theirs) const {
    Links links = theirs;
    for (LinkedTokens& linked : links.linked) {
        const auto kept = kept_.find(linked.kept);
        if (kept == kept_.end())
            throw UserError(fmt::format("links: nothing is kept of request {}", linked.kept));
        linked.kept = kept->second;
    }
    return links;
}

void EngineHost::release(RequestId kept) {
    const auto found = kept_.find(kept);
    if (found == kept_.end()) return;
    try {
        engine_->release(found->second);
        kept_.erase(found);
    } catch (const std::logic_error&) {
        // A request is linked to it still.
    }
}

void EngineHost::handle(const CancelRequest& cancel, Answers& answers) {
    const auto found = ours_.find(cancel.request);
    if (found == ours_.end()) return;
    StepReport report;
    engine_->cancel(found->second, report);
    tell(std::move(report), answers);
}

void EngineHost::handle(const Drop& drop, Answers& answers) {
    const auto found = ours_.find(drop.request);
    if (found != ours_.end()) {
        engine_->remove(found->second);
        forget(found->second);
    }
    release(drop.request);  // its end crossed this
    answers.push_back(Dropped{drop.request});
}

void EngineHost::handle(const Export& wanted, Answers& answers) {
    const auto found = ours_.find(wanted.request);
    if (found == ours_.end()) return;
    const RequestId id = found->second;
    std::vector<std::byte> bytes;
    try {
        bytes = to_bytes(engine_->state_of(id, wanted.with_cache));
    } catch (const UserError& error) {
        answers.push_back(Refused{wanted.request, error.what()});
        return;
    }
    if (bytes.size() > most_state_bytes) bytes = to_bytes(engine_->state_of(id));
    if (strike_(FaultKind::corrupt)) {
        const std::size_t bit = random_() % (bytes.size() * 8);
        bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    }
    busy_s_ += back_end_->take_transfer_seconds();
    answers.push_back(Exported{wanted.request, wanted.drop, state_text(bytes)});
    if (!wanted.drop) return;
    engine_->remove(id);
    forget(id);
}

void EngineHost::forget(RequestId ours) {
    const auto found = theirs_.find(ours);
    ours_.erase(found->second);
    theirs_.erase(found);
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
    if (report.tokens.empty() && report.ended.empty()) return;
    unsaid_.tokens = std::move(report.tokens);
    unsaid_.ended = std::move(report.ended);
    for (MadeToken& token : unsaid_.tokens) token.request = theirs_.at(token.request);
    for (EndedRequest& ended : unsaid_.ended) {
        const RequestId id = ended.request;
        ended.request = theirs_.at(id);
        if (engine_->keeps(id)) kept_[ended.request] = id;
        forget(id);
    }
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

void EngineHost::order(int version, const std::string& weights) {
    loading_version_ = version;
    order_ = WeightsOrder{version, weights};
}

void EngineHost::handle(const Load& load, Answers& answers) {
    const auto refuse = [&](const std::string& why) {
        answers.push_back(NotLoaded{load.version, why});
    };
    if (loads())
        return refuse(
            fmt::format("version {} of the weights is just being loaded", loading_version_));
    if (load.version <= engine_->version())
        return refuse(fmt::format("version {} of the weights does not come after version {}",
                                  load.version, engine_->version()));
    order(load.version, load.weights);
}

void EngineHost::loaded(LoadedWeights&& loaded, Answers& answers) {
    if (!loads()) throw std::logic_error("weights came that were not ordered");
    const int version = std::exchange(loading_version_, 0);
    try {
        if (loaded.failure) std::rethrow_exception(loaded.failure);
        auto back_end = std::make_unique<ServedBackEnd>(std::move(loaded.back_end), settings_.pace);
        ServedBackEnd* const in_use = back_end.get();
        if (!engine_) {
            engine_ = std::make_unique<BatchEngine>(std::move(back_end), settings_.options);
            back_end_ = in_use;
            answers.push_back(Ready{engine_->limits(), engine_->version()});
            return;
        }
        engine_->prepare(version, std::move(back_end));
        prepared_ = in_use;
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
    back_end_ = std::exchange(prepared_, nullptr);
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
