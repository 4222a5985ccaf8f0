// The engine's side of the service without process and clock: messages in, messages out, and a step
// when whoever runs it says so. Weights are loaded by whoever runs it, beside steps.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "impls/decode/batch_engine.hpp"
#include "impls/decode/service/messages.hpp"
#include "impls/decode/service/served_back_end.hpp"
#include "suite/drive/worker.hpp"

namespace assay::decode {

/// Makes a back end with these weights, each time of the same shape and with as many blocks; beside
/// steps of another, on another thread. Throws UserError.
using MakeBackEnd = std::function<std::unique_ptr<BackEnd>(const EngineSettings& settings,
                                                           const std::string& weights)>;

namespace service {

/// Weights that an engine is to have.
struct WeightsOrder {
    int version = 0;
    std::string weights;
};
/// A back end with them, or what its maker threw.
struct LoadedWeights {
    std::unique_ptr<BackEnd> back_end;
    std::exception_ptr failure;
    double seconds = 0;  ///< that it took
};
/// Throws nothing.
LoadedWeights load_weights(const MakeBackEnd& make, const EngineSettings& settings,
                           const std::string& weights);

class EngineHost {
  public:
    /// Orders the first weights. `strike`: tells of nan, corrupt and wipe where they can strike.
    /// `seed`: of where in a step, or in a state, they do.
    explicit EngineHost(EngineSettings settings, drive::Strike strike = {}, unsigned seed = 0);

    /// Whatever it is told, it does or refuses. Appends its answers.
    void on(const ToEngine& message, std::vector<FromEngine>& answers);
    /// One step, where works().
    void step(std::vector<FromEngine>& answers);

    /// Weights to be loaded, once; then loaded() brings them, of which nothing else comes
    /// meanwhile.
    std::optional<WeightsOrder> take_order() { return std::exchange(order_, std::nullopt); }
    /// Throws what the maker of the first ones threw; std::logic_error where nothing loads.
    void loaded(LoadedWeights&& loaded, std::vector<FromEngine>& answers);

    bool works() const { return engine_ && !paused_ && !engine_->idle(); }
    bool loads() const { return loading_version_ != 0; }
    bool leaves() const { return leaves_; }
    const EngineSettings& settings() const { return settings_; }

    /// Modelled seconds that what was done since the last call takes; 0 where nothing is paced.
    double take_busy_seconds();

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
    void handle(const Leave&, Answers&) { leaves_ = true; }

    void order(int version, const std::string& weights);
    void empty_if_wiped();
    void tell(StepReport&& report, Answers& answers);
    void forget(RequestId ours);
    Links ours(const Links& theirs) const;
    void release(RequestId kept);

    EngineSettings settings_;
    drive::Strike strike_;
    std::minstd_rand random_;
    std::unique_ptr<BatchEngine> engine_;  // null until the first weights are there
    ServedBackEnd* back_end_ = nullptr;    // of engine_, in use
    ServedBackEnd* prepared_ = nullptr;
    int loading_version_ = 0, prepared_version_ = 0;
    std::optional<WeightsOrder> order_;
    std::unordered_map<RequestId, RequestId> ours_, theirs_;  // number of a request: the other's
    std::unordered_map<RequestId, RequestId> kept_;  // ended: the engine's number, by the caller's
    Made unsaid_;  // steps that brought no token, to be told with the next that do
    bool paused_ = false, leaves_ = false;
    double busy_s_ = 0;
};

}  // namespace service
}  // namespace assay::decode
