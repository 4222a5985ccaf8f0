#include "suite/cli/warnings_before_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "suite/cli/machine_findings.hpp"
#include "suite/runner/stored_sample.hpp"

namespace assay::cli {
namespace {

/// Twenty ticks of the kernel's count of processor time: with fewer, a process that happens to get
/// one of them seems busy.
constexpr double look_before_run_s = 0.2;

}  // namespace

std::optional<std::string> warnings_before_run(const runner::Plan& plan) {
    const bool measures = std::any_of(plan.samples.begin(), plan.samples.end(),
                                      [](const runner::PlannedSample& sample) {
                                          return runner::depends_on_machine(sample.spec.provenance);
                                      });
    if (!measures) return std::nullopt;
    std::string names;
    for (const Finding& finding : machine_findings(look_before_run_s)) {
        if (finding.level == Level::ok) continue;
        std::cerr << fmt::format("[{}] {}: {}\n", to_string(finding.level), finding.name,
                                 finding.says);
        names += (names.empty() ? "" : ", ") + finding.name;
    }
    return names;
}

}  // namespace assay::cli
