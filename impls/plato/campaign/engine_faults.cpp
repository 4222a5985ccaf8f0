#include "impls/plato/campaign/engine_faults.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "suite/base/error.hpp"

namespace assay::plato {
namespace {

bool earlier(const Fault& a, const Fault& b) { return *a.t_s < *b.t_s; }

bool known(FaultKind kind) {
    return kind == FaultKind::kill || kind == FaultKind::hang || kind == FaultKind::slow ||
           kind == FaultKind::corrupt || kind == FaultKind::wipe;
}

}  // namespace

void check_faults(std::span<const Fault> faults) {
    for (const Fault& fault : faults) {
        if (!known(fault.kind) || (fault.kind == FaultKind::corrupt && fault.target != "message"))
            throw UserError(fmt::format(
                "fault '{}': engines know kill, hang, slow, corrupt:target=message and wipe",
                to_string(fault)));
        if (!fault.t_s || !fault.rank)
            throw UserError(
                fmt::format("fault '{}': engines count no common steps; give a time, @t=SECONDS",
                            to_string(fault)));
    }
}

void sort_by_time(std::vector<Fault>& faults) {
    std::stable_sort(faults.begin(), faults.end(), earlier);
}

void strike_later(std::vector<Fault>& faults, const Fault& fault) {
    faults.insert(std::upper_bound(faults.begin(), faults.end(), fault, earlier), fault);
}

Fault end_of_slowness(const Fault& fault, double struck_s) {
    Fault end = fault;
    end.t_s = struck_s + fault.for_s.value_or(0);
    end.factor = 1;
    end.for_s.reset();
    return end;
}

Fault engine_fault(FaultKind kind, double at_s, int engine) {
    Fault fault;
    fault.kind = kind;
    fault.t_s = at_s;
    fault.rank = engine;
    if (kind == FaultKind::corrupt) fault.target = "message";
    return fault;
}

}  // namespace assay::plato
