#include "impls/foundry/method/loader/server.hpp"

#include <utility>

namespace assay::foundry {
namespace {

// `make` is its own: the coroutine outlives whoever began it.
drive::Protocol save(drive::Worker& me, MakeEngine make) {
    const std::unique_ptr<Engine> engine = make(me);
    while (const auto message = co_await me.receive()) {
        co_await me.point("start", 0);
        const std::string why = engine->save(message->to<Save>().archive);
        co_await me.work(engine->take_seconds());
        if (why.empty())
            me.say(Saved{});
        else
            me.say(NotSaved{why});
    }
}

drive::Protocol serve(drive::Worker& me, MakeEngine make) {
    const std::unique_ptr<Engine> engine = make(me);
    long prepared = 0, requests = 0;
    while (const auto message = co_await me.receive()) {
        if (message->is<Open>()) {
            co_await me.point("start", requests);  // of the first request, if it is the first time
            const std::string why = engine->open(message->to<Open>());
            co_await me.work(engine->take_seconds());
            if (why.empty())
                me.say(Opened{engine->group_of()});
            else
                me.say(Refused{why});
        } else if (message->is<Prepare>()) {
            for (const auto& task : message->to<Prepare>().tasks) {
                co_await me.point(prepare_point, prepared++);
                const std::string why = engine->make(task);
                co_await me.work(engine->take_seconds());
                if (!why.empty()) me.say(Failed{{}, task.graph, task.make, why});
            }
            me.say(Ready{});
        } else {
            const auto [request, graph, how] = message->to<Serve>();
            co_await me.point("start", requests);
            const bool plain = how == Make::plain;
            std::string why;
            if (how != Make::nothing && !plain) why = engine->make({graph, how});
            co_await me.point("step", requests++);
            std::variant<std::uint64_t, Engine::NoResult> result = Engine::NoResult{why};
            if (why.empty()) result = engine->decode(request, graph, plain);
            co_await me.work(engine->take_seconds());
            if (const auto* none = std::get_if<Engine::NoResult>(&result))
                me.say(Failed{request, graph, how, none->why});
            else
                me.say(Served{request, std::get<std::uint64_t>(result)});
        }
    }
}

}  // namespace

const FaultPhases& fault_phases() {
    static const FaultPhases phases{
        {.name = prepare_point, .says = "a server's next graph is about to be made"}};
    return phases;
}

std::vector<drive::Role> loader_roles(const MakeEngine& make, double progress_s) {
    const auto role = [&](std::string name,
                          drive::Protocol (*protocol)(drive::Worker&, MakeEngine)) {
        return drive::Role{
            .name = std::move(name),
            .protocol = [make, protocol](drive::Worker& me) { return protocol(me, make); },
            .phases = {{std::string(prepare_point), {}}},
            .progress_s = progress_s};
    };
    return {role("saver", save), role("server", serve)};
}

}  // namespace assay::foundry
