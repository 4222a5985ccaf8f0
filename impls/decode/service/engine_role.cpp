#include "impls/decode/service/engine_role.hpp"

#include <charconv>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "impls/decode/back_ends.hpp"
#include "impls/decode/requests/token_texts.hpp"
#include "suite/base/error.hpp"

namespace assay::decode {
namespace {

/// What an engine tells itself when weights that were loaded beside its steps are there.
struct WeightsCame {
    int version = 0;
};
ASSAY_MESSAGE(WeightsCame, "weights_came", version)

using Slot = std::shared_ptr<service::LoadedWeights>;

Slot load_beside(drive::Worker& me, const EngineModel& model, const EngineSettings& settings,
                 service::WeightsOrder order) {
    auto slot = std::make_shared<service::LoadedWeights>();
    const int version = order.version;
    me.beside(
        settings.load_s,
        [slot, model, settings, order = std::move(order)] {
            *slot = service::carry_out(order, model, settings);
        },
        WeightsCame{version});
    return slot;
}

// `model` is its own: the coroutine outlives whoever began it.
drive::Protocol serve(drive::Worker& me, EngineModel model) {
    service::EngineHost host(
        me.configuration<EngineSettings>(),
        {.offer = [&me](const std::string& object, const Bytes& state) { me.offer(object, state); },
         .accept = [&me](const std::string& object,
                         const Bytes& place) { me.accept(object, place); },
         .withdraw = [&me](const std::string& object) { me.withdraw(object); }},
        me.strike(), static_cast<unsigned>(me.id()));
    std::vector<service::FromEngine> answers;
    Slot loading;
    while (!host.leaves()) {
        if (auto order = host.take_order())
            loading = load_beside(me, model, host.settings(), *std::move(order));
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

namespace {

TextOf texts_of_file(const std::string& path) {
    try {
        return texts_of(nn::Tokenizer::of(nn::TensorFile(path)));
    } catch (const UserError&) {
        return {};  // it decodes by ids
    }
}

}  // namespace

drive::Role engine_role(EngineModel model, std::string name) {
    return {.name = std::move(name),
            .protocol = [model = std::move(model)](drive::Worker& me) { return serve(me, model); }};
}

EngineModel modelled_models(const ModelledSettings& modelled) {
    return {.load =
                [](const EngineSettings&, const WeightsOrigin& origin) {
                    return std::make_shared<ModelledWeights>(number_of(origin));
                },
            .with =
                [modelled](const EngineSettings& settings, std::shared_ptr<ModelWeights> weights) {
                    ModelledSettings own = modelled;
                    own.blocks = settings.blocks;
                    return modelled_back_ends(own).with(std::move(weights));
                },
            .texts = numbers_as_texts};
}

std::uint64_t number_of(const WeightsOrigin& origin) {
    const auto* const text = std::get_if<std::string>(&origin);
    std::uint64_t number = 0;
    if (text == nullptr ||
        std::from_chars(text->data(), text->data() + text->size(), number).ec != std::errc{})
        throw UserError("weights of this model are a number");
    return number;
}

TextOf numbers_as_texts(const EngineSettings&) {
    return [](int id) { return std::to_string(id) + ' '; };
}

EngineModel models_of_files() {
    return {
        .load = [](const EngineSettings&,
                   const WeightsOrigin& origin) { return load_weights(origin, {}); },
        .with =
            [](const EngineSettings& settings, std::shared_ptr<ModelWeights> weights) {
                return cpu_back_end(std::move(weights), {.threads = settings.threads,
                                                         .blocks = settings.blocks,
                                                         .activations = settings.activations,
                                                         .kv = settings.kv,
                                                         .model = {}});
            },
        .texts = [](const EngineSettings& settings) { return texts_of_file(settings.weights); }};
}

}  // namespace assay::decode
