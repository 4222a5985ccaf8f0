// The outcome of a night as plain data: what every report (JUnit, Markdown, annotations, HTML,
// JSON) is made from.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "suite/base/describe.hpp"
#include "suite/compare/compare.hpp"
#include "suite/gate/confirmation.hpp"

namespace assay::gate {

/// One gated row of a night.
struct NightRow {
    compare::Row against_baseline;  ///< arms' pointers are null once stored
    /// The suite's. That of against_baseline is wider where the row's own nights differ by more;
    /// reruns in turns do not see what nights differ in.
    double margin = 0;
    std::optional<double> history_change;     ///< |change| against its own history; nullopt: short
    std::optional<double> history_threshold;  ///< Q3 + 3 IQR
    bool candidate = false;                   ///< suspicious before the reruns
    std::optional<compare::Row> rerun;        ///< paired old against new, when it was rerun
    bool rerun_paired = false;                ///< the baseline's binary was still there
    bool budget_ended = false;                ///< the rerun budget was spent before it was decided
    Evidence evidence = Evidence::none;
    Step step;
    bool muted = false;
    std::string mute;                ///< by whom, since and until when, why: a clause
    bool rerun_for_mean = false;     ///< no candidate, but all rows together looked slower
    double relative_to_control = 0;  ///< slowdown of this row over that of the control; 0: none ran
    /// What the program says of the row where it has no value: why it was skipped, or failed.
    std::string not_run;
    double seconds = 0;  ///< its share of the time that the samples of its series took, reruns too
};

enum class NightVerdict {
    clean,        ///< exit 0; warnings are possible: single rows that are only candidates
    no_baseline,  ///< exit 0: nothing was accepted yet, so that nothing can be judged
    error,        ///< exit 1: something could not be run at all
    regression,   ///< exit 2: a confirmed regression, or the geometric mean beyond the margin, or
                  ///< below a level
    ambiguous,    ///< exit 3: nothing confirmed, but too little could be decided, or nothing
};
ASSAY_NAMES(NightVerdict, clean, (no_baseline, "no-baseline"), error, regression, ambiguous)

/// Of the machine or its software, since the baseline's session.
struct MachineChange {
    std::string name, before, after;  ///< "kernel", "6.1.0", "6.12.3"
};

struct Night {
    std::string suite, id, started, session, baseline_session, machine, commit;
    std::string host;
    std::vector<MachineChange> machine_changes;
    /// Of what the suite's programs were made, by the names of their entries; of those that say so.
    std::map<std::string, std::string> program_commits;
    std::string baseline;  ///< its name; usually that of the suite
    int nights_before = 0;
    double margin = 0.02;  ///< the suite's, relative
    std::vector<NightRow> rows;
    /// Ids of experiments that the plan left out although the baseline has rows of them.
    std::vector<std::string> left_out;
    std::vector<std::string> failures;     ///< what could not be run, a sentence each
    std::vector<std::string> below_level;  ///< rows that do not reach their level, a sentence each
    int levels_reached = 0;                ///< rows that do
    std::vector<std::string> warnings;     ///< doctor's, excluded samples
    /// Of slowdown over the rows that were compared: above 1 is slower, whichever way of a metric
    /// is better. Where a control workload ran, in units of its slowdown. nullopt: fewer than three
    /// rows count in it.
    std::optional<double> geometric_mean;
    std::optional<double> median_slowdown;  ///< of the same rows, in the same units
    /// Median slowdown of the rows that were rerun in turns, the old program against this one; a
    /// slow machine is not in it. nullopt: fewer than three.
    std::optional<double> rerun_slowdown;
    std::map<std::string, double> control;  ///< metric → slowdown against the baseline's night
    double seconds = 0;                     ///< that all samples took, and the reruns
    NightVerdict verdict = NightVerdict::clean;
};
int exit_code(NightVerdict);

}  // namespace assay::gate
