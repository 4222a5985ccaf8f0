// Transfers between processes. In real time they take as long as they take, under the limits of
// their workers' ports and links. Paced, how long they take is modelled (virtual_transfers.hpp),
// the bytes go as fast as they can, and both have to be there.
#include <algorithm>

#include "suite/cluster/transfers/transfer_port.hpp"
#include "suite/drive/processes/process_driver.hpp"

namespace assay::drive {

using nlohmann::json;

VirtualTime::Id ProcessDriver::QueueTime::at(double t_s, Callback what) {
    const Id id = ++ids_;
    waiting_.insert(id);
    driver_.at(t_s, [this, id, what = std::move(what)] {
        if (waiting_.erase(id) == 0) return;
        ++happened_;
        what();
    });
    return id;
}

void ProcessDriver::start(const Transfer& transfer) {
    if (!roster_.known(transfer.from) || !roster_.known(transfer.to))
        throw std::logic_error("a transfer between workers that do not exist");
    if (transfer.from == transfer.to) throw std::logic_error("a transfer from a worker to itself");
    if (!under_way_.emplace(transfer.id, UnderWay{transfer}).second)
        throw std::logic_error("two transfers have one number");
    if (!begin_transfer(transfer) || !paced_) return;
    modelled_.begin(transfer.id, transfer.from, transfer.to, static_cast<double>(transfer.bytes),
                    [this, id = transfer.id] {
                        ended_.emplace_back(now(), id);
                        tell_ended();
                    });
}

/// False: it will not come to that. One to a worker that is dead breaks when its death is told of:
/// a policy that begins it again would do nothing else until then.
bool ProcessDriver::begin_transfer(const Transfer& transfer) {
    Process& from = process(transfer.from);
    Process& to = process(transfer.to);
    for (const WorkerId end : {transfer.from, transfer.to}) {
        if (!process(end).doomed && !process(end).exited) continue;
        if (!roster_.at(end).how.empty()) broken(transfer.id, 0);
        return false;
    }
    for (Process* const end : {&from, &to}) {
        if (end->port) continue;
        // At rest it has offered and accepted all that it was going to.
        const bool deaf = end->rests && end->unheard_s.empty();
        if (deaf)
            broken(transfer.id, 0);
        else
            end->before_port.push_back(transfer);
        return !deaf;
    }
    under_way_.at(transfer.id).begun_s = now();
    json frame{{"drive", "expect"},
               {"urgent", true},
               {"id", transfer.id},
               {"from", transfer.from},
               {"to", transfer.to},
               {"object", transfer.object},
               {"offset", transfer.offset},
               {"bytes", transfer.bytes},
               {"token", cluster::draw_transfer_token()}};
    send_frame(transfer.to, frame);
    frame["drive"] = "send";
    frame["port"] = *to.port;
    send_frame(transfer.from, frame);
    return true;
}

void ProcessDriver::arrived(std::uint64_t id) {
    const auto found = under_way_.find(id);
    if (found == under_way_.end()) return;  // an end of it died: it was told as broken
    found->second.arrived = true;
    if (paced_ && ended_.empty()) return;
    at(paced_ ? ended_.front().first : clock_.now(), [this, id] {
        if (paced_)
            tell_ended();
        else
            tell_arrived(id);
    });
}

/// Those that have arrived on the modelled cluster, in that order, as far as they really have.
void ProcessDriver::tell_ended() {
    while (!ended_.empty()) {
        const std::uint64_t id = ended_.front().second;
        const auto found = under_way_.find(id);
        if (found != under_way_.end() && !found->second.arrived) return;
        ended_.pop_front();
        tell_arrived(id);
    }
}

void ProcessDriver::tell_arrived(std::uint64_t id) {
    const auto found = under_way_.extract(id);
    if (!found) return;
    const Transfer& order = found.mapped().order;
    const auto corrupt = corrupts_.find(order.from);
    if (corrupt == corrupts_.end() || order.bytes == 0) return tell(Arrived{order.id});
    faults_.on_struck(corrupt->second.front(), order.from);
    corrupt->second.pop_front();
    if (corrupt->second.empty()) corrupts_.erase(corrupt);
    tell(Broken{order.id, order.bytes / 2});  // what came before the damage
}

void ProcessDriver::broken(std::uint64_t id, std::uint64_t done) {
    const auto found = under_way_.find(id);
    if (found == under_way_.end()) return;
    found->second.broken = true;
    // Receivers say so: where several do at one moment, the order is that of their ids.
    queue_.emplace(Moment{now(), found->second.order.to}, [this, id, done] {
        if (!forget(id)) return;
        if (paced_) modelled_.stop(id);
        tell(Broken{id, done});
    });
}

bool ProcessDriver::forget(std::uint64_t id) {
    std::erase_if(ended_, [id](const auto& one) { return one.second == id; });
    return under_way_.erase(id) > 0;
}

void ProcessDriver::break_transfers(WorkerId worker) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ended;  // and bytes done
    if (const auto stopped = stopped_.extract(worker)) ended = std::move(stopped.mapped());
    for (const auto& [id, transfer] : under_way_) {
        const WorkerId from = transfer.order.from, to = transfer.order.to;
        if (from != worker && to != worker) continue;
        // In real time the other end of one that has begun tells of it, if it is there.
        const bool tells =
            !paced_ && transfer.begun_s && !process(from == worker ? to : from).exited;
        const auto is_this = [id = id](const auto& one) { return one.first == id; };
        if (!tells && std::none_of(ended.begin(), ended.end(), is_this))
            ended.emplace_back(id, paced_ ? modelled_.stop(id) : 0);
    }
    for (const auto& [id, done] : ended)
        if (forget(id)) tell(Broken{id, done});
}

}  // namespace assay::drive
