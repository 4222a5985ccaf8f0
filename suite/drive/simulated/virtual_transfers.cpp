#include "suite/drive/simulated/virtual_transfers.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace assay::drive {
namespace {

double limit_of(double bytes_s) { return bytes_s > 0 ? bytes_s : FairFlows::no_limit; }

bool harmless(const LinkTrouble& trouble) {
    return trouble.latency_s == 0 && trouble.bandwidth == 0 && !trouble.cut && trouble.loss == 0;
}

LinkTrouble both(const LinkTrouble& a, const LinkTrouble& b) {
    const double narrower = std::min(limit_of(a.bandwidth), limit_of(b.bandwidth));
    return {.latency_s = a.latency_s + b.latency_s,
            .bandwidth = narrower == FairFlows::no_limit ? 0 : narrower,
            .cut = a.cut || b.cut,
            .loss = 1 - (1 - a.loss) * (1 - b.loss)};
}

void check(double value, const char* what) {
    if (!(value >= 0 && std::isfinite(value))) throw std::invalid_argument(what);
}

}  // namespace

VirtualTransfers::~VirtualTransfers() {
    for (const auto& [id, transfer] : transfers_)
        if (!transfer.flow) time_.cancel(transfer.after_latency);
    for (const auto& [links, trouble] : troubles_)
        if (trouble.heals) time_.cancel(*trouble.heals);
    if (expected_) time_.cancel(expected_->event);
}

void VirtualTransfers::set_nic(WorkerId worker, const Nic& nic) {
    check(nic.send_bytes_s, "a port that sends less than 0 bytes/s");
    check(nic.receive_bytes_s, "a port that receives less than 0 bytes/s");
    check(nic.latency_s, "a latency below 0 s");
    keep_up();
    const auto found = ports_.find(worker);
    if (found == ports_.end()) {
        ports_[worker] = {.nic = nic,
                          .send = flows_.add_link(limit_of(nic.send_bytes_s)),
                          .receive = flows_.add_link(limit_of(nic.receive_bytes_s))};
        return;
    }
    Port& port = found->second;
    port.nic = nic;
    flows_.set_bandwidth(port.send, limit_of(nic.send_bytes_s));
    flows_.set_bandwidth(port.receive, limit_of(nic.receive_bytes_s));
    set_limits();
}

// ---- transfers ----------------------------------------------------------------------------------

void VirtualTransfers::begin(Id id, WorkerId from, WorkerId to, double bytes,
                             std::function<void()> arrived) {
    check(bytes, "a transfer of no size");
    if (from == to) throw std::invalid_argument("a transfer from a worker to itself");
    const auto sender = ports_.find(from), receiver = ports_.find(to);
    if (sender == ports_.end() || receiver == ports_.end())
        throw std::out_of_range("a transfer between workers that have no ports");
    const auto [place, is_new] = transfers_.try_emplace(
        id, Transfer{.from = from, .to = to, .bytes = bytes, .arrived = std::move(arrived)});
    if (!is_new) throw std::logic_error("a transfer of this id is under way");
    const double latency_s = sender->second.nic.latency_s + receiver->second.nic.latency_s +
                             trouble({from, to}).latency_s;
    if (latency_s > 0)
        place->second.after_latency = time_.after(latency_s, [this, id] { start(id); });
    else
        start(id);
}

void VirtualTransfers::start(Id id) {
    keep_up();
    Transfer& transfer = transfers_.at(id);
    transfer.flow = flows_.begin({ports_.at(transfer.from).send, link({transfer.from, transfer.to}),
                                  ports_.at(transfer.to).receive},
                                 transfer.bytes);
    ids_[*transfer.flow] = id;
    expect_next_end();
}

std::uint64_t VirtualTransfers::stop(Id id) {
    const auto found = transfers_.find(id);
    if (found == transfers_.end()) return 0;
    const Transfer& transfer = found->second;
    double done = 0;
    if (transfer.flow) {
        keep_up();
        done = std::min(flows_.end(*transfer.flow) + 1e-6, transfer.bytes);
        ids_.erase(*transfer.flow);
        expect_next_end();
    } else {
        time_.cancel(transfer.after_latency);
    }
    transfers_.erase(found);
    return static_cast<std::uint64_t>(done);
}

std::vector<VirtualTransfers::Done> VirtualTransfers::stop_all_of(WorkerId worker) {
    std::vector<Done> stopped;
    for (const auto& [id, transfer] : transfers_)
        if (transfer.from == worker || transfer.to == worker) stopped.emplace_back(id, 0);
    for (auto& [id, done] : stopped) done = stop(id);
    return stopped;
}

void VirtualTransfers::expect_next_end() {
    const auto next = flows_.next();
    if (expected_ && next && expected_->ends_s == next->first) return;
    if (expected_) time_.cancel(std::exchange(expected_, std::nullopt)->event);
    if (next)
        expected_ = {.ends_s = next->first,
                     .event = time_.at(next->first, [this] { next_has_ended(); })};
}

/// One at a time: what its `arrived` does may concern others that end at this moment.
void VirtualTransfers::next_has_ended() {
    expected_.reset();
    keep_up();
    const FairFlows::Flow flow = flows_.next().value().second;
    flows_.end(flow);
    const auto transfer = transfers_.extract(ids_.extract(flow).mapped());
    expect_next_end();
    transfer.mapped().arrived();
}

// ---- links --------------------------------------------------------------------------------------

LinkTrouble VirtualTransfers::trouble(Ends ends) const {
    const auto [smaller, larger] = std::minmax(ends.first, ends.second);
    if (const auto its = troubles_.find({smaller, larger}); its != troubles_.end())
        return its->second.what;
    LinkTrouble all;
    for (const WorkerId worker : {smaller, larger})
        if (const auto of_worker = troubles_.find({worker, std::nullopt});
            of_worker != troubles_.end())
            all = both(all, of_worker->second.what);
    return all;
}

double VirtualTransfers::limit(Ends from_to) const {
    const LinkTrouble now = trouble(from_to);
    if (now.cut) return 0;
    double most = limit_of(now.bandwidth);
    if (now.loss == 0) return most;
    most = std::min({most, limit_of(ports_.at(from_to.first).nic.send_bytes_s),
                     limit_of(ports_.at(from_to.second).nic.receive_bytes_s)});
    return most * (1 - now.loss);
}

FairFlows::Link VirtualTransfers::link(Ends from_to) {
    const auto found = links_.find(from_to);
    if (found != links_.end()) return found->second;
    return links_[from_to] = flows_.add_link(limit(from_to));
}

void VirtualTransfers::set_limits() {
    for (const auto& [ends, link] : links_) flows_.set_bandwidth(link, limit(ends));
    expect_next_end();
}

void VirtualTransfers::set_link(WorkerId worker, std::optional<WorkerId> peer,
                                const LinkTrouble& trouble, std::optional<double> for_s) {
    check(trouble.latency_s, "a latency below 0 s");
    check(trouble.bandwidth, "a link of less than 0 bytes/s");
    if (!(trouble.loss >= 0 && trouble.loss < 1))
        throw std::invalid_argument("a loss below 0, or of all: such a link is cut");
    if (for_s && !(*for_s >= 0)) throw std::invalid_argument("trouble for less than 0 s");
    if (worker == peer) throw std::invalid_argument("a worker has no link to itself");
    keep_up();
    const Links links = peer ? Links(std::min(worker, *peer), std::max(worker, *peer))
                             : Links(worker, std::nullopt);
    const auto old = troubles_.find(links);
    if (old != troubles_.end() && old->second.heals) time_.cancel(*old->second.heals);
    troubles_[links] = {.what = trouble, .heals = std::nullopt};
    if (for_s) troubles_[links].heals = time_.after(*for_s, [this, links] { heal(links); });
    drop_exemptions();
    set_limits();
}

void VirtualTransfers::heal(const Links& links) {
    keep_up();
    troubles_.erase(links);
    drop_exemptions();
    set_limits();
}

/// Of links that are exempt from nothing: what befalls all later befalls them too.
void VirtualTransfers::drop_exemptions() {
    const auto all_are_well = [&](WorkerId worker) {
        const auto of_worker = troubles_.find({worker, std::nullopt});
        return of_worker == troubles_.end() || harmless(of_worker->second.what);
    };
    for (auto at = troubles_.begin(); at != troubles_.end();) {
        const auto& [links, trouble] = *at;
        const bool exempt =
            links.second && !(all_are_well(links.first) && all_are_well(*links.second));
        if (!harmless(trouble.what) || exempt) {
            ++at;
            continue;
        }
        if (trouble.heals) time_.cancel(*trouble.heals);
        at = troubles_.erase(at);
    }
}

}  // namespace assay::drive
