#include "suite/cli/run/warnings_before_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "suite/cli/terminal/live_progress.hpp"
#include "suite/cli/terminal/printable_output.hpp"
#include "suite/measure/machine_findings.hpp"
#include "suite/runner/sample/stored_sample.hpp"

namespace assay::cli {
namespace {

using measure::Finding;
using measure::Level;

/// Twenty ticks of the kernel's count of processor time: with fewer, a process that happens to get
/// one of them seems busy.
constexpr double look_before_run_s = 0.2;
constexpr double look_while_waiting_s = 0.5;
constexpr double quiet_s = 2;

bool warns(const std::vector<Finding>& findings, const char* name) {
    return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
        return finding.name == name && finding.level != Level::ok;
    });
}

void drop(std::vector<Finding>& findings, const char* name) {
    std::erase_if(findings, [&](const Finding& finding) { return finding.name == name; });
}

/// Tells on standard error: on a terminal one line that is written over, else the first time only.
class WaitingLine {
  public:
    explicit WaitingLine(double most_s) : most_s_(most_s) {}
    WaitingLine(const WaitingLine&) = delete;
    WaitingLine& operator=(const WaitingLine&) = delete;
    ~WaitingLine() {
        if (drawn_ && on_terminal_) overwrite_line("");
    }

    /// "waiting WHAT (7 of at most 20 s)"
    void on(double waited_s, const std::string& what) {
        if (drawn_ && !on_terminal_) return;
        drawn_ = true;
        const std::string text =
            fmt::format("waiting {} ({:.0f} of at most {:.0f} s)", what, waited_s, most_s_);
        if (on_terminal_)
            overwrite_line(text);
        else
            print_line(std::cerr, text);
    }

  private:
    double most_s_;
    bool on_terminal_ = terminal_width() > 0, drawn_ = false;
};

bool became_quiet(double most_s) {
    WaitingLine line(most_s);
    return wait_until_quiet(
        {look_while_waiting_s, [] { return measure::disturbing_processes(look_while_waiting_s); },
         [&](double waited_s, const std::vector<measure::BusyProcess>& busy) {
             line.on(waited_s, fmt::format("{}until the machine is quiet",
                                           busy.empty() ? "" : "for " + busy.front().name + " "));
         }},
        most_s);
}

/// The load of the last minute tells of what is over, too: where nothing is busy any more, it is no
/// warning.
std::vector<Finding> findings_once_settled(double settle_s) {
    std::vector<Finding> findings = measure::machine_findings(look_before_run_s);
    if (settle_s <= 0 || !(warns(findings, "load") || warns(findings, "processes")))
        return findings;
    const bool quiet = became_quiet(settle_s);
    findings = measure::machine_findings(look_before_run_s);
    if (quiet && !warns(findings, "processes")) drop(findings, "load");
    return findings;
}

}  // namespace

std::optional<runner::MachineLock> lock_machine(const runner::Plan& plan, bool wanted,
                                                const std::string& command, double wait_s) {
    std::optional<runner::MachineLock> lock;
    if (!wanted || !runner::depends_on_machine(plan)) return lock;
    WaitingLine line(wait_s);
    runner::LockWait wait;
    wait.most_s = wait_s;
    wait.tell = [&](double waited_s, const std::string& holder) {
        line.on(waited_s, "for the machine, which another measured run has: " + holder);
    };
    lock.emplace(runner::MachineLock::default_path(), command.empty() ? "assay" : command, wait);
    return lock;
}

bool wait_until_quiet(const QuietWait& wait, double most_s) {
    double waited_s = 0, quiet_so_far_s = 0;
    while (waited_s < most_s) {
        const std::vector<measure::BusyProcess> busy = wait.look();
        waited_s += wait.look_s;
        quiet_so_far_s = busy.empty() ? quiet_so_far_s + wait.look_s : 0;
        if (quiet_so_far_s >= quiet_s) return true;
        wait.tell(waited_s, busy);
    }
    return false;
}

std::optional<std::string> warnings_before_run(const runner::Plan& plan, double settle_s) {
    if (!runner::depends_on_machine(plan)) return std::nullopt;
    std::string names;
    for (const Finding& finding : findings_once_settled(settle_s)) {
        if (finding.level == Level::ok) continue;
        print_line(std::cerr, fmt::format("[{}] {}: {}", to_string(finding.level), finding.name,
                                          finding.says));
        names += (names.empty() ? "" : ", ") + finding.name;
    }
    return names;
}

}  // namespace assay::cli
