// What a driver of processes hears of them: messages, frames of the driver's own (role_worker.hpp),
// deaths; and what comes of that.
#include <algorithm>
#include <utility>

#include "suite/drive/processes/process_driver.hpp"

namespace assay::drive {

using nlohmann::json;

// ---- what the supervisor reports ----------------------------------------------------------------

bool ProcessDriver::handle(const cluster::Interrupted& interrupted) {
    throw SampleError(SampleStatus::interrupted, interrupted.why);
}

bool ProcessDriver::handle(const cluster::TimerFired& timer) {
    faults_.on_timer(timer.id);
    return false;
}

bool ProcessDriver::handle(cluster::WorkerMessage& message) {
    const WorkerId worker = message.worker;
    Process& one = process(worker);
    if (!one.joined) {
        on_joined(worker, one);
        begin_if_all_are_there();
    }
    if (message.body.contains("drive")) {
        on_frame(worker, one, message.body);
        return false;
    }
    sign(worker, one, message.body);
    one.rests = false;
    json body = std::move(message.body);
    const double at_s = body.value("at_s", clock_.now());
    body.erase("at_s");
    Said said{worker, {}};
    try {
        said.message = AnyMessage::of_json(std::move(body));
    } catch (const MessageError& error) {
        one.how = error.what();
        supervisor_.kill(worker);
        doom(worker, one.how);
        return false;
    }
    if (!paced_) {
        tell(said);
        return true;
    }
    one.until_s = std::max(one.until_s, at_s);
    queue_.emplace(Moment{at_s, worker}, [this, said, at_s] {
        const Process& speaker = process(said.worker);
        if (!speaker.doomed || at_s <= speaker.doomed_s) tell(said);
    });
    return false;
}

void ProcessDriver::on_frame(WorkerId worker, Process& one, const json& frame) {
    const std::string kind = frame.at("drive");
    heard(one, frame);
    if (kind == "joined") return;
    if (kind != "arrived" && kind != "broken" && kind != "leave_requested")
        sign(worker, one, frame);  // the others are of other threads, or no progress
    if (kind == "rests") {
        one.rests = true;
        if (one.unheard_s.empty() && !one.port)  // it has offered and accepted nothing
            for (const Transfer& transfer : std::exchange(one.before_port, {}))
                broken(transfer.id, 0);
    } else if (kind == "until") {
        one.rests = false;
        one.until_s = frame.at("at_s");
        one.interruptible = frame.at("interruptible");
    } else if (kind == "at_point") {
        const double at_s = paced_ ? frame.at("at_s").get<double>() : clock_.now();
        one.until_s = at_s;
        at(at_s, [this, worker, phase = frame.at("phase").get<std::string>(),
                  step = frame.at("step").get<long>()] {
            faults_.on_step(step);
            if (!process(worker).doomed) faults_.on_point(worker, phase, step);
        });
    } else if (kind == "struck") {
        faults_.on_struck(frame.at("index"), worker);
    } else if (kind == "arrives") {
        on_arrives(worker, one, frame);
    } else if (kind == "port") {
        one.port = frame.at("port");
        for (const Transfer& transfer : std::exchange(one.before_port, {}))
            if (under_way_.contains(transfer.id)) begin_transfer(transfer);
    } else if (kind == "arrived") {
        arrived(frame.at("id"));
    } else if (kind == "broken") {
        const std::uint64_t id = frame.at("id");
        const auto found = under_way_.find(id);
        if (found == under_way_.end()) return;
        // Paced, one whose end died is told of with that death.
        const Transfer& order = found->second.order;
        if (!paced_ || !(process(order.from).doomed || process(order.to).doomed))
            broken(id, frame.at("done"));
    } else if (kind == "turns_away") {
        meetings_.turn_away(frame.at("number"), worker);
        one.meets = false;
        one.until_s = one.unheard_s.empty() ? now() : one.unheard_s.front();
        const auto others = meetings_.need(worker);
        meetings_.go_on(worker);
        break_for(others);
    } else if (kind == "leave_requested") {
        faults_.on_leave_requested(worker);
        if (one.asked_to_leave) return;  // by a fault: the policy was told when that struck
        recorder_.event("leave", now(), worker, json::object());
        at(clock_.now(), [this, worker] { tell(LeaveRequested{worker}); });
    }
}

void ProcessDriver::heard(Process& process, const json& frame) {
    for (const long taken = frame.value("heard", process.heard); process.heard < taken;
         ++process.heard)
        if (!process.unheard_s.empty()) process.unheard_s.pop_front();
}

bool ProcessDriver::handle(const cluster::WorkerDied& death) {
    Process& one = process(death.worker);
    one.exited = true;
    if (one.how.empty()) one.how = death.how;
    begin_if_all_are_there();
    if (roster_.at(death.worker).dismissed) {
        roster_.at(death.worker).dead = true;
        roster_.at(death.worker).how = death.how;
        faults_.on_gone(death.worker);
        end_what_needs(death.worker);
        return false;
    }
    if (paced_) {
        if (!one.doomed) doom(death.worker, death.how);
        return false;
    }
    die(death.worker, death.how);
    return true;
}

// ---- together -----------------------------------------------------------------------------------

void ProcessDriver::on_arrives(WorkerId worker, Process& one, const json& frame) {
    const Group group{.number = frame.at("number"),
                      .members = frame.at("members").get<std::vector<WorkerId>>()};
    one.round = frame.at("round");
    one.meets = true;
    one.rests = false;
    one.until_s = never;
    const auto arrival =
        meetings_.arrive(group, worker, frame.at("at_s"), frame.at("seconds").get<double>());
    for (const WorkerId each : group.members)
        if (arrival.broken || !roster_.at(each).how.empty()) return met(worker, /*broken=*/true);
    if (!arrival.complete) return;
    const double ends_s = paced_ ? arrival.last_s + arrival.longest_s : clock_.now();
    for (const WorkerId each : group.members) {
        process(each).until_s = ends_s;
        at(ends_s, [this, each, round = process(each).round] {
            if (process(each).meets && process(each).round == round) met(each, false);
        });
    }
}

void ProcessDriver::break_for(const std::vector<WorkerId>& members) {
    for (const WorkerId each : members)
        if (process(each).meets) met(each, true);
}

void ProcessDriver::met(WorkerId worker, bool broken) {
    Process& one = process(worker);
    one.meets = false;
    one.until_s = now();
    meetings_.go_on(worker);
    send_frame(worker,
               {{"drive", "met"}, {"round", one.round}, {"broken", broken}, {"at_s", now()}});
}

// ---- progress -----------------------------------------------------------------------------------

void ProcessDriver::sign(WorkerId worker, Process& one, const json& frame) {
    const double known_s = frame.value("from_s", frame.value("at_s", clock_.now()));
    one.sign_s = std::max(one.sign_s, paced_ ? known_s : clock_.now());
    watch(worker, one.sign_s);
}

/// Stalled once where no sign follows within what its role allows; looked at when that is due.
void ProcessDriver::watch(WorkerId worker, double from_s) {
    const double patience_s = roster_.role_of(worker).progress_s;
    Process& one = process(worker);
    one.sign_s = std::max(one.sign_s, from_s);
    if (patience_s <= 0 || !begun_ || std::exchange(one.watched, true)) return;
    at(one.sign_s + patience_s, [this, worker, patience_s, seen_s = one.sign_s] {
        Process& watched = process(worker);
        watched.watched = false;
        if (watched.exited || watched.doomed || roster_.at(worker).dismissed) return;
        if (watched.sign_s > seen_s) return watch(worker, watched.sign_s);
        if (!watched.rests || !watched.unheard_s.empty()) tell(Stalled{worker});
    });
}

}  // namespace assay::drive
