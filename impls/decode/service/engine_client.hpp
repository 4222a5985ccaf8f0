// The caller's side of engines in processes of their own: started, heard, lost. An engine makes
// steps by itself; its requests are known here as far as the caller was given their tokens, so that
// they can go on elsewhere when it is lost, from their tokens or with keys and values.
//
//     EngineProcesses engines(cluster::make_fork_server(engine_worker(back_ends_of_files())));
//     EngineClient& engine = engines.start({.weights = "model.gguf", .blocks = 512});
//     const RequestId request = engine.submit({.prompt = {1, 2, 3}});
//     for (StepReport report; !engine.idle(); report.clear()) engine.step(report);
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "impls/decode/service/engine_process.hpp"
#include "impls/decode/service/journal.hpp"
#include "suite/cluster/processes/supervisor.hpp"

namespace assay::decode {

/// An engine is gone: killed, silent for too long, or it failed. What is known of its requests is
/// still there: unfinished(), state_of().
class EngineLost : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

class EngineProcesses;

/// Used by the thread of its EngineProcesses. What waits, hears the other engines meanwhile.
class EngineClient final : public RequestEngine {
  public:
    EngineClient(EngineProcesses& all, cluster::WorkerId worker, EngineSettings settings);

    // ---- RequestEngine -------------------------------------------------------------------------
    // The first call waits until the engine is ready; every call throws EngineLost where that is
    // gone and would have to say something.
    using RequestEngine::resume;
    using RequestEngine::submit;
    RequestId submit(const BatchRequest& request, const Links& links) override;
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
    /// Keys and values of more bytes than a message may have are left out.
    RequestId resume(const RequestState& state, const Links& links) override;
    std::vector<RequestId> unfinished() const override { return journal_.unfinished(); }
    void remove(RequestId request) override;
    EngineStats stats() const override { return status().stats; }
    void empty_cache() override;

    // ---- what only a process has ---------------------------------------------------------------
    bool ready() const { return journal_.limits().has_value() && !lost(); }
    bool lost() const { return !how_lost_.empty(); }
    const std::string& how_lost() const { return how_lost_; }  ///< "signal 9"
    const EngineSettings& settings() const { return settings_; }
    const EngineLimits& limits() const { return *journal_.limits(); }
    cluster::WorkerId worker() const { return worker_; }

    /// What came and was not given yet; does not wait. Also of a lost engine.
    void take(StepReport& report) { journal_.take(report); }

    /// Goes on in `to`, under the number returned; what was not given yet of it comes from there.
    /// Its state is not opened here: `to` refuses it where it is damaged, and gets the tokens that
    /// are known here in its place. Nothing: it had come to its end here. Throws EngineLost where
    /// this engine is gone, or `to` is from the first: then it stays here. Where `to` is lost only
    /// then, it is one of its unfinished().
    /// UserError: it has links, and stays.
    struct Moved {
        RequestId request = -1;
        bool damaged = false;
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

    /// Faults inside the engine; kills and the like are EngineProcesses::supervisor()'s.
    void strike(service::Strike what, std::int64_t where);
    /// Its modelled steps take so many times as long.
    void slow(double factor);

    /// It ends in order. Its requests are unfinished().
    void leave();

  private:
    friend class EngineProcesses;
    void send(const service::ToEngine& message) const;
    void wait_for(const std::function<bool()>& there) const;
    void wait_until_ready() const;
    void refuse_linked(RequestId request) const;
    void on(const nlohmann::json& message);
    void died(const std::string& how);

    EngineProcesses& all_;
    cluster::WorkerId worker_;
    EngineSettings settings_;
    mutable service::Journal journal_;
    std::string how_lost_;
    mutable std::int64_t questions_ = 0;
};

class EngineProcesses {
  public:
    /// `launcher`: of engine_worker().
    EngineProcesses(std::unique_ptr<cluster::Launcher> launcher,
                    const cluster::SupervisorOptions& options = {});
    /// Kills what is left.
    ~EngineProcesses();

    /// Asks for an engine and returns at once; it loads its weights while others are heard.
    EngineClient& start(const EngineSettings& settings);
    const std::deque<EngineClient>& engines() const { return engines_; }

    /// Hears whoever speaks; waits for the first at most so long. False: nobody did. Throws
    /// SampleError (interrupted) on SIGINT, SIGTERM, or where our own caller is gone.
    bool hear(cluster::Seconds most);
    /// … until it is so; false: it is not, after so long.
    bool hear_until(const std::function<bool()>& so, cluster::Seconds most);

    /// For faults.
    cluster::Supervisor& supervisor() { return supervisor_; }

  private:
    friend class EngineClient;
    EngineClient& engine(cluster::WorkerId worker);

    cluster::Seconds heartbeat_;
    cluster::Supervisor supervisor_;
    std::deque<EngineClient> engines_;  // by number of the worker
};

}  // namespace assay::decode
