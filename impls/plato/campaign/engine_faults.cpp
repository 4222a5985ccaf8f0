#include "impls/plato/campaign/engine_faults.hpp"

#include <fmt/format.h>

#include "suite/base/error.hpp"

namespace assay::plato {
namespace {

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

Fault engine_fault(FaultKind kind, double at_s, int engine) {
    Fault fault;
    fault.kind = kind;
    fault.t_s = at_s;
    fault.rank = engine;
    if (kind == FaultKind::corrupt) fault.target = "message";
    return fault;
}

}  // namespace assay::plato
