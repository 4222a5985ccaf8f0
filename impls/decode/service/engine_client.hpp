// One engine on a driver (engines.hpp), but for its requests: told, heard, lost.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "impls/decode/service/journal.hpp"
#include "suite/drive/driver.hpp"

namespace assay::decode {

/// An engine is gone: killed, silent for too long, or it failed.
class EngineLost : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Engines;

/// Used by the thread of its driver. What waits turns the driver, so that the other engines are
/// heard meanwhile; it throws EngineLost where the engine is gone, std::logic_error where what it
/// waits for can never come.
class EngineClient {
  public:
    EngineClient(Engines& all, drive::WorkerId worker, EngineSettings settings, int model);

    Seat seat() const { return static_cast<Seat>(worker_); }
    drive::WorkerId worker() const { return worker_; }
    int model() const { return model_; }
    const EngineSettings& settings() const { return settings_; }
    bool ready() const { return journal_.limits().has_value() && !lost(); }
    const EngineLimits& limits() const { return *journal_.limits(); }
    bool lost() const { return !how_lost_.empty(); }
    const std::string& how_lost() const { return how_lost_; }  ///< "signal 9", Driver::how_ended
    /// Scenario seconds: when it last said something; 0: it has not.
    double heard_s() const { return heard_s_; }
    /// What steps it told of, and how long they took by its back end's clock.
    std::int64_t steps() const { return steps_; }
    double step_seconds() const { return step_s_; }
    /// States that it refused, with why; the pool goes on without.
    const std::vector<service::Refused>& refusals() const { return refusals_; }

    void wait_until_ready() const;
    /// No step begins until go_on(). Waits until the last one has ended; what it brought is there.
    void pause();
    void go_on();

    /// Weights for the steps after the next commit(), loaded beside steps: prepared() tells when
    /// they are there, why_not_loaded() where they will not be.
    void load(int version, const std::string& weights);
    int version() const { return journal_.version(); }  ///< 0: not ready
    int prepared() const { return journal_.prepared(); }
    const std::string& why_not_loaded() const { return journal_.why_not_loaded(); }
    /// Between steps, with what is prepared(); version() tells when. It is refused
    /// (why_not_loaded()) while sequences are kept. std::logic_error: nothing is prepared.
    void begin_commit(BatchEngine::Cache cache);
    /// The same, and waits for it. Throws UserError where it was refused, or other weights came in
    /// their place before.
    void commit(BatchEngine::Cache cache);

    void empty_cache();
    /// Answered beside steps and loading.
    service::Status status() const;
    /// It ends in order, and gets no more requests. Those that it has are lost with it (Ask::loss).
    void leave();

  private:
    friend class Engines;
    void send(const service::ToEngine& message) const;
    /// Behind what was decided of requests before.
    void command(const service::ToEngine& message) const;
    void wait_for(const std::function<bool()>& there) const;
    void on(const drive::AnyMessage& message);
    void died(const std::string& how);

    Engines& all_;
    drive::WorkerId worker_;
    EngineSettings settings_;
    int model_;
    service::Journal journal_;
    std::vector<service::Refused> refusals_;
    std::string how_lost_;
    double heard_s_ = 0, step_s_ = 0;
    std::int64_t steps_ = 0;
    mutable std::int64_t questions_ = 0;
};

}  // namespace assay::decode
