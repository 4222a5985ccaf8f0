// The engine's side of the service without process and clock: messages in, messages out, and a step
// when whoever runs it says so. Weights are loaded by whoever runs it, beside steps.
#pragma once

#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "impls/decode/batch_engine.hpp"
#include "impls/decode/service/messages.hpp"
#include "impls/decode/service/served_back_end.hpp"
#include "impls/decode/weights/weights_origin.hpp"
#include "suite/base/bytes.hpp"
#include "suite/drive/worker.hpp"

namespace assay::decode {

/// What an engine serves. Each throws UserError.
struct EngineModel {
    /// On another thread, beside steps of a back end with other weights. Of one engine all are of
    /// the same shape and type.
    std::function<std::shared_ptr<ModelWeights>(const EngineSettings&, const WeightsOrigin&)> load;
    /// With the first weights, and settings.blocks blocks.
    std::function<std::unique_ptr<BackEnd>(const EngineSettings&, std::shared_ptr<ModelWeights>)>
        with;
    /// Tokens' bytes, by which requests stop at texts; empty: they are not known.
    std::function<TextOf(const EngineSettings&)> texts{};

    std::unique_ptr<BackEnd> back_end(const EngineSettings& settings,
                                      const WeightsOrigin& origin) const {
        return with(settings, load(settings, origin));
    }
};

namespace service {

/// Weights that an engine is to have.
struct WeightsOrder {
    int version = 0;
    WeightsOrigin origin;
    bool first = false;
};
/// What an order brought, or what was thrown.
struct LoadedWeights {
    std::shared_ptr<ModelWeights> weights;
    std::unique_ptr<BackEnd> back_end;  ///< with the first ones
    TextOf text_of;                     ///< likewise
    std::exception_ptr failure;
    double seconds = 0;  ///< that it took
};
/// Throws nothing.
LoadedWeights carry_out(const WeightsOrder& order, const EngineModel& model,
                        const EngineSettings& settings);

/// A worker's ends of transfers, as drive::Worker has them.
struct StateObjects {
    std::function<void(const std::string&object, const Bytes&state)> offer, accept;
    std::function<void(const std::string& object)> withdraw;
};

class EngineHost {
  public:
    /// Orders the first weights. `objects`: null where no state comes or goes with its keys and
    /// values. `strike`: tells of nan, corrupt and wipe where they can strike. `seed`: of where in
    /// a step, or in a state, they do.
    explicit EngineHost(EngineSettings settings, StateObjects objects = {},
                        drive::Strike strike = {}, unsigned seed = 0);

    /// Whatever it is told, it does or refuses. Appends its answers.
    void on(const ToEngine& message, std::vector<FromEngine>& answers);
    /// One step, where works().
    void step(std::vector<FromEngine>& answers);

    /// As Load, of weights that are here already.
    void load(int version, WeightsOrigin origin, std::vector<FromEngine>& answers);
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
    void handle(const Came&, Answers&);
    void handle(const LetGo& let_go, Answers&) { release(let_go.kept); }
    void handle(const Drop&, Answers&);
    void handle(const Export&, Answers&);
    void handle(const Withdraw&, Answers&);
    void handle(const Pause&, Answers&);
    void handle(const GoOn&, Answers&) { paused_ = false; }
    void handle(const Load& load, Answers& answers) {
        this->load(load.version, load.weights, answers);
    }
    void handle(const Commit&, Answers&);
    void handle(const EmptyCache&, Answers&);
    void handle(const AskStatus&, Answers&);
    void handle(const Leave&, Answers&) { leaves_ = true; }

    void order(int version, WeightsOrigin origin);
    void empty_if_wiped();
    void await(const Take& take, Answers& answers);
    void begin(RequestId request, std::span<const std::byte> state, Answers& answers);
    void tell(StepReport&& report, Answers& answers);
    void say_unsaid(Answers& answers);
    bool has(RequestId request) const;
    void release(RequestId kept);

    struct Coming {  // the state of a request
        std::string object;
        Bytes place;
        std::optional<Export> then;
    };
    std::optional<Coming> take_coming(RequestId request);

    EngineSettings settings_;
    StateObjects objects_;
    drive::Strike strike_;
    std::minstd_rand random_;
    std::unique_ptr<BatchEngine> engine_;  // null until the first weights are there
    ServedBackEnd* back_end_ = nullptr;    // of engine_, in use
    int loading_version_ = 0, prepared_version_ = 0;
    std::optional<WeightsOrder> order_;
    std::map<RequestId, Coming> coming_;
    Made unsaid_;            // steps that were not told of yet
    int unsaid_chunks_ = 0;  // of them, those that brought tokens
    bool paused_ = false, leaves_ = false;
    double busy_s_ = 0;
};

}  // namespace service
}  // namespace assay::decode
