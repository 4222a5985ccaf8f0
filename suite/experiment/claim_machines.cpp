#include "suite/experiment/claim_machines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

bool holds(const ClaimCheck& check) {
    return check.verdict == Verdict::supported || check.verdict == Verdict::calibrated;
}

int rank(const ClaimCheck& check) {
    if (check.verdict == Verdict::contradicted) return 0;
    if (check.verdict == Verdict::open_discrepancy) return 1;
    return holds(check) ? 2 : 3;
}

bool less_favourable(const Finding& one, const Finding& other) {
    const int a = rank(one.check), b = rank(other.check);
    if (a != b) return a < b;
    // A NaN is the least favourable of all.
    return one.slack < other.slack || (std::isnan(one.slack) && !std::isnan(other.slack));
}

std::string name(const MachineFinding& machine) {
    const std::string_view fingerprint =
        machine.hardware.empty() ? "no machine" : short_hash(machine.hardware);
    return machine.host.empty() ? std::string(fingerprint)
                                : fmt::format("{} ({})", fingerprint, machine.host);
}

std::string names(const std::vector<MachineFinding>& machines, bool that_hold) {
    std::string text;
    for (const MachineFinding& machine : machines)
        if (holds(machine.finding.check) == that_hold)
            text += (text.empty() ? "" : ", ") + name(machine);
    return text;
}

}  // namespace

const Finding& least_favourable(std::span<const Finding> findings) {
    return *std::min_element(findings.begin(), findings.end(), less_favourable);
}

ClaimCheck over_machines(std::vector<MachineFinding> findings) {
    const auto worst = std::min_element(
        findings.begin(), findings.end(),
        [](const auto& a, const auto& b) { return less_favourable(a.finding, b.finding); });
    ClaimCheck check = worst->finding.check;
    if (findings.size() == 1) return check;
    const std::string on = names(findings, true), not_on = names(findings, false);
    if (!on.empty() && !not_on.empty())
        check.reason = fmt::format("holds on {}, not on {}; on {}: {}", on, not_on, name(*worst),
                                   check.reason);
    else
        check.reason = fmt::format("{} on all {} machines ({}); on {}: {}",
                                   on.empty() ? "does not hold" : "holds", findings.size(),
                                   on.empty() ? not_on : on, name(*worst), check.reason);
    return check;
}

}  // namespace assay
