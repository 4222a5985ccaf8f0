// The engine's side of the service without process and clock: messages in, messages out, and a step
// when whoever runs it says so. Weights come on a thread of their own.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "impls/decode/batch_engine.hpp"
#include "impls/decode/service/messages.hpp"
#include "impls/decode/service/served_back_end.hpp"

namespace assay::decode {

/// Makes a back end with these weights, each time of the same shape and with as many blocks; beside
/// steps of another, on another thread. Throws UserError.
using MakeBackEnd = std::function<std::unique_ptr<BackEnd>(const EngineSettings& settings,
                                                           const std::string& weights)>;

namespace service {

class EngineHost {
  public:
    /// Begins to load the first weights.
    EngineHost(EngineSettings settings, MakeBackEnd make);

    /// Whatever it is told, it does or refuses. Appends its answers.
    void on(const ToEngine& message, std::vector<FromEngine>& answers);
    /// Weights that came meanwhile. Throws what the maker of the first ones threw.
    void look(std::vector<FromEngine>& answers);
    /// One step, where works().
    void step(std::vector<FromEngine>& answers);

    bool works() const { return engine_ && !paused_ && !engine_->idle(); }
    bool loads() const { return loading_.valid(); }
    bool leaves() const { return leaves_; }
    const EngineSettings& settings() const { return settings_; }

    /// Modelled seconds that what was done since the last call takes; 0 where nothing is paced.
    double take_busy_seconds();
    /// By which paced steps ended too late, for Status.
    void note_late(double seconds) { late_s_ += seconds; }

  private:
    using Answers = std::vector<FromEngine>;
    void handle(const Take&, Answers&);
    void handle(const LetGo& let_go, Answers&) { release(let_go.kept); }
    void handle(const CancelRequest&, Answers&);
    void handle(const Drop&, Answers&);
    void handle(const Export&, Answers&);
    void handle(const Pause&, Answers&);
    void handle(const GoOn&, Answers&) { paused_ = false; }
    void handle(const Load&, Answers&);
    void handle(const Commit&, Answers&);
    void handle(const EmptyCache&, Answers&);
    void handle(const AskStatus&, Answers&);
    void handle(const Struck&, Answers&);
    void handle(const Slow& slow, Answers&);
    void handle(const Leave&, Answers&) { leaves_ = true; }

    void begin_to_load(int version, const std::string& weights);
    void tell(StepReport&& report, Answers& answers);
    void forget(RequestId ours);
    Links ours(const Links& theirs) const;
    void release(RequestId kept);

    struct LoadedBackEnd {
        std::unique_ptr<ServedBackEnd> back_end;
        double seconds = 0;
    };
    EngineSettings settings_;
    MakeBackEnd make_;
    std::unique_ptr<BatchEngine> engine_;  // null until the first weights are there
    ServedBackEnd* back_end_ = nullptr;    // of engine_, in use
    ServedBackEnd* prepared_ = nullptr;
    int loading_version_ = 0, prepared_version_ = 0;
    std::future<LoadedBackEnd> loading_;
    std::unordered_map<RequestId, RequestId> ours_, theirs_;  // number of a request: the other's
    std::unordered_map<RequestId, RequestId> kept_;  // ended: the engine's number, by the caller's
    Made unsaid_;  // steps that brought no token, to be told with the next that do
    std::optional<std::int64_t> corrupts_;
    bool paused_ = false, leaves_ = false;
    double slowness_ = 1, busy_s_ = 0, late_s_ = 0;
};

}  // namespace service
}  // namespace assay::decode
