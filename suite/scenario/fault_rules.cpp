// What a plan for a given number of workers must not say.
#include <algorithm>
#include <map>
#include <tuple>

#include "suite/scenario/fault_kinds.hpp"

namespace assay {
namespace {

bool cut_for_good(const Fault& fault) {
    return fault.kind == FaultKind::link && fault.cut && !fault.for_s;
}

// Takes its rank away for certain. A cut that never heals ends with an eviction: of the rank that
// is cut off from everybody, but of either end where it has a peer.
bool departs(const Fault& fault) {
    return fault.kind == FaultKind::kill || fault.kind == FaultKind::stop ||
           (fault.kind == FaultKind::hang && !fault.for_s) || (cut_for_good(fault) && !fault.peer);
}

bool costs_a_worker(const Fault& fault) { return departs(fault) || cut_for_good(fault); }

// Does the fault need this rank to be there?
bool involves(const Fault& fault, int rank) { return fault.rank == rank || fault.peer == rank; }

bool same_clock(const Fault& a, const Fault& b) { return a.step.has_value() == b.step.has_value(); }

[[noreturn]] void refuse(const Fault& fault, const std::string& why) {
    throw ScenarioError("fault '" + to_string(fault) + "': " + why);
}

// A link without peer stands for those of its rank to everybody. Two of them, of different ranks,
// may overlap: two workers with a bad network card each.
bool same_link(const Fault& a, const Fault& b) {
    if (!a.peer) return involves(b, *a.rank);
    if (!b.peer) return involves(a, *b.rank);
    return std::minmax(*a.rank, *a.peer) == std::minmax(*b.rank, *b.peer);
}

bool same_victim(const Fault& a, const Fault& b) {
    return a.kind == FaultKind::link ? same_link(a, b) : a.rank == b.rank;
}

// What a lasting fault keeps its victim in, or null for the other kinds.
const char* lasting_state(FaultKind kind) {
    if (kind == FaultKind::hang) return "hangs";
    if (kind == FaultKind::slow) return "is slow";
    if (kind == FaultKind::link) return "has a link fault there";
    if (kind == FaultKind::disk_full) return "has a full disk";
    return nullptr;
}

// The rules about two faults or more: who is there when.
class PlanRules {
  public:
    PlanRules(const FaultPlan& plan, int workers, const FaultPhases& phases)
        : plan_(plan), workers_(workers), names_(workers), phases_(phases) {
        for (const Fault& fault : plan.faults)
            if (fault.kind == FaultKind::join) names_ += fault.count;
        find_bringers();
    }

    void check() const {
        for (const Fault& fault : plan_.faults) {
            if (!fault.role.empty() || !fault.instance.empty())
                refuse(fault, "workers of a training have neither roles nor names: give a rank");
            if (fault.rank) check_existence(fault, *fault.rank);
            if (fault.peer) check_existence(fault, *fault.peer);
        }
        for (std::size_t i = 0; i < plan_.faults.size(); ++i)
            for (std::size_t j = i + 1; j < plan_.faults.size(); ++j)
                if (plan_.faults[i].rank && plan_.faults[j].rank)
                    check_pair(plan_.faults[i], plan_.faults[j]);
        if (!plan_.empty()) check_someone_stays();
    }

  private:
    // Where a fault lies on one of the two clocks: phases follow their step as they are declared,
    // joins come last.
    using Moment = std::tuple<double, std::size_t>;
    Moment moment(const Fault& fault) const {
        std::size_t inside = 0;
        for (std::size_t i = 0; i < phases_.size(); ++i)
            if (fault.phase == phases_[i].name) inside = i + 1;
        if (fault.kind == FaultKind::join) inside = phases_.size() + 1;
        return {fault.step ? static_cast<double>(*fault.step) : *fault.t_s, inside};
    }

    void sort_by_moment(std::vector<const Fault*>& faults) const {
        std::stable_sort(faults.begin(), faults.end(), [this](const Fault* a, const Fault* b) {
            return moment(*a) < moment(*b);
        });
    }

    // The join that brings each name beyond the initial workers, in the order in which joins fire.
    // Names are certain only where all joins are on one clock.
    void find_bringers() {
        std::vector<const Fault*> joins;
        for (const Fault& fault : plan_.faults)
            if (fault.kind == FaultKind::join) joins.push_back(&fault);
        for (const Fault* join : joins)
            if (!same_clock(*join, *joins.front())) return;
        sort_by_moment(joins);
        int next = workers_;
        for (const Fault* join : joins)
            for (int i = 0; i < join->count; ++i) bringers_[next++] = join;
    }

    // That everyone whom the fault needs exists, and did so by then.
    void check_existence(const Fault& fault, int rank) const {
        if (rank >= names_ || rank < 0)
            refuse(fault, "rank " + std::to_string(rank) + " never exists: there are ranks 0 to " +
                              std::to_string(names_ - 1) +
                              (names_ > workers_ ? ", joins included" : ""));
        const auto join = bringers_.find(rank);
        if (join != bringers_.end() && same_clock(fault, *join->second) &&
            moment(fault) <= moment(*join->second))
            refuse(fault, "rank " + std::to_string(rank) + " does not exist yet: '" +
                              to_string(*join->second) + "' brings it");
    }

    void check_pair(const Fault& a, const Fault& b) const {
        check_departure(a, b);
        check_departure(b, a);
        check_overlap(a, b);
    }

    void check_departure(const Fault& departure, const Fault& other) const {
        if (!departs(departure) || !involves(other, *departure.rank)) return;
        const std::string rank = "rank " + std::to_string(*departure.rank);
        if (departs(other) && other.rank == departure.rank)
            refuse(other, rank + " is already taken away by '" + to_string(departure) + "'");
        if (same_clock(departure, other) && moment(other) >= moment(departure))
            refuse(other, rank + " is gone by then: '" + to_string(departure) + "'");
    }

    void check_overlap(const Fault& a, const Fault& b) const {
        const char* state = lasting_state(a.kind);
        if (!state || a.kind != b.kind || !same_clock(a, b) || !same_victim(a, b)) return;
        const auto& [first, second] = moment(a) <= moment(b) ? std::tie(a, b) : std::tie(b, a);
        if (overlap(first, second))
            refuse(second, "rank " + std::to_string(*second.rank) + " " + state + " already: '" +
                               to_string(first) + "'");
    }

    // On one clock. How long seconds last in steps is unknown: of faults that share the clock of
    // steps and have a `for`, only equal moments overlap for certain.
    bool overlap(const Fault& first, const Fault& second) const {
        if (moment(first) == moment(second)) return true;
        if (!first.for_s) return first.kind != FaultKind::disk_full;  // it lasts one checkpoint
        return first.t_s && *second.t_s < *first.t_s + *first.for_s;
    }

    void check_someone_stays() const {
        std::vector<const Fault*> order;
        long joined = 0, departed = 0;
        bool one_clock = true;
        for (const Fault& fault : plan_.faults) {
            if (fault.kind == FaultKind::join) joined += fault.count;
            if (costs_a_worker(fault)) ++departed;
            if (fault.kind == FaultKind::join || costs_a_worker(fault)) order.push_back(&fault);
            one_clock = one_clock && same_clock(fault, plan_.faults.front());
        }
        if (departed >= workers_ + joined)
            throw ScenarioError("the fault plan takes away all " + std::to_string(departed) +
                                " workers; leave at least one");
        if (!one_clock) return;
        sort_by_moment(order);
        long alive = workers_;
        for (const Fault* fault : order) {
            alive += fault->kind == FaultKind::join ? fault->count : -1;
            if (alive < 1)
                refuse(*fault, "nobody is left at that point; the next join would come too late");
        }
    }

    const FaultPlan& plan_;
    int workers_;
    long names_;  // joins included
    const FaultPhases& phases_;
    std::map<int, const Fault*> bringers_;
};

}  // namespace

void refuse_faults_of_engines(const FaultPlan& plan) {
    static constexpr std::pair<FaultKind, const char*> refused[] = {
        {FaultKind::wipe,
         "a training has no cache of prefixes; engines that answer have one (plato/x_faults)"},
        {FaultKind::gpu_error,
         "a training computes on processors; engines on a driver can lose a GPU (assay campaign "
         "foundry)"}};
    for (const Fault& fault : plan.faults)
        for (const auto& [kind, why] : refused)
            if (fault.kind == kind) refuse(fault, why);
}

void validate(const FaultPlan& plan, int workers, const FaultPhases& phases) {
    if (workers < 1)
        throw ScenarioError("a fault plan needs at least 1 worker, not " + std::to_string(workers));
    for (const Fault& fault : plan.faults)
        if (const std::string wrong = combination_error(fault, phases); !wrong.empty())
            refuse(fault, wrong);
    PlanRules(plan, workers, phases).check();
}

}  // namespace assay
