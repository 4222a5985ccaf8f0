#include "suite/drive/simgrid/simgrid_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace assay::drive {
namespace {

constexpr unsigned place_bits = 24;
constexpr std::uint64_t most_places = std::uint64_t{1} << place_bits;

std::size_t at_index(int i) { return static_cast<std::size_t>(i); }

}  // namespace

SimGridTime::SimGridTime(std::shared_ptr<RankFlows> flows)
    : shared_(std::move(flows)), engine_(shared_->engine()), hosts_(at_index(shared_->ranks())) {
    if (engine_.under_way() > 0)
        throw std::logic_error("flows of somebody else are under way on this network");
}

SimGridTime::~SimGridTime() {
    for (const Item& item : items_)
        if (item.id != 0 && std::holds_alternative<Flow>(item.what)) engine_.cancel(item.id);
}

void SimGridTime::check(int rank) const {
    if (rank < 0 || rank >= shared_->ranks())
        throw std::invalid_argument(
            fmt::format("rank {} of a network of {}", rank, shared_->ranks()));
}

VirtualTime::Id SimGridTime::add(std::variant<Callback, Flow, Work> what) {
    if (free_.empty()) {
        if (items_.size() == most_places) throw std::length_error("too many events are waiting");
        free_.push_back(items_.size());
        items_.emplace_back();
    }
    const std::size_t place = free_.back();
    free_.pop_back();
    const Id id = ++added_ << place_bits | place;
    items_[place] = {.id = id, .what = std::move(what)};
    return id;
}

SimGridTime::Item* SimGridTime::find(Id id) {
    const std::size_t place = id % most_places;
    return id != 0 && place < items_.size() && items_[place].id == id ? &items_[place] : nullptr;
}

std::variant<VirtualTime::Callback, SimGridTime::Flow, SimGridTime::Work> SimGridTime::take(
    Item& item) {
    free_.push_back(item.id % most_places);
    item.id = 0;
    return std::exchange(item.what, {});
}

void SimGridTime::due(double t_s, Id id) {
    due_.push_back({t_s, id});
    std::push_heap(due_.begin(), due_.end(), std::greater<>());
}

SimGridTime::Due SimGridTime::take_first_due() {
    std::pop_heap(due_.begin(), due_.end(), std::greater<>());
    const Due first = due_.back();
    due_.pop_back();
    return first;
}

VirtualTime::Id SimGridTime::at(double t_s, Callback what) {
    if (std::isnan(t_s)) throw std::invalid_argument("an event at no time");
    const Id id = add(std::move(what));
    due(std::max(t_s, now_), id);
    return id;
}

VirtualTime::Id SimGridTime::flow(int from, int to, double bytes, Ended ended) {
    check(from);
    check(to);
    if (!(bytes >= 0) || std::isinf(bytes))
        throw std::invalid_argument(fmt::format("a flow of {} bytes", bytes));
    Flow flow = {.from = from, .to = to, .bytes = std::round(bytes), .ended = std::move(ended)};
    double first_s = now_;
    if (!is_on(from) || !is_on(to)) {
        flow.state = Flow::over;
        flow.end = End::broken;
    } else if (from != to) {
        first_s += shared_->topology().route(from, to).latency_s;
    }
    if (from == to || flow.bytes == 0) flow.state = Flow::over;
    const Id id = add(std::move(flow));
    due(first_s, id);
    return id;
}

VirtualTime::Id SimGridTime::compute(int rank, double seconds, Ended ended) {
    check(rank);
    if (!(seconds >= 0)) throw std::invalid_argument(fmt::format("work of {} s", seconds));
    Host& host = hosts_[at_index(rank)];
    if (host.on) host.busy_until_s = std::max(host.busy_until_s, now_) + seconds;
    const Id id = add(
        Work{.rank = rank, .ended = std::move(ended), .end = host.on ? End::done : End::broken});
    due(host.on ? host.busy_until_s : now_, id);
    return id;
}

void SimGridTime::cancel(Id id) {
    Item* const item = find(id);
    if (!item) return;
    const auto* const flow = std::get_if<Flow>(&item->what);
    if (flow && flow->state == Flow::under_way) {
        collect(now_);
        engine_.cancel(id);
    }
    take(*item);
}

void SimGridTime::turn_off(int rank) {
    check(rank);
    Host& host = hosts_[at_index(rank)];
    if (!host.on) return;
    host = {.on = false, .busy_until_s = 0};
    collect(now_);  // what has arrived has arrived
    for (Item& item : items_) {
        if (item.id == 0) continue;
        if (auto* const work = std::get_if<Work>(&item.what)) {
            if (work->rank != rank || work->end == End::broken) continue;
            work->end = End::broken;
            due(now_, item.id);
        } else if (auto* const flow = std::get_if<Flow>(&item.what)) {
            const bool needs_it = flow->from == rank || flow->to == rank;
            if (!needs_it || flow->end == End::broken) continue;
            if (flow->state == Flow::under_way)
                engine_.cancel(item.id);
            else if (flow->state == Flow::over && flow->bytes > 0)
                continue;  // the last byte is there; who asked for it is told next
            flow->state = Flow::over;
            flow->end = End::broken;
            due(now_, item.id);
        }
    }
}

void SimGridTime::turn_on(int rank) {
    check(rank);
    hosts_[at_index(rank)].on = true;
}

void SimGridTime::collect(double until_s) {
    if (engine_.under_way() == 0) return;
    just_ended_.clear();
    engine_.advance(until_s - engine_started_s_, just_ended_);
    const double ended_s = std::max(now_, std::min(engine_started_s_ + engine_.clock(), until_s));
    for (const Id id : just_ended_) {
        std::get<Flow>(find(id)->what).state = Flow::over;
        due(ended_s, id);
    }
}

void SimGridTime::begin(Id id, Flow& flow) {
    if (engine_.under_way() == 0)
        engine_started_s_ = now_ - engine_.clock();
    else
        collect(now_);
    flow.state = Flow::under_way;
    shared_->start(id, flow.from, flow.to, flow.bytes);
}

bool SimGridTime::next(double until_s) {
    for (;;) {
        while (!due_.empty() && !find(due_.front().id)) take_first_due();
        const double first_s = due_.empty() ? FlowEngine::never : due_.front().t_s;
        if (engine_.under_way() > 0) {
            const double end_s = engine_started_s_ + engine_.next_end();
            if (end_s <= first_s) {
                if (end_s > until_s) return false;
                collect(FlowEngine::never);
                continue;
            }
        }
        if (due_.empty() || first_s > until_s) return false;
        const Due first = take_first_due();
        Item& item = *find(first.id);
        auto* const flow = std::get_if<Flow>(&item.what);
        const double before_s = std::exchange(now_, first.t_s);
        if (flow && flow->state == Flow::latency) {
            begin(first.id, *flow);
            now_ = before_s;  // nobody was told anything
            continue;
        }
        carry_out(item);
        return true;
    }
}

void SimGridTime::carry_out(Item& item) {
    ++happened_;
    auto what = take(item);
    if (auto* const work = std::get_if<Work>(&what))
        work->ended(work->end);
    else if (auto* const flow = std::get_if<Flow>(&what))
        flow->ended(flow->end);
    else
        std::get<Callback>(what)();
}

}  // namespace assay::drive
