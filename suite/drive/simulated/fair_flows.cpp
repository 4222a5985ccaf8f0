#include "suite/drive/simulated/fair_flows.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace assay::drive {
namespace {

void check_bandwidth(double bytes_per_s) {
    if (!(bytes_per_s >= 0)) throw std::invalid_argument("a link of less than 0 bytes/s");
}

}  // namespace

FairFlows::LinkState& FairFlows::link(Link link) {
    if (link < 0 || static_cast<std::size_t>(link) >= links_.size())
        throw std::out_of_range("an unknown link");
    return links_[static_cast<std::size_t>(link)];
}

const FairFlows::State& FairFlows::find(Flow flow) const {
    const std::size_t place = flow % most_places;
    if (flow == 0 || place >= states_.size() || states_[place].id != flow)
        throw std::out_of_range("an unknown flow");
    return states_[place];
}

FairFlows::Link FairFlows::add_link(double bytes_per_s) {
    check_bandwidth(bytes_per_s);
    links_.emplace_back().bandwidth = bytes_per_s;
    return static_cast<Link>(links_.size() - 1);
}

void FairFlows::set_bandwidth(Link which, double bytes_per_s) {
    check_bandwidth(bytes_per_s);
    LinkState& changed = link(which);
    if (changed.bandwidth == bytes_per_s) return;
    changed.bandwidth = bytes_per_s;
    for (const User& user : changed.users) look_at(user.flow);
    share();
}

FairFlows::Flow FairFlows::begin(std::span<const Link> over, double bytes) {
    if (!(bytes >= 0) || std::isinf(bytes)) throw std::invalid_argument("a flow of no size");
    if (over.size() > most_links) throw std::invalid_argument("a flow over too many links");
    for (std::size_t i = 0; i < over.size(); ++i) {
        link(over[i]);
        if (std::find(over.begin(), over.begin() + i, over[i]) != over.begin() + i)
            throw std::invalid_argument("a flow that goes over a link twice");
    }
    if (free_.empty()) {
        if (states_.size() == most_places) throw std::length_error("too many flows");
        free_.push_back(static_cast<std::uint32_t>(states_.size()));
        states_.emplace_back();
    }
    const std::uint32_t place = free_.back();
    free_.pop_back();
    State& flow = states_[place];
    flow = {.id = ++begun_ * most_places + place, .bytes = bytes, .since_s = now_};
    for (const Link of : over) {
        auto& users = link(of).users;
        flow.hops[flow.hop_count] = {of, static_cast<std::uint32_t>(users.size())};
        users.push_back({place, flow.hop_count++});
    }
    look_at(place);
    share();
    return flow.id;
}

double FairFlows::end(Flow which) {
    const double bytes = done(which);
    State& flow = states_[which % most_places];
    for (const Hop& hop : hops(flow)) {
        auto& users = link(hop.link).users;
        const User last = users.back();
        users[hop.place] = last;
        states_[last.flow].hops[last.hop].place = hop.place;
        users.pop_back();
    }
    flow.id = 0;
    free_.push_back(static_cast<std::uint32_t>(which % most_places));
    for (const Hop& hop : hops(flow))
        if (link(hop.link).bandwidth != no_limit)
            for (const User& user : link(hop.link).users) look_at(user.flow);
    share();
    return bytes;
}

double FairFlows::done(Flow flow) const { return done_by_now(find(flow)); }

double FairFlows::rate(Flow flow) const { return find(flow).rate; }

double FairFlows::done_by_now(const State& flow) const {
    if (flow.ends_s <= now_) return flow.bytes;
    return std::min(flow.bytes, flow.done + flow.rate * (now_ - flow.since_s));
}

void FairFlows::advance(double now_s) {
    if (!(now_s >= now_)) throw std::logic_error("the time of flows goes back");
    if (!ends_.empty() && now_s > ends_.front().ends_s)
        throw std::logic_error("the time of flows goes past the end of one");
    now_ = now_s;
}

std::optional<std::pair<double, FairFlows::Flow>> FairFlows::next() const {
    if (ends_.empty()) return std::nullopt;
    return std::pair{ends_.front().ends_s, ends_.front().flow};
}

// ---- sharing out --------------------------------------------------------------------------------

void FairFlows::look_at(std::uint32_t flow) {
    if (std::exchange(states_[flow].seen, sharing_) == sharing_) return;
    states_[flow].new_rate = no_limit;
    part_.push_back(flow);
}

void FairFlows::share() {
    for (std::size_t i = 0; i < part_.size(); ++i)  // grows on the way
        for (const Hop& hop : hops(states_[part_[i]])) {
            LinkState& limit = link(hop.link);
            if (limit.bandwidth == no_limit || std::exchange(limit.seen, sharing_) == sharing_)
                continue;
            limits_.push_back(hop.link);
            for (const User& user : limit.users) look_at(user.flow);
        }
    fill();
    for (const std::uint32_t place : part_) set_rate(states_[place], states_[place].new_rate);
    tidy_ends();
    part_.clear();
    limits_.clear();
    ++sharing_;
}

/// Progressive filling: the link that gives each of its flows least is dealt out first, and so on
/// with what is left. What a link gives each can only grow meanwhile, so a share that has is put
/// back among the others when its turn comes.
void FairFlows::fill() {
    const auto put = [&](Link which) {
        const LinkState& limit = link(which);
        shares_.push_back({limit.left / static_cast<double>(limit.waiting), which});
        std::push_heap(shares_.begin(), shares_.end());
    };
    for (const Link which : limits_) {
        link(which).left = link(which).bandwidth;
        link(which).waiting = link(which).users.size();
        put(which);
    }
    while (!shares_.empty()) {
        std::pop_heap(shares_.begin(), shares_.end());
        const Share least = shares_.back();
        shares_.pop_back();
        LinkState& limit = link(least.link);
        if (limit.waiting == 0) continue;
        if (limit.left / static_cast<double>(limit.waiting) > least.rate) {
            put(least.link);
            continue;
        }
        for (const User& user : limit.users)
            if (states_[user.flow].new_rate == no_limit) fix(states_[user.flow], least.rate);
    }
}

void FairFlows::fix(State& flow, double rate) {
    flow.new_rate = rate;
    for (const Hop& hop : hops(flow)) {
        LinkState& limit = link(hop.link);
        if (limit.bandwidth == no_limit) continue;
        limit.left = std::max(0.0, limit.left - rate);
        --limit.waiting;
    }
}

void FairFlows::set_rate(State& flow, double rate) {
    if (flow.rate == rate) return;
    flow.done = done_by_now(flow);
    flow.since_s = now_;
    flow.rate = rate;
    const double left = flow.bytes - flow.done;
    // One whose bytes are there ends now, though its link be cut before the caller has ended it.
    if (left > 0)
        flow.ends_s = rate > 0 ? now_ + left / rate : never;
    else
        flow.ends_s = rate > 0 || flow.bytes > 0 ? now_ : never;
    if (flow.ends_s == never) return;
    ends_.push_back({flow.ends_s, flow.id});
    std::push_heap(ends_.begin(), ends_.end());
}

bool FairFlows::is_void(const End& end) const {
    const State& flow = states_[end.flow % most_places];
    return flow.id != end.flow || flow.ends_s != end.ends_s;
}

/// Voids go when they come first; all of them when many are new, or they are more than half.
void FairFlows::tidy_ends() {
    if (part_.size() > under_way() / 2 || ends_.size() > 2 * under_way() + 64) {
        std::erase_if(ends_, [&](const End& end) { return is_void(end); });
        std::make_heap(ends_.begin(), ends_.end());
    }
    while (!ends_.empty() && is_void(ends_.front())) {
        std::pop_heap(ends_.begin(), ends_.end());
        ends_.pop_back();
    }
}

}  // namespace assay::drive
