// The caller's side of an engine on a driver (engines.hpp): told, heard, lost. An engine makes
// steps by itself; its requests are known here as far as the caller was given their tokens, so that
// they can go on elsewhere when it is lost, from their tokens or with keys and values.
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include "impls/decode/service/journal.hpp"
#include "suite/drive/driver.hpp"

namespace assay::decode {

/// An engine is gone: killed, silent for too long, or it failed. What is known of its requests is
/// still there: unfinished(), state_of().
class EngineLost : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Engines;

/// Used by the thread of its driver. What waits turns the driver, so that the other engines are
/// heard meanwhile; it throws std::logic_error where what it waits for can never come.
class EngineClient final : public RequestEngine {
  public:
    EngineClient(Engines& all, drive::WorkerId worker, EngineSettings settings);

    // ---- RequestEngine -------------------------------------------------------------------------
    // The first call waits until the engine is ready; every call throws EngineLost where that is
    // gone and would have to say something.
    RequestId submit(const BatchRequest& request) override;
    void release(RequestId kept) override;
    /// Waits for the engine's word.
    bool cancel(RequestId request, StepReport& report) override;
    /// What came meanwhile; where nothing did and there are requests, waits for the next. Returns
    /// with nothing where the engine pauses.
    void step(StepReport& report, int most = 1) override;
    bool idle() const override { return journal_.idle(); }
    /// 0: not ready.
    int version() const override { return journal_.version(); }
    /// With the tokens that step() gave, no later ones: who then removes it and goes on with this
    /// state elsewhere gets them again. `with_cache` waits for the engine; throws UserError where
    /// what it sends is damaged, or the request has links. Without, also of a lost engine.
    RequestState state_of(RequestId request, bool with_cache = false) const override;
    /// Keys and values are left out where they are of more bytes than a message may have, or the
    /// engine refuses them for their identity, which is waited for.
    RequestId resume(const RequestState& state) override;
    std::vector<RequestId> unfinished() const override { return journal_.unfinished(); }
    void remove(RequestId request) override;
    EngineStats stats() const override { return status().stats; }
    void empty_cache() override;

    // ---- what only a worker has ---------------------------------------------------------------
    bool ready() const { return journal_.limits().has_value() && !lost(); }
    bool lost() const { return !how_lost_.empty(); }
    int waiting() const { return journal_.waiting(); }         ///< requests, when it last said so
    const std::string& how_lost() const { return how_lost_; }  ///< "signal 9", Driver::how_ended
    const EngineSettings& settings() const { return settings_; }
    const EngineLimits& limits() const { return *journal_.limits(); }
    drive::WorkerId worker() const { return worker_; }
    /// Scenario seconds: when it last said something; 0: it has not.
    double heard_s() const { return heard_s_; }

    /// What came and was not given yet; does not wait. Also of a lost engine.
    void take(StepReport& report) { journal_.take(report); }
    bool has_news() const { return journal_.has_news(); }  ///< something to take

    /// Goes on in `to`, under the number returned; what was not given yet of it comes from there.
    /// Its state is not opened here: `to` refuses it where it is damaged, and gets the tokens that
    /// are known here in its place. Nothing: it had come to its end here. Throws EngineLost where
    /// this engine is gone, or `to` is from the first: then it stays here. Where `to` is lost only
    /// then, it is one of its unfinished().
    /// UserError: it is bound to its engine (BatchRequest::binds), or `to` has as many requests as
    /// it takes; it stays.
    struct Moved {
        RequestId request = -1;
        bool damaged = false;     ///< refused: it goes on from its tokens
        bool recomputes = false;  ///< likewise, as its keys and values are of another identity
    };
    std::optional<Moved> move(RequestId request, EngineClient& to, bool with_cache);

    /// No step begins until go_on(). Waits until the last one has ended; what it brought is there.
    void pause();
    void go_on();

    /// Weights for the steps after the next commit(), loaded beside steps: prepared() tells when
    /// they are there, why_not_loaded() where they will not be.
    void load(int version, const std::string& weights);
    int prepared() const { return journal_.prepared(); }
    const std::string& why_not_loaded() const { return journal_.why_not_loaded(); }
    /// Between steps, with what is prepared(); version() tells when. std::logic_error: nothing is,
    /// or sequences are kept or linked.
    void begin_commit(BatchEngine::Cache cache);
    /// The same, and waits for it. Throws UserError where other weights came in their place before.
    void commit(BatchEngine::Cache cache);

    /// Answered beside steps and loading.
    service::Status status() const;

    /// It ends in order. Its requests are unfinished().
    void leave();

  private:
    friend class Engines;
    void send(const service::ToEngine& message) const;
    void wait_for(const std::function<bool()>& there) const;
    void wait_until_ready() const;
    void refuse_bound(RequestId request) const;
    void check_room() const;
    /// Of a state that was not looked at here: its engine's word; refused, it is given `tokens` in
    /// its place.
    Moved confirm(RequestId request, const RequestState& tokens);
    void on(const drive::AnyMessage& message);
    void died(const std::string& how);

    Engines& all_;
    drive::WorkerId worker_;
    EngineSettings settings_;
    mutable service::Journal journal_;
    std::string how_lost_;
    double heard_s_ = 0;
    mutable std::int64_t questions_ = 0;
};

}  // namespace assay::decode
