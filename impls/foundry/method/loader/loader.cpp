#include "impls/foundry/method/loader/loader.hpp"

#include <algorithm>
#include <utility>

namespace assay::foundry {

using drive::From;
using drive::To;

Loader::Loader(LoaderSettings settings)
    : settings_(std::move(settings)), results_(settings_.requests.size()) {}

void Loader::on(const Event& event, double, std::vector<Action>& actions) {
    std::visit([&](const auto& one) { handle(one, actions); }, event);
    dispatch(actions);
}

/// An update that a driver calls a success may leave an executable that never ends, or is ended by
/// the driver with all of its process: where a server hung behind one, or two died, the next ones
/// make executables of their own.
Mode Loader::mode() const {
    if (!updates_hang_ || !shares(settings_.mode)) return settings_.mode;
    return restores(settings_.mode) ? Mode::r3_lazy : Mode::capture;
}

void Loader::open(drive::WorkerId worker, Server& server, Actions& actions) const {
    server.mode = mode();
    // What is restored may end its process at the first launch, whatever was checked before.
    const bool captures = server.refusals > 0 || died_restoring_ >= most_died_restoring;
    if (captures && restores(server.mode)) server.mode = Mode::capture;
    actions.push_back(To<Open>{
        worker,
        {server.mode, restores(server.mode) ? settings_.archives : std::vector<std::string>()}});
}

void Loader::handle(const drive::Joined& joined, Actions& actions) {
    joined_.insert(joined.worker);
    if (joined.role == "saver") {
        saver_ = joined.worker;
        awaits_saver_ = false;
        actions.push_back(To<Save>{saver_, {settings_.archives.at(0)}});
    } else {
        open(joined.worker, servers_[joined.worker], actions);
    }
}

void Loader::handle(const From<Saved>& saved, Actions& actions) {
    if (saved.worker != saver_) return;
    begin_servers(actions);
}

/// Servers do without: they find no archive, which is refused, and capture.
void Loader::handle(const From<NotSaved>& not_saved, Actions& actions) {
    if (not_saved.worker != saver_) return;
    trouble(not_saved.message.why);
    begin_servers(actions);
}

void Loader::begin_servers(Actions& actions) {
    saver_ = -1;
    for (int i = 0; i < settings_.servers; ++i) actions.push_back(drive::Spawn{"server", ""});
}

/// Of a request, or, behind those, of how long one has waited.
void Loader::handle(const drive::Timer& timer, Actions& actions) {
    const std::size_t requests = settings_.requests.size();
    if (timer.id >= requests) return grow(static_cast<int>(timer.id - requests), actions);
    waiting_.push_back(static_cast<int>(timer.id));
    if (grown_ < settings_.growth)
        actions.push_back(drive::StartTimer{requests + timer.id, settings_.patience_s});
}

void Loader::handle(const From<Refused>& refused, Actions& actions) {
    const auto found = servers_.find(refused.worker);
    if (found == servers_.end()) return;
    trouble(refused.message.why);
    if (++found->second.refusals > most_refusals) {
        actions.push_back(drive::Evict{refused.worker, refused.message.why});
        return lose(refused.worker, actions);
    }
    open(refused.worker, found->second, actions);
}

void Loader::handle(const From<Opened>& opened, Actions& actions) {
    const auto found = servers_.find(opened.worker);
    if (found == servers_.end()) return;
    Server& server = found->second;
    server.executables.emplace(server.mode, opened.message.group_of);
    server.tasks = server.executables->before_ready();
    server.state = Server::State::preparing;
    actions.push_back(To<Prepare>{opened.worker, {server.tasks}});
}

void Loader::handle(const From<Ready>& ready, Actions&) {
    const auto found = servers_.find(ready.worker);
    if (found == servers_.end()) return;
    Server& server = found->second;
    for (const auto& [graph, make] : std::exchange(server.tasks, {})) {
        server.executables->made(graph, make);
        ++makes_[make];
    }
    server.state = Server::State::idle;
}

void Loader::handle(const From<Served>& served, Actions& actions) {
    const auto found = servers_.find(served.worker);
    if (found == servers_.end() || found->second.request != served.message.request) return;
    Server& server = found->second;
    server.executables->made(server.serving.graph, server.serving.make);
    ++makes_[server.serving.make];
    server.request = -1;
    server.state = Server::State::idle;
    server.has_served = true;
    if (restores(server.mode)) died_restoring_ = 0;
    results_.at(static_cast<std::size_t>(served.message.request)) = served.message.result;
    if (++served_ == results_.size()) actions.push_back(drive::Stop{true, "all are served"});
}

void Loader::handle(const From<Failed>& failed, Actions& actions) {
    const auto found = servers_.find(failed.worker);
    if (found == servers_.end()) return;
    Server& server = found->second;
    const Failed& message = failed.message;
    trouble(message.why);
    if (!message.request) {
        server.executables->failed(message.graph, message.make);
        std::erase(server.tasks, Executables::Task{message.graph, message.make});
        return;
    }
    if (server.request != *message.request) return;
    if (message.make == Make::plain) {
        actions.push_back(drive::Evict{failed.worker, message.why});
        return lose(failed.worker, actions);
    }
    server.executables->failed(message.graph, message.make);
    serve(failed.worker, server, actions);
}

void Loader::handle(const drive::Died& died, Actions& actions) {
    // One that ends before it joins is not known yet by what it was to be.
    if (!joined_.contains(died.worker) && !awaits_saver_) return replace("server", actions);
    if (!joined_.contains(died.worker)) saver_ = died.worker;
    lose(died.worker, actions);
}

void Loader::handle(const drive::Stalled& stalled, Actions& actions) {
    const auto found = servers_.find(stalled.worker);
    if (found != servers_.end() && found->second.state == Server::State::busy &&
        shares(found->second.mode))
        updates_hang_ = true;
    trouble("a worker hangs");
    actions.push_back(drive::Evict{stalled.worker, "it makes no progress"});
    lose(stalled.worker, actions);
}

void Loader::handle(const drive::Idle&, Actions& actions) {
    actions.push_back(drive::Stop{false, "no worker is left"});
}

void Loader::lose(drive::WorkerId worker, Actions& actions) {
    if (worker == saver_) {
        saver_ = -1;
        if (++savers_died_ < most_savers) return replace("saver", actions);
        trouble("savers die before they have saved");
        return begin_servers(actions);
    }
    const auto lost = servers_.extract(worker);
    if (!lost) return;
    const Server& server = lost.mapped();
    if (server.request >= 0) {
        waiting_.push_front(server.request);
        if (server.serving.make == Make::update && ++died_updating_ == most_died_updating &&
            !std::exchange(updates_hang_, true))
            trouble("servers die behind updates");
    }
    if (restores(server.mode) && !server.has_served && ++died_restoring_ == most_died_restoring)
        trouble("servers that restore die before they serve");
    replace("server", actions);
}

/// With none left to replace, Idle comes once the last one is gone.
void Loader::replace(const std::string& role, Actions& actions) {
    if (restarts_ == settings_.restarts) return;
    ++restarts_;
    awaits_saver_ = role == "saver";
    actions.push_back(drive::Spawn{role, ""});
}

void Loader::grow(int request, Actions& actions) {
    if (grown_ == settings_.growth || std::ranges::find(waiting_, request) == waiting_.end())
        return;
    ++grown_;
    actions.push_back(drive::Spawn{"server", ""});
}

void Loader::serve(drive::WorkerId worker, Server& server, Actions& actions) {
    const std::size_t graph = settings_.requests.at(static_cast<std::size_t>(server.request));
    server.serving = {graph, server.executables->next(graph)};
    actions.push_back(To<Serve>{worker, {server.request, graph, server.serving.make}});
}

void Loader::dispatch(Actions& actions) {
    for (auto& [worker, server] : servers_) {
        if (waiting_.empty()) return;
        if (server.state != Server::State::idle) continue;
        server.state = Server::State::busy;
        server.request = waiting_.front();
        waiting_.pop_front();
        serve(worker, server, actions);
    }
}

void Loader::trouble(std::string why) {
    if (std::ranges::find(troubles_, why) == troubles_.end()) troubles_.push_back(std::move(why));
}

}  // namespace assay::foundry
