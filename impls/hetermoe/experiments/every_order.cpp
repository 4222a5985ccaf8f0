#include "impls/hetermoe/experiments/every_order.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

namespace assay::hetermoe {
namespace {

struct Operation {
    std::size_t queue = 0;
    Ticks length = 0;
};

// The chain of one micro-batch. Transfers that take no time delay nothing and are left out.
std::vector<Operation> chain_of(const TaskTimes& times, const StepShape& step) {
    std::vector<Operation> chain;
    in_zebra_order({.micro_batches = 1, .offload = step.offload, .backward = step.backward},
                   [&](const Task& task) {
                       const Queue queue = queue_of(task.kind);
                       const bool computes = queue == Queue::attention || queue == Queue::expert;
                       const Ticks length = times.of(step, task);
                       if (computes || length > 0)
                           chain.push_back({static_cast<std::size_t>(queue), length});
                   });
    return chain;
}

// How far the micro-batches are (they are alike: sorted), and when each and each queue is free.
struct State {
    std::vector<std::pair<std::size_t, Ticks>> batches;  // tasks done, end of the last
    std::array<Ticks, queues> free{};

    bool no_later_than(const State& other) const {
        for (std::size_t j = 0; j < batches.size(); ++j)
            if (batches[j].second > other.batches[j].second) return false;
        for (std::size_t queue = 0; queue < queues; ++queue)
            if (free[queue] > other.free[queue]) return false;
        return true;
    }
};

class AllOrders {
  public:
    AllOrders(const TaskTimes& times, const StepShape& step)
        : chain_(chain_of(times, step)), shortest_(zebra_makespan(times, step)) {
        for (std::size_t done = chain_.size(); done > 0; --done) {
            left_.push_back(left_.empty() ? Left{} : left_.back());
            left_.back().whole += chain_[done - 1].length;
            left_.back().of_queue[chain_[done - 1].queue] += chain_[done - 1].length;
        }
        std::reverse(left_.begin(), left_.end());
        left_.emplace_back();
        start_.batches.assign(static_cast<std::size_t>(step.micro_batches), {0, 0});
    }

    // Level by level: of all states that are equally far, those that no other one dominates.
    Ticks shortest() {
        std::map<std::vector<std::size_t>, std::vector<State>> level{{{}, {start_}}};
        const std::size_t tasks = chain_.size() * start_.batches.size();
        for (std::size_t done = 0; done < tasks; ++done) {
            std::map<std::vector<std::size_t>, std::vector<State>> next;
            for (const auto& [progress, states] : level)
                for (const State& state : states) extend(state, next);
            level = std::move(next);
        }
        for (const auto& [progress, states] : level)
            for (const State& state : states) shortest_ = std::min(shortest_, end_of(state));
        return shortest_;
    }

  private:
    struct Left {
        Ticks whole = 0;
        std::array<Ticks, queues> of_queue{};
    };

    static Ticks end_of(const State& state) {
        Ticks last = 0;
        for (const auto& [done, end] : state.batches) last = std::max(last, end);
        return last;
    }

    // Whether this can still become shorter than what is known.
    bool promising(const State& state) const {
        std::array<Ticks, queues> end = state.free;
        for (const auto& [done, ends] : state.batches) {
            if (ends + left_[done].whole >= shortest_) return false;
            for (std::size_t queue = 0; queue < queues; ++queue)
                end[queue] += left_[done].of_queue[queue];
        }
        return std::all_of(end.begin(), end.end(), [&](Ticks t) { return t < shortest_; });
    }

    void extend(const State& state,
                std::map<std::vector<std::size_t>, std::vector<State>>& next) const {
        for (std::size_t j = 0; j < state.batches.size(); ++j) {
            const auto [done, ends] = state.batches[j];
            if (done == chain_.size()) continue;
            if (j > 0 && state.batches[j - 1] == state.batches[j]) continue;  // its twin did
            State extended = state;
            const Operation& operation = chain_[done];
            Ticks& free = extended.free[operation.queue];
            free = std::max(free, ends) + operation.length;
            extended.batches[j] = {done + 1, free};
            if (!promising(extended)) continue;
            std::sort(extended.batches.begin(), extended.batches.end());
            std::vector<std::size_t> progress;
            for (const auto& batch : extended.batches) progress.push_back(batch.first);
            keep(std::move(extended), next[progress]);
        }
    }

    static void keep(State state, std::vector<State>& states) {
        for (const State& other : states)
            if (other.no_later_than(state)) return;
        states.erase(std::remove_if(states.begin(), states.end(),
                                    [&](const State& other) { return state.no_later_than(other); }),
                     states.end());
        states.push_back(std::move(state));
    }

    std::vector<Operation> chain_;
    std::vector<Left> left_;  // of a micro-batch that has done so many tasks
    Ticks shortest_ = 0;
    State start_;
};

void require_unmoved(const StepShape& step) {
    if (std::any_of(step.offload.begin(), step.offload.end(), [](int moved) { return moved > 0; }))
        throw std::invalid_argument("orders are compared without offloaded experts");
}

}  // namespace

Ticks shortest_step(const TaskTimes& times, const StepShape& step) {
    require_unmoved(step);
    return AllOrders(times, step).shortest();
}

QueueOrders with_transfers_in_turn(QueueOrders orders, const StepShape& step) {
    require_unmoved(step);
    auto& [attention, expert, out, in] = orders;
    out.clear();
    in.clear();
    for (const auto& [kind, layer, micro_batch] : attention) {
        if (kind == TaskKind::AF && layer <= step.layers())
            out.push_back({TaskKind::DF, layer, micro_batch});
        if (kind == TaskKind::AB && layer > 1)
            out.push_back({TaskKind::CB, layer - 1, micro_batch});
    }
    for (const auto& [kind, layer, micro_batch] : expert)
        in.push_back({kind == TaskKind::EF ? TaskKind::CF : TaskKind::DB, layer, micro_batch});
    return orders;
}

}  // namespace assay::hetermoe
