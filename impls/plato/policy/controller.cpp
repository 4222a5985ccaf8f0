#include "impls/plato/policy/controller.hpp"

#include <algorithm>
#include <utility>

namespace assay::plato {

std::vector<std::vector<int>> predecessors(Mode mode,
                                           const std::vector<std::vector<int>>& dependencies) {
    if (mode == Mode::sot) return std::vector<std::vector<int>>(dependencies.size());
    if (mode != Mode::waves) return dependencies;
    std::vector<int> depths;  // dependencies have lower numbers
    for (const auto& list : dependencies) {
        int depth = 0;
        for (const int before : list)
            depth = std::max(depth, depths[static_cast<std::size_t>(before - 1)] + 1);
        depths.push_back(depth);
    }
    std::vector<std::vector<int>> before(dependencies.size());
    for (std::size_t node = 0; node < depths.size(); ++node)
        for (std::size_t other = 0; other < depths.size(); ++other)
            if (depths[other] < depths[node]) before[node].push_back(static_cast<int>(other) + 1);
    return before;
}

void Controller::on(const Event& event, Actions& actions) {
    std::visit([&](const auto& which) { handle(which, actions); }, event);
}

void Controller::handle(const NodeAnnounced& event, Actions&) {
    nodes_.push_back({.out_tokens = event.out_tokens,
                      .dependencies = event.dependencies,
                      .predecessors = event.dependencies});
}

void Controller::handle(const PlanEnded&, Actions&) {
    ended_ = true;
    std::vector<std::vector<int>> dependencies;
    for (const Node& node : nodes_) dependencies.push_back(node.dependencies);
    auto before = predecessors(mode_, dependencies);
    for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i].predecessors = std::move(before[i]);
}

void Controller::handle(const NodeFinished& event, Actions&) {
    nodes_[static_cast<std::size_t>(event.node - 1)].finished = true;
    ++finished_;
}

void Controller::handle(const StepBegins& event, Actions& actions) {
    std::vector<int> ready = ready_nodes();
    std::vector<std::int64_t> rank;
    for (int room = event.room; room > 0 && !ready.empty(); --room) {
        // What a node started just now has cached changes what is cached of the others.
        if (rank.empty() || order_ == Order::prefix) rank = ranks(ready, actions);
        const auto first = std::max_element(rank.begin(), rank.end()) - rank.begin();
        const int number = ready[static_cast<std::size_t>(first)];
        ready.erase(ready.begin() + first);
        rank.erase(rank.begin() + first);
        nodes_[static_cast<std::size_t>(number - 1)].started = true;
        actions.start(number);
    }
}

// Ascending.
std::vector<int> Controller::ready_nodes() const {
    std::vector<int> ready;
    if (mode_ != Mode::plato && !ended_) return ready;
    for (int number = 1; number <= static_cast<int>(nodes_.size()); ++number) {
        const auto& before = node(number).predecessors;
        if (!node(number).started && std::all_of(before.begin(), before.end(),
                                                 [&](int other) { return node(other).finished; }))
            ready.push_back(number);
    }
    return ready;
}

// The highest goes first; of equal ones the first.
std::vector<std::int64_t> Controller::ranks(const std::vector<int>& ready,
                                            const Actions& actions) const {
    std::vector<std::int64_t> ranks(ready.size(), 0);
    if (order_ == Order::index || ready.size() < 2) return ranks;
    const auto paths = order_ == Order::path ? remaining_paths() : std::vector<std::int64_t>();
    for (std::size_t i = 0; i < ready.size(); ++i)
        ranks[i] = order_ == Order::path ? paths[static_cast<std::size_t>(ready[i] - 1)]
                                         : actions.cached_tokens(ready[i]);
    return ranks;
}

// Of each announced node: its answer's tokens and the most of such a sum among those that depend on
// it; in Skeleton-of-Thought nothing does.
std::vector<std::int64_t> Controller::remaining_paths() const {
    std::vector<std::int64_t> paths(nodes_.size(), 0);
    for (std::size_t i = nodes_.size(); i-- > 0;) {
        paths[i] += nodes_[i].out_tokens;
        if (mode_ == Mode::sot) continue;
        for (const int before : nodes_[i].dependencies) {
            auto& path = paths[static_cast<std::size_t>(before - 1)];
            path = std::max(path, paths[i]);
        }
    }
    return paths;
}

}  // namespace assay::plato
