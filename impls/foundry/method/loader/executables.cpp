#include "impls/foundry/method/loader/executables.hpp"

#include <algorithm>
#include <stdexcept>

namespace assay::foundry {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

}  // namespace

double seconds(Make make, const Costs& costs) {
    switch (make) {
        case Make::nothing:
        case Make::plain:
            return 0;
        case Make::update:
            return costs.update;
        case Make::own:
            return costs.rewrite + costs.instantiate;
        case Make::build:
            return costs.build + costs.instantiate;
        case Make::capture:
            return costs.capture;
    }
    return 0;
}

Executables::Executables(Mode mode, std::span<const std::size_t> group_of)
    : mode_(mode),
      group_of_(group_of.begin(), group_of.end()),
      owns_(group_of.size()),
      made_(group_of.size(), Make::nothing),
      least_(group_of.size(), Make::update) {
    const std::size_t groups = group_of.empty() ? 0 : 1 + *std::ranges::max_element(group_of_);
    template_of_.assign(groups, none);
    holds_.assign(groups, none);
    for (std::size_t graph = group_of_.size(); graph-- > 0;) template_of_[group_of_[graph]] = graph;
}

bool Executables::is_template(std::size_t graph) const { return template_of(graph) == graph; }

std::size_t Executables::template_of(std::size_t graph) const {
    return template_of_[group_of_.at(graph)];
}

std::vector<Executables::Task> Executables::before_ready() const {
    std::vector<Task> tasks;
    for (std::size_t graph = 0; graph < group_of_.size(); ++graph) {
        switch (mode_) {
            case Mode::eager:
            case Mode::lazy_capture:
                break;
            case Mode::capture:
                tasks.push_back({graph, Make::capture});
                break;
            case Mode::no_templates:
            case Mode::relocate:
                tasks.push_back({graph, Make::build});
                break;
            case Mode::r1:
            case Mode::r2:
            case Mode::r3_lazy:
                if (is_template(graph)) tasks.push_back({graph, Make::build});
                break;
            case Mode::r3_eager:
                tasks.push_back({graph, is_template(graph) ? Make::build : Make::own});
                break;
            case Mode::dedup:
                if (is_template(graph)) tasks.push_back({graph, Make::capture});
                break;
        }
    }
    return tasks;
}

Make Executables::usual(std::size_t graph) const {
    switch (mode_) {
        case Mode::eager:
            return Make::plain;
        case Mode::capture:
        case Mode::lazy_capture:
            return Make::capture;
        case Mode::no_templates:
        case Mode::relocate:
            return Make::build;
        case Mode::r1:
        case Mode::r2:
        case Mode::dedup:
            // Without the group's executable there is nothing to update.
            if (holds_[group_of_[graph]] != none) return Make::update;
            if (mode_ == Mode::dedup) return Make::capture;
            // One whose update failed has the template that was to be updated to it.
            return least_[graph] > Make::update ? Make::own : Make::build;
        case Mode::r3_lazy:
        case Mode::r3_eager:
            return is_template(graph) ? Make::build : Make::own;
    }
    return Make::plain;
}

Make Executables::next(std::size_t graph) const {
    if (owns_.at(graph)) return Make::nothing;
    const Make make = std::max(usual(graph), least_[graph]);
    if (make == Make::update && holds_[group_of_[graph]] == graph) return Make::nothing;
    // No template to rewrite, no archive to build of: the step itself is left.
    if (!restores(mode_) && make > Make::update && make < Make::capture) return Make::capture;
    return make;
}

void Executables::made(std::size_t graph, Make make) {
    if (make == Make::nothing || make == Make::plain) return;
    made_.at(graph) = make;
    std::size_t& holds = holds_[group_of_.at(graph)];
    if (make == Make::update) {
        holds = graph;
        return;
    }
    ++instantiated_;
    // A shared executable is the group's until it is updated to another graph.
    if (shares(mode_) && holds == none)
        holds = graph;
    else
        owns_[graph] = true;
}

void Executables::failed(std::size_t graph, Make make) {
    if (make == Make::plain) throw std::logic_error("there is no way after plain launches");
    if (make == Make::nothing) {
        make = made_.at(graph);
        if (!owns_[graph]) holds_[group_of_[graph]] = none;
        owns_[graph] = false;
    }
    // What an update that failed left is not known.
    if (make == Make::update) holds_[group_of_[graph]] = none;
    least_.at(graph) = static_cast<Make>(static_cast<int>(make) + 1);
}

}  // namespace assay::foundry
