#include "impls/foundry/method/loader/rank_group.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <utility>

namespace assay::foundry {

using drive::From;
using drive::To;

std::string to_string(const RankName& name) {
    return std::to_string(name.group) + '.' + std::to_string(name.rank) + '.' +
           std::to_string(name.ranks);
}

RankName rank_name(const std::string& instance) {
    RankName name;
    if (std::sscanf(instance.c_str(), "%d.%d.%d", &name.group, &name.rank, &name.ranks) != 3 ||
        to_string(name) != instance)
        throw std::logic_error("no rank of a group is called '" + instance + "'");
    return name;
}

RankGroup::RankGroup(RankGroupSettings settings)
    : settings_(std::move(settings)), results_(settings_.requests.size()) {
    std::size_t served = 0;
    for (const auto& each : settings_.stages) served += each.requests;
    if (settings_.requests.empty() || served != settings_.requests.size())
        throw std::logic_error("the stages of a group serve all requests, and one at least");
    left_in_stage_ = stage().requests;
    groups_.push_back({.ranks = stage().ranks});
}

void RankGroup::on(const Event& event, double now_s, std::vector<Action>& actions) {
    now_s_ = now_s;
    std::visit([&](const auto& one) { handle(one, actions); }, event);
}

std::vector<drive::Spawn> RankGroup::ranks_of_group() const {
    std::vector<drive::Spawn> all;
    for (int rank = 0; rank < stage().ranks; ++rank)
        all.push_back({"server", to_string(RankName{group_, rank, stage().ranks})});
    return all;
}

void RankGroup::begin(Actions& actions) {
    for (const auto& [worker, rank] : ranks_) gone_.insert(worker);
    ranks_.clear();
    answered_.clear();
    group_of_.reset();
    executables_.reset();
    ++group_;
    groups_.push_back({.ranks = stage().ranks});
    for (auto& spawn : ranks_of_group()) actions.push_back(std::move(spawn));
}

Mode RankGroup::mode() const {
    const bool captures = captures_ || lost_restoring_ >= most_lost_restoring;
    return captures && restores(settings_.mode) ? Mode::capture : settings_.mode;
}

void RankGroup::handle(const drive::Joined& joined, Actions& actions) {
    const RankName name = rank_name(joined.instance.value_or(""));
    if (name.group != group_) {  // it was on its way when its group ended
        gone_.insert(joined.worker);
        return actions.push_back(drive::Evict{joined.worker, "its group is gone"});
    }
    ranks_.emplace(joined.worker, name.rank);
    if (static_cast<int>(ranks_.size()) == name.ranks) groups_.back().joined_s = now_s_;
    // Which waits for the other ranks.
    Open open{mode(), {}};
    if (restores(open.mode)) {
        open.archives = stage().archives;
        if (open.archives.size() > 1)
            open.archives = {open.archives.at(static_cast<std::size_t>(name.rank))};
    }
    actions.push_back(To<Open>{joined.worker, open});
}

bool RankGroup::all_answered(drive::WorkerId worker) {
    answered_.insert(worker);
    if (static_cast<int>(answered_.size()) < stage().ranks) return false;
    answered_.clear();
    return true;
}

template <class M>
void RankGroup::tell_all(const M& message, Actions& actions) {
    for (const auto& [worker, rank] : ranks_) actions.push_back(To<M>{worker, message});
}

void RankGroup::handle(const From<Opened>& opened, Actions& actions) {
    if (!ranks_.contains(opened.worker)) return;
    const std::vector<std::size_t>& group_of = opened.message.group_of;
    if (group_of_ && *group_of_ != group_of) {
        captures_ = true;
        return make_anew("ranks have other graphs", actions);
    }
    group_of_ = group_of;
    if (!all_answered(opened.worker)) return;
    executables_.emplace(mode(), group_of);
    tell_all(Prepare{executables_->before_ready()}, actions);
}

void RankGroup::handle(const From<Ready>& ready, Actions& actions) {
    if (!ranks_.contains(ready.worker) || !all_answered(ready.worker)) return;
    for (const auto& [graph, make] : executables_->before_ready()) executables_->made(graph, make);
    groups_.back().ready_s = now_s_;
    serve_next(actions);
}

void RankGroup::serve_next(Actions& actions) {
    const std::size_t graph = settings_.requests[request_];
    serving_ = {graph, executables_->next(graph)};
    tell_all(Serve{static_cast<int>(request_), graph, serving_.make}, actions);
}

void RankGroup::handle(const From<Served>& served, Actions& actions) {
    if (!ranks_.contains(served.worker)) return;
    // The others' to the same request are compared with the first one's, and only then it counts.
    auto& result = results_[request_];
    if (result && *result != served.message.result) {
        result.reset();
        captures_ = true;
        return make_anew("ranks decode other tokens", actions);
    }
    result = served.message.result;
    if (!all_answered(served.worker)) return;
    executables_->made(serving_.graph, serving_.make);
    lost_restoring_ = 0;
    GroupCourse& group = groups_.back();
    if (group.served++ == 0) group.first_s = now_s_;
    group.last_s = now_s_;
    if (++request_ == results_.size())
        return actions.push_back(drive::Stop{true, "all are served"});
    if (--left_in_stage_ > 0) return serve_next(actions);
    for (const auto& [worker, rank] : ranks_) actions.push_back(drive::Dismiss{worker});
    left_in_stage_ = settings_.stages[++stage_].requests;
    begin(actions);
}

void RankGroup::handle(const From<Refused>& refused, Actions& actions) {
    if (!ranks_.contains(refused.worker)) return;
    captures_ = true;
    make_anew(refused.message.why, actions);
}

void RankGroup::handle(const From<Failed>& failed, Actions& actions) {
    if (!ranks_.contains(failed.worker)) return;
    captures_ = true;
    make_anew(failed.message.why, actions);
}

void RankGroup::handle(const drive::Died& died, Actions& actions) {
    const bool on_its_way =
        !gone_.contains(died.worker) && static_cast<int>(ranks_.size()) < stage().ranks;
    if (!on_its_way && !ranks_.contains(died.worker)) return;
    if (restores(mode()) && groups_.back().served == 0) ++lost_restoring_;
    gone_.insert(died.worker);
    ranks_.erase(died.worker);
    make_anew("a rank died", actions);
}

void RankGroup::handle(const drive::Stalled& stalled, Actions& actions) {
    if (!ranks_.contains(stalled.worker)) return;
    if (restores(mode()) && groups_.back().served == 0) ++lost_restoring_;
    make_anew("a rank hangs, or waits for one that does", actions);
}

/// What a rank that is left has said of the request does not count: it is served anew by all.
void RankGroup::make_anew(const std::string& why, Actions& actions) {
    if (std::ranges::find(troubles_, why) == troubles_.end()) troubles_.push_back(why);
    for (const auto& [worker, rank] : ranks_) actions.push_back(drive::Evict{worker, why});
    results_[request_].reset();
    if (restarts_ == settings_.restarts)
        return actions.push_back(drive::Stop{false, "groups are lost again and again: " + why});
    ++restarts_;
    begin(actions);
}

}  // namespace assay::foundry
