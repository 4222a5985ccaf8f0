#include "impls/decode/service/engine_role.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "impls/decode/back_ends.hpp"

namespace assay::decode {
namespace {

/// What an engine tells itself when weights that were loaded beside its steps are there.
struct WeightsCame {
    int version = 0;
};
ASSAY_MESSAGE(WeightsCame, "weights_came", version)

using Slot = std::shared_ptr<service::LoadedWeights>;

Slot load_beside(drive::Worker& me, const MakeBackEnd& make, const EngineSettings& settings,
                 const service::WeightsOrder& order) {
    auto slot = std::make_shared<service::LoadedWeights>();
    me.beside(
        settings.load_s,
        [slot, make, settings, weights = order.weights] {
            *slot = service::load_weights(make, settings, weights);
        },
        WeightsCame{order.version});
    return slot;
}

// `make` is its own: the coroutine outlives whoever began it.
drive::Protocol serve(drive::Worker& me, MakeBackEnd make) {
    service::EngineHost host(me.configuration<EngineSettings>(), me.strike(),
                             static_cast<unsigned>(me.id()));
    std::vector<service::FromEngine> answers;
    Slot loading;
    while (!host.leaves()) {
        if (const auto order = host.take_order())
            loading = load_beside(me, make, host.settings(), *order);
        answers.clear();
        std::optional<drive::AnyMessage> message;
        if (host.works()) {
            message = me.poll();
        } else {
            message = co_await me.receive();
            if (!message) co_return;
        }
        if (!message)
            host.step(answers);
        else if (message->is<WeightsCame>() && loading)
            host.loaded(std::move(*std::exchange(loading, nullptr)), answers);
        else
            host.on(message->to<service::ToEngine>(), answers);
        // Only when a step was made is it known how long it takes. Virtual time goes on here even
        // where that is nothing, so that others are heard between steps.
        const double busy_s = host.take_busy_seconds();
        if (!message || busy_s > 0) co_await me.work(busy_s);
        for (service::FromEngine& answer : answers) me.say(std::move(answer));
    }
}

}  // namespace

drive::Role engine_role(MakeBackEnd make, std::string name) {
    return {.name = std::move(name),
            .protocol = [make = std::move(make)](drive::Worker& me) { return serve(me, make); }};
}

MakeBackEnd back_ends_of_files() {
    return [](const EngineSettings& settings, const std::string& weights) {
        const nn::TensorFile file(weights);
        return back_ends_of(file, {.threads = settings.threads, .blocks = settings.blocks})();
    };
}

}  // namespace assay::decode
