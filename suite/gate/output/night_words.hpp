// The words that all reports of a night share, so that none of them can contradict another.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "suite/gate/night.hpp"
#include "suite/report/text/row_name.hpp"

namespace assay::gate {

/// In the order in which reports show them: what fails the build first.
enum class Heading {
    regression,  ///< confirmed
    candidate,   ///< slower tonight, to be confirmed
    fixed,       ///< was a confirmed regression
    faster,
    taken_back,     ///< suspicious at first, but its reruns said otherwise
    muted,          ///< by a person, whatever it says
    informational,  ///< two clusters or no direction: shown, never judged
    undecided,
    not_compared,
    same,
};
constexpr int heading_count = 10;
std::string_view title(Heading);  ///< "Confirmed regressions"
Heading heading(const NightRow&);

/// The rows of a night under their headings (index: the heading), the worst first.
std::vector<std::vector<const NightRow*>> by_heading(const Night&);

/// What the night's rows are called: "lte/fig8 lte sparsity=0.5 · latency_s"; of a benchmark
/// program "benchmark/planner BM_plan/8".
report::RowNames names_of(const Night&);

/// Puts the reasons of rows that are not compared in the words of a night, with what to do: those
/// of a comparison speak of A and B. Needs `baseline` and `baseline_session`, and the arms'
/// pointers.
void say_reasons(Night&);

/// What a person types to have the row judged: "`assay baseline accept cpu --series 'ROW'`".
std::string accept_command(const Night&, const std::string& row);
/// `options`: " --series ROW".
std::string accept_command(const std::string& baseline, const std::string& options = "");

/// Why the row is where it is: its mute, else its step; may be empty.
std::string why_words(const NightRow&);

/// "6.8 % slower", "2.1 % faster", "equal"; "ratio 1.2" without direction; "no ratio".
std::string change_words(const compare::Row&);
/// "1.068 [1.059, 1.074]", ratio of tonight over the baseline; the interval where there is one.
std::string ratio_words(const compare::Row&);

/// Evidence of one row, a sentence each: the comparison, its history, the reruns, the control, the
/// life cycle.
std::vector<std::string> evidence(const NightRow&);

/// "kernel 6.1.0 → 6.12.3; governor performance → powersave"; empty: nothing changed.
std::string machine_changes_words(const std::vector<MachineChange>&);

/// Where a report says that all rows and sentences are which it leaves out.
inline constexpr std::string_view where_all_are = "the HTML report and the JSON list all";

/// "2 confirmed regressions", "Clean: 61 rows compared, 1 candidate", …
std::string verdict_words(const Night&);
/// "4 muted, 1 undecided": the rows that were not compared, by their Standing; empty: none.
std::string rest_words(const Night&);

/// Facts of the night as name and value: suite, night, commit, machine, baseline, control …
std::vector<std::pair<std::string, std::string>> facts(const Night&);

}  // namespace assay::gate
