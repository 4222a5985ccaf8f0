// What becomes of spawn() until the worker is there, or cannot be: the supervisor asks the
// launcher, keeps what is said to the worker and what is asked of it meanwhile, and hears of the
// start inside its loop.
#include "suite/cluster/processes/supervisor_loop.hpp"

namespace assay::cluster {

void Supervisor::Impl::launch(WorkerId id, const nlohmann::json& config) {
    monitor.watch(id);
    try {
        workers[id]->launcher->launch(id, config);
    } catch (const std::exception& error) {
        give_up_start(id, error.what());
    }
}

void Supervisor::Impl::take_starts() {
    for (const auto& launcher : launchers)
        for (Launcher::Start& start : launcher->starts()) started(std::move(start));
}

void Supervisor::Impl::started(Launcher::Start start) {
    SupervisedWorker& worker = at(start.worker);
    if (worker.state != SupervisedWorker::State::starting) {  // too late: it was given up
        worker.launcher->signal(start.launched, SIGKILL);
        return;
    }
    if (!start.why_not.empty()) return give_up_start(start.worker, std::move(start.why_not));
    worker.launched = std::move(start.launched);
    worker.connection = WorkerConnection(worker.launched.channel.release());
    worker.state = SupervisedWorker::State::live;
    monitor.watch(start.worker);  // from now on it is the worker that takes its time
    worker.connection.send(std::exchange(worker.unsent, {}));
    for (const auto& act : std::exchange(worker.when_started, {})) act();
}

void Supervisor::Impl::give_up_start(WorkerId id, std::string why) {
    SupervisedWorker& worker = *workers[id];
    worker.state = SupervisedWorker::State::dead;
    worker.unsent.clear();
    worker.when_started.clear();
    monitor.forget(id);
    events.push_back(WorkerDied{id, std::move(why), now_s()});
}

void Supervisor::Impl::send(WorkerId id, const std::string& frame) {
    SupervisedWorker& worker = at(id);
    if (worker.state == SupervisedWorker::State::starting) {
        worker.unsent += frame;
    } else if (worker.state != SupervisedWorker::State::dead) {
        worker.connection.send(frame);
    }
}

void Supervisor::Impl::act_on(WorkerId id, std::function<void()> act) {
    SupervisedWorker& worker = at(id);
    if (worker.state == SupervisedWorker::State::starting) {
        worker.when_started.push_back(std::move(act));
    } else if (worker.state == SupervisedWorker::State::live) {
        act();
    }
}

}  // namespace assay::cluster
