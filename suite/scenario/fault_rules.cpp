// What a fault, and a plan for a given number of workers, must not say.
#include <algorithm>
#include <map>
#include <tuple>

#include "suite/scenario/fault_limits.hpp"

namespace assay {
namespace {

bool departs(const Fault& fault) {
    return fault.kind == FaultKind::kill || fault.kind == FaultKind::stop ||
           (fault.kind == FaultKind::hang && !fault.for_s);
}

// Where a fault lies on one of the two clocks; joins come last, regroups follow steps.
using Moment = std::tuple<double, int>;
Moment moment(const Fault& fault) {
    int inside = fault.phase == "regroup" ? 1 : fault.phase == "transfer" ? 2 : 0;
    if (fault.kind == FaultKind::join) inside = 3;
    return {fault.step ? static_cast<double>(*fault.step) : *fault.t_s, inside};
}

bool same_clock(const Fault& a, const Fault& b) { return a.step.has_value() == b.step.has_value(); }

[[noreturn]] void refuse(const Fault& fault, const std::string& why) {
    throw ScenarioError("fault '" + to_string(fault) + "': " + why);
}

void check_pair(const Fault& a, const Fault& b) {
    if (departs(a) && departs(b))
        refuse(b, "rank " + std::to_string(*b.rank) + " is already taken away by '" + to_string(a) +
                      "'");
    if (!same_clock(a, b)) return;
    const auto check_hang_after = [](const Fault& departure, const Fault& hang) {
        if (departs(departure) && hang.kind == FaultKind::hang && moment(hang) >= moment(departure))
            refuse(hang, "rank " + std::to_string(*hang.rank) + " is gone by then: '" +
                             to_string(departure) + "'");
    };
    check_hang_after(a, b);
    check_hang_after(b, a);
    if (a.kind != FaultKind::hang || b.kind != FaultKind::hang) return;
    const auto& [first, second] = moment(a) <= moment(b) ? std::tie(a, b) : std::tie(b, a);
    const bool same_moment = moment(first) == moment(second);
    const bool still_hung = first.t_s && first.for_s && *second.t_s < *first.t_s + *first.for_s;
    if (same_moment || still_hung)
        refuse(second, "rank " + std::to_string(*second.rank) + " hangs already: '" +
                           to_string(first) + "'");
}

// The join that brings each name beyond the initial workers, in the order in which joins fire.
// Names are certain only where all joins are on one clock.
std::map<int, const Fault*> bringers(const FaultPlan& plan, int workers) {
    std::vector<const Fault*> joins;
    for (const Fault& fault : plan.faults)
        if (fault.kind == FaultKind::join) joins.push_back(&fault);
    for (const Fault* join : joins)
        if (!same_clock(*join, *joins.front())) return {};
    std::stable_sort(joins.begin(), joins.end(),
                     [](const Fault* a, const Fault* b) { return moment(*a) < moment(*b); });
    std::map<int, const Fault*> bringer;
    int next = workers;
    for (const Fault* join : joins)
        for (int i = 0; i < join->count; ++i) bringer[next++] = join;
    return bringer;
}

void check_someone_stays(const FaultPlan& plan, int workers) {
    std::vector<const Fault*> order;
    long joined = 0, departed = 0;
    bool one_clock = true;
    for (const Fault& fault : plan.faults) {
        if (fault.kind == FaultKind::join) joined += fault.count;
        if (departs(fault)) ++departed;
        if (fault.kind == FaultKind::join || departs(fault)) order.push_back(&fault);
        one_clock = one_clock && same_clock(fault, plan.faults.front());
    }
    if (departed >= workers + joined)
        throw ScenarioError("the fault plan takes away all " + std::to_string(departed) +
                            " workers; leave at least one");
    if (!one_clock) return;
    std::stable_sort(order.begin(), order.end(),
                     [](const Fault* a, const Fault* b) { return moment(*a) < moment(*b); });
    long alive = workers;
    for (const Fault* fault : order) {
        alive += fault->kind == FaultKind::join ? fault->count : -1;
        if (alive < 1)
            refuse(*fault, "nobody is left at that point; the next join would come too late");
    }
}

}  // namespace

std::optional<FaultKind> parse_fault_kind(std::string_view text) {
    for (const FaultKind kind :
         {FaultKind::kill, FaultKind::hang, FaultKind::stop, FaultKind::join})
        if (to_string(kind) == text) return kind;
    return std::nullopt;
}

bool is_fault_phase(std::string_view text) {
    return text == "step" || text == "regroup" || text == "transfer";
}

std::string combination_error(const Fault& fault, bool count_given) {
    const std::string kind(to_string(fault.kind));
    if (fault.kind == FaultKind::join) {
        if (fault.rank) return "a join takes no rank: the newcomer gets the next free name";
        if (!fault.phase.empty()) return "a join takes no phase: it waits until the step ends";
    } else {
        if (!fault.rank) return kind + " needs a rank, for example " + kind + ":rank=1@step=5";
        if (count_given) return "only a join takes 'count'";
    }
    if (fault.for_s && fault.kind != FaultKind::hang) return "only a hang takes 'for'";
    if (fault.kind == FaultKind::stop && !fault.phase.empty())
        return "a stop takes no phase: the worker finishes its step and leaves";
    if (!fault.step && !fault.t_s) return "needs a step or a time, for example @step=5";
    if (fault.step && fault.t_s) return "takes a step or a time, not both";
    return "";
}

void validate(const FaultPlan& plan, int workers) {
    if (workers < 1)
        throw ScenarioError("a fault plan needs at least 1 worker, not " + std::to_string(workers));
    long names = workers;
    for (const Fault& fault : plan.faults) {
        if (const std::string wrong = combination_error(fault, fault.count != 1); !wrong.empty())
            refuse(fault, wrong);
        if (fault.kind == FaultKind::join) names += fault.count;
    }
    const std::map<int, const Fault*> bringer = bringers(plan, workers);
    for (const Fault& fault : plan.faults) {
        if (!fault.rank) continue;
        if (*fault.rank >= names || *fault.rank < 0)
            refuse(fault, "rank " + std::to_string(*fault.rank) +
                              " never exists: there are ranks 0 to " + std::to_string(names - 1) +
                              (names > workers ? ", joins included" : ""));
        const auto join = bringer.find(*fault.rank);
        if (join != bringer.end() && same_clock(fault, *join->second) &&
            moment(fault) <= moment(*join->second))
            refuse(fault, "rank " + std::to_string(*fault.rank) + " does not exist yet: '" +
                              to_string(*join->second) + "' brings it");
    }
    for (std::size_t i = 0; i < plan.faults.size(); ++i)
        for (std::size_t j = i + 1; j < plan.faults.size(); ++j)
            if (plan.faults[i].rank && plan.faults[i].rank == plan.faults[j].rank)
                check_pair(plan.faults[i], plan.faults[j]);
    if (!plan.empty()) check_someone_stays(plan, workers);
}

}  // namespace assay
