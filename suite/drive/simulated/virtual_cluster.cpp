#include "suite/drive/simulated/virtual_cluster.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "suite/drive/fault_effects.hpp"

namespace assay::drive {
namespace {

void copy_range(const Bytes& from, const Bytes& to, std::uint64_t offset, std::uint64_t bytes) {
    if (!from.has_content() || !to.is_writable()) return;  // a length is all there is
    const auto content = from.view().subspan(offset, bytes);
    std::copy(content.begin(), content.end(), to.writable().subspan(offset, bytes).begin());
}

}  // namespace

VirtualCluster::VirtualCluster(std::vector<Role> roles, VirtualTime& time, Latencies& latencies,
                               VirtualOptions options, Recorder& recorder)
    : roster_(std::move(roles)),
      time_(time),
      latencies_(latencies),
      world_(time, latencies),
      transfers_(time),
      recorder_(recorder),
      faults_(std::move(options.faults)),
      offering_(
          std::move(options.offers), options.notice_s,
          {.at = [this](double t_s, std::function<void()> what) { time_.at(t_s, std::move(what)); },
           .tell = [this](const DriverEvent& event) { tell(event); },
           .taken_away =
               [this](const std::string& instance) {
                   for (const WorkerId holder : roster_.under(instance)) kill(holder, "revoked");
               }}),
      fired_(faults_.faults.size(), 0) {}

bool VirtualCluster::turn(double most_s) {
    if (!begun_) begin();
    const bool happened = time_.next(time_.now() + most_s);
    const bool nobody = there_ == 0 && joins_to_come_ == 0 && !offering_.more_to_come();
    if (!nobody || std::exchange(idle_, true)) return happened;
    tell(Idle{});
    return true;
}

// ---- coming -------------------------------------------------------------------------------------

void VirtualCluster::begin() {
    begun_ = true;
    for (std::size_t i = 0; i < workers_.size(); ++i)
        if (workers_[i]) come(static_cast<WorkerId>(i), i + 1 < workers_.size());
    for (std::size_t i = 0; i < faults_.faults.size(); ++i) {
        const Fault& fault = faults_.faults[i];
        if (!fault.t_s) continue;
        if (fault.kind == FaultKind::join) ++joins_to_come_;
        time_.at(*fault.t_s, [this, i] { strike_at_time(i); });
    }
    offering_.begin();
}

WorkerId VirtualCluster::spawn(const Spawn& spawn, nlohmann::json configuration) {
    const WorkerId id = add(spawn, std::move(configuration));
    if (begun_ && workers_.back())
        world_.after(id, latencies_.boot(id), [this, id] { come(id, false); });
    return id;
}

WorkerId VirtualCluster::add(const Spawn& spawn, nlohmann::json configuration) {
    const WorkerId id = roster_.add(spawn);
    world_.add();
    watches_.push_back(0);
    ++there_;
    idle_ = false;
    if (offering_.can_spawn({roster_.role_of(id).name, spawn.instance})) {
        workers_.push_back(std::make_unique<VirtualWorker>(
            id, world_, *this, roster_.role_of(id).protocol,
            roster_.configuration(spawn, std::move(configuration))));
        transfers_.set_nic(id, roster_.role_of(id).nic);
    } else {
        workers_.push_back(nullptr);
        kill(id, "its name is not offered");
    }
    return id;
}

void VirtualCluster::come(WorkerId id, bool more) {
    if (!world_.alive(id)) return;
    recorder_.event("join", now(), id, nlohmann::json::object());
    world_.to_policy(id, [this, id, more] { tell(roster_.joined(id, more)); });
    world_.after(id, 0, [this, id] { worker(id).begin(); });  // after others that come now
}

void VirtualCluster::join(const Fault& fault) {
    if (!fault.instance.empty() && roster_.target(fault)) return;  // its name is held
    for (int i = 0; i < fault.count; ++i) {
        const WorkerId id = add(roster_.newcomer(fault), {});
        strikes(fault, id);
        if (!workers_.back()) continue;
        world_.after(id, latencies_.boot(id),
                     [this, id, more = i + 1 < fault.count] { come(id, more); });
    }
}

// ---- what is said -------------------------------------------------------------------------------

void VirtualCluster::send(WorkerId id, const AnyMessage& message) {
    auto arrives = [this, id, message] { worker(id).deliver(message); };
    if (!workers_.at(static_cast<std::size_t>(id))) return;
    // An urgent one, too, comes behind what was sent before: it overtakes what waits to be read.
    world_.to_worker(id, std::move(arrives));
}

void VirtualCluster::says(WorkerId id, AnyMessage message) {
    world_.to_policy(id, [this, id, message = std::move(message)] { tell(Said{id, message}); });
}

void VirtualCluster::start(const StartTimer& timer) {
    time_.after(timer.after_s, [this, id = timer.id] { tell(Timer{id}); });
}

void VirtualCluster::progresses(WorkerId id) {
    if (!meetings_.empty()) meetings_.go_on(id);
    const double patience_s = roster_.role_of(id).progress_s;
    if (patience_s <= 0) return;
    const std::uint64_t watch = ++watches_[static_cast<std::size_t>(id)];
    time_.after(patience_s, [this, id, watch] {
        const bool silent = watches_[static_cast<std::size_t>(id)] == watch;
        if (silent && world_.alive(id) && !worker(id).rests()) tell(Stalled{id});
    });
}

// ---- going --------------------------------------------------------------------------------------

void VirtualCluster::dismiss(WorkerId id) {
    Roster::Entry& entry = roster_.at(id);
    if (!entry.how.empty() || std::exchange(entry.dismissed, true)) return;
    --there_;
    world_.to_worker(id, [this, id] { worker(id).dismiss(); });
}

void VirtualCluster::evict(const Evict& evict) {
    recorder_.event("evict", now(), evict.worker, {{"why", evict.why}});
    kill(evict.worker, "evicted");
}

void VirtualCluster::ends(WorkerId id, const std::string& how) { kill(id, how); }

void VirtualCluster::kill(WorkerId id, const std::string& how) {
    if (world_.alive(id)) kill(id, how, latencies_.detection(id));
}

void VirtualCluster::kill(WorkerId id, const std::string& how, double known_after_s) {
    roster_.at(id).dead = true;
    auto broken = transfers_.stop_all_of(id);
    for (const auto& [transfer, done] : broken) under_way_.erase(transfer);
    world_.kill(
        id,
        [this, id, how, broken = std::move(broken)] {
            Roster::Entry& entry = roster_.at(id);
            entry.how = how;
            for (const auto& [transfer, done] : broken) tell(Broken{transfer, done});
            if (const auto late = to_the_dead_.extract(id))
                for (const std::uint64_t transfer : late.mapped()) tell(Broken{transfer, 0});
            break_for(meetings_.need(id));
            meetings_.go_on(id);
            if (entry.dismissed) return;
            --there_;
            recorder_.event("death", now(), id, {{"how", how}});
            tell(Died{id});
        },
        known_after_s, /*silenced=*/false);
}

// ---- together -----------------------------------------------------------------------------------

void VirtualCluster::arrives(WorkerId id, const Group& group, double seconds) {
    const auto arrival = meetings_.arrive(group, id, now(), seconds);
    const auto is_lost = [this](WorkerId each) { return !roster_.at(each).how.empty(); };
    if (arrival.broken || std::any_of(group.members.begin(), group.members.end(), is_lost))
        break_for({id});
    else if (arrival.complete)
        for (const WorkerId each : group.members) worker(each).meet(arrival.longest_s);
}

void VirtualCluster::turns_away(WorkerId id, std::int64_t group) {
    meetings_.turn_away(group, id);
    time_.after(latencies_.message(id), [this, group, others = meetings_.need(id)] {
        for (const WorkerId each : others)  // that may have come out of it by now
            if (meetings_.has(group, each)) break_for({each});
    });
}

void VirtualCluster::break_for(const std::vector<WorkerId>& members) {
    for (const WorkerId each : members)
        if (world_.alive(each)) worker(each).met(Together::broken);
}

// ---- faults -------------------------------------------------------------------------------------

void VirtualCluster::strike_at_time(std::size_t index) {
    const Fault& fault = faults_.faults[index];
    if (fault.kind == FaultKind::join) --joins_to_come_;
    if (!std::exchange(fired_[index], 1)) strike(fault);
}

void VirtualCluster::strike(const Fault& fault) {
    if (fault.kind == FaultKind::join) return join(fault);
    if (const auto target = roster_.target(fault)) strike(fault, *target);
}

bool VirtualCluster::passes(WorkerId id, std::string_view phase, long step) {
    bool passes = true;
    for (std::size_t i = 0; i < faults_.faults.size(); ++i) {
        const Fault& fault = faults_.faults[i];
        if (fired_[i] || !fault.step) continue;
        if (fault.kind == FaultKind::join && phase == start_point && *fault.step == step) {
            fired_[i] = 1;
            join(fault);
        } else if (fault.kind != FaultKind::join && phase_of(fault) == phase &&
                   (is_of_step(phase) ? *fault.step == step : *fault.step <= step) &&
                   world_.alive(id) && roster_.is_target(fault, id)) {
            fired_[i] = 1;
            passes = false;
            strike(fault, id);
        }
    }
    return passes;
}

void VirtualCluster::strike(const Fault& fault, WorkerId target) {
    switch (effect_of(fault).place) {
        case FaultPlace::inside:
            return worker(target).strike(fault);
        case FaultPlace::links:
            return strike_links(fault, target);
        case FaultPlace::driver:
            break;
    }
    strikes(fault, target);
    switch (fault.kind) {
        case FaultKind::kill:
            return kill(target, "killed");
        case FaultKind::hang:
            return hang(target, fault.for_s);
        case FaultKind::stop:
            recorder_.event("leave", now(), target, nlohmann::json::object());
            return world_.to_policy(target, [this, target] { tell(LeaveRequested{target}); });
        default:
            worker(target).slow(fault.factor);
            if (fault.for_s) time_.after(*fault.for_s, [this, target] { worker(target).slow(1); });
    }
}

// One that is frozen for longer than the driver's patience counts as dead, and is ended.
void VirtualCluster::hang(WorkerId id, std::optional<double> for_s) {
    const double patience_s = latencies_.patience(id);
    if (for_s && *for_s < patience_s)
        return world_.freeze(id, now() + *for_s, [this, id] { worker(id).woken(); });
    world_.freeze(id, SimulatedWorld::forever);
    if (world_.alive(id)) kill(id, "frozen", patience_s);
}

void VirtualCluster::strike_links(const Fault& fault, WorkerId target) {
    if (fault.kind == FaultKind::corrupt) {
        ++corrupts_[target];  // counts with the transfer that it strikes
        return;
    }
    strikes(fault, target);
    transfers_.set_link(target, fault.peer,
                        {.latency_s = fault.latency_s,
                         .bandwidth = fault.bandwidth,
                         .cut = fault.cut,
                         .loss = fault.loss},
                        fault.for_s);
}

void VirtualCluster::strikes(const Fault& fault, WorkerId target) {
    ++struck_;
    recorder_.event("fault", now(), target,
                    {{"kind", to_string(fault.kind)}, {"fault", to_string(fault)}});
}

void VirtualCluster::is_struck(WorkerId id, const Fault& fault) { strikes(fault, id); }

// ---- transfers ----------------------------------------------------------------------------------

void VirtualCluster::start(const Transfer& transfer) {
    if (!roster_.known(transfer.from) || !roster_.known(transfer.to))
        throw std::logic_error("a transfer between workers that do not exist");
    if (transfer.from == transfer.to) throw std::logic_error("a transfer from a worker to itself");
    time_.after(latencies_.message(transfer.from), [this, transfer] { begin_transfer(transfer); });
}

void VirtualCluster::begin_transfer(const Transfer& transfer) {
    // A policy that begins it again would do nothing else until it is told of the death.
    for (const WorkerId end : {transfer.from, transfer.to})
        if (!world_.alive(end) && roster_.at(end).how.empty())
            return to_the_dead_[end].push_back(transfer.id);
    const bool alive = world_.alive(transfer.from) && world_.alive(transfer.to);
    const Bytes* const content = alive ? worker(transfer.from).offered(transfer.object) : nullptr;
    const Bytes* const place = alive ? worker(transfer.to).accepted(transfer.object) : nullptr;
    const auto within = [&](const Bytes* bytes) {
        return bytes && bytes->holds(transfer.offset, transfer.bytes);
    };
    if (!within(content) || !within(place)) {
        time_.after(latencies_.message(transfer.from), [this, id = transfer.id] {
            tell(Broken{id, 0});
        });
        return;
    }
    under_way_.emplace(transfer.id, UnderWay{transfer, *content, *place});
    transfers_.begin(transfer.id, transfer.from, transfer.to, static_cast<double>(transfer.bytes),
                     [this, id = transfer.id] { arrived(id); });
}

void VirtualCluster::arrived(std::uint64_t id) {
    UnderWay transfer = std::move(under_way_.extract(id).mapped());
    const Transfer& order = transfer.order;
    const auto corrupt = corrupts_.find(order.from);
    DriverEvent event = Arrived{id};
    std::uint64_t done = order.bytes;
    if (corrupt != corrupts_.end() && order.bytes > 0) {
        if (--corrupt->second == 0) corrupts_.erase(corrupt);
        ++struck_;
        recorder_.event("fault", now(), order.from, {{"kind", "corrupt"}});
        done = order.bytes / 2;  // what came before the damage
        event = Broken{id, done};
    }
    copy_range(transfer.content, transfer.place, order.offset, done);
    world_.to_policy(order.to, [this, event] { tell(event); });
}

}  // namespace assay::drive
