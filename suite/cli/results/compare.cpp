// assay compare: what changed between two sides, one row per series with a verdict.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "suite/base/encoding.hpp"
#include "suite/base/error.hpp"
#include "suite/base/suggested_command.hpp"
#include "suite/cli/command.hpp"
#include "suite/cli/database.hpp"
#include "suite/cli/results/comparison.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/printable_output.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/compare/deciding.hpp"
#include "suite/compare/read_arm.hpp"
#include "suite/compare/rows_output.hpp"
#include "suite/compare/warnings.hpp"
#include "suite/experiment/value.hpp"
#include "suite/report/comparison/comparison_table.hpp"
#include "suite/report/comparison/measuring_again.hpp"
#include "suite/report/comparison/row_explanation.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::cli {
namespace {

struct CompareOptions {
    std::string a, b, from, margin = "1%", explain, ignored_seed;
    std::vector<std::string> only, metrics, experiments, across, better;
    bool all = false, json = false, csv = false, markdown = false;
};

void refuse_contradictions(const CompareOptions& options) {
    const int formats = int(options.json) + int(options.csv) + int(options.markdown);
    if (formats > 1) throw UserError("give one of --json, --csv, --markdown");
    if (formats > 0 && !options.explain.empty())
        throw UserError("--explain is for people: leave out --json, --csv and --markdown");
    if (!options.only.empty() && !options.explain.empty())
        throw UserError("--explain names its row: leave out --only");
}

/// How to compare what was not.
std::string hidden_note(const Undirected& left_out) {
    if (left_out.series == 0) return {};
    const std::string some = left_out.metrics.size() == 1 ? *left_out.metrics.begin() : "NAME";
    return fmt::format(
        "of {} neither direction is known to be better: --better {}=higher (or lower) compares "
        "it, --all shows it\n",
        left_out.metrics.size() == 1 ? some : std::to_string(left_out.metrics.size()) + " metrics",
        shell_quoted(some));
}

/// What would compare better than these sessions do; "" where nothing would.
std::string versus_hint(const std::vector<compare::Row>& rows, const compare::Arm& a,
                        const compare::Arm& b) {
    constexpr std::size_t most_named = 3;
    std::vector<std::string> experiments = compare::better_in_turns(rows, a, b);
    if (experiments.empty()) return {};
    const bool more = experiments.size() > most_named;
    if (more) experiments.resize(most_named);
    return fmt::format(
        "A and B were measured at different times; measuring in turns tells more: {}\n",
        suggested_line(fmt::format("versus {} {}{}",
                                   compare::is_one_program(a, b) ? "PROGRAM" : "OLD_PROGRAM",
                                   fmt::join(experiments, " "), more ? " …" : "")));
}

/// Rows of what the options ask for. Warnings rest on all rows: real time alone does not show that
/// CPU time went the other way.
std::vector<compare::Row> wanted_rows(compare::Arm& a, compare::Arm& b,
                                      const compare::Options& rules,
                                      const CompareOptions& options) {
    std::map<RowId, std::vector<std::string>> warnings;
    if (!options.experiments.empty() || !options.metrics.empty())
        for (compare::Row& row : compare::compare(a, b, rules))
            if (!row.warnings.empty()) warnings[row.id] = std::move(row.warnings);
    keep_only(a, b, options.experiments, options.metrics);
    std::vector<compare::Row> rows = compare::compare(a, b, rules);
    for (compare::Row& row : rows)
        if (const auto found = warnings.find(row.id); found != warnings.end())
            row.warnings = found->second;
    compare::warn_of_circumstances(rows, a, b);
    return rows;
}

/// More lines than people read.
constexpr std::size_t most_shown = 400;

/// Rows of experiments that one side lacks, where they are many and not asked for: one
/// sentence tells them.
std::vector<const compare::Row*> told_apart(const std::vector<compare::Row>& rows,
                                            const CompareOptions& options) {
    constexpr std::size_t few = 10;
    auto apart = compare::of_one_side(rows);
    if (apart.size() <= few || !options.only.empty()) apart.clear();
    return apart;
}

/// What would decide what is ambiguous; "" where more of it would not.
std::string deciding_line(const Registry& registry, const std::vector<compare::Row>& rows,
                          const compare::Arm& b) {
    const auto deciding = compare::what_would_decide(rows);
    return deciding ? report::deciding_line(*deciding, registry, b) : "";
}

void print_for_people(const std::vector<report::NumberedRow>& shown,
                      const std::vector<compare::Row>& rows, const compare::Arms& arms,
                      const compare::Options& rules, const Undirected& left_out,
                      const CompareOptions& options, const Registry& registry) {
    const auto& [a, b, note] = arms;
    const report::TableLook look{drawing_width(100), colours_wanted()};
    const std::size_t columns = text_columns();
    std::cout << fitted_lines(report::comparison_header(a, b, rules), columns);
    if (!note.empty()) std::cout << hanging("", note, columns);
    if (!options.explain.empty()) {
        for (const report::NumberedRow& row : rows_named(rows, options.explain))
            std::cout << report::row_explanation(row, {a, b, rows, look.columns});
        return;
    }
    if (const std::string sentence = compare::nothing_in_common(rows); !sentence.empty()) {
        std::cout << hanging("", sentence, columns);
        return;
    }
    // Why nothing could be compared, whatever is to be shown.
    const bool nothing = comparison_exit_code(rows) == exit_not_supported;
    const std::vector<const compare::Row*> apart = told_apart(rows, options);
    const auto listed = [&](std::vector<report::NumberedRow> these) {
        std::erase_if(these, [&](const report::NumberedRow& each) {
            return std::find(apart.begin(), apart.end(), each.row) != apart.end();
        });
        return telling_most(std::move(these), most_shown);
    };
    const std::vector<report::NumberedRow> most = listed(shown);
    const bool is_bounded = most.size() + apart.size() < shown.size();
    const std::string summary = fitted_lines(comparison_summary(rows, left_out), columns);
    if (is_bounded) std::cout << summary;
    print_coloured(report::comparison_table(most, look));
    std::cout << report::comparison_reasons(nothing ? listed(numbered(rows, parse_only({}))) : most,
                                            look)
              << report::comparison_warnings(most, look) << summary << versus_hint(rows, a, b);
    if (most.size() < rows.size())
        std::cout << fmt::format(
            "{} of {} rows shown{}\n", most.size(), rows.size(),
            is_bounded ? ", those that tell most; --csv and --json have all" : "");
    if (!apart.empty())
        std::cout << hanging(
            "", compare::one_side_words(apart) + ": --only not-comparable shows them", columns);
    if (nothing && !rows.empty()) std::cout << "nothing of this could be compared\n";
    std::cout << fitted_lines(
        across_hint(rows, rules.across) + hidden_note(left_out) + deciding_line(registry, rows, b),
        columns);
}

std::string markdown(const Registry& registry, const std::vector<compare::Row>& rows,
                     const std::vector<compare::Row>& chosen, const compare::Arm& b) {
    const std::string sentence = compare::nothing_in_common(rows);
    return sentence.empty() ? compare::rows_markdown(chosen, deciding_line(registry, rows, b))
                            : report::markdown_cell(sentence) + '\n';
}

/// Other programs read the rows; who reads them is told here why there are none.
void tell_why_nothing(const std::vector<compare::Row>& rows, std::size_t shown,
                      const compare::Options& rules, const std::string& hidden) {
    if (rows.empty()) std::cerr << hidden;
    if (const std::string sentence = compare::nothing_in_common(rows); !sentence.empty())
        return print_line(std::cerr, sentence);
    if (comparison_exit_code(rows) != exit_not_supported || shown == rows.size()) return;
    std::cerr << "nothing of this could be compared\n"
              << report::comparison_reasons(numbered(rows, parse_only({})), {}) << '\n'
              << across_hint(rows, rules.across);
}

int run_compare(const Context& context, const CompareOptions& options) {
    refuse_contradictions(options);
    compare::Options rules;
    rules.margin = parse_margin(options.margin);
    rules.all_metrics = options.all;
    const auto only = parse_only(options.only);
    const auto better = stated_directions(options.better);
    compare::Arms arms = compare::read_arms(context.registry, context.database_path(), options.a,
                                            options.b, options.from);
    auto& [a, b, note] = arms;
    rules.across = checked_across(options.across, a, b);
    state_directions(a, b, better);

    const std::vector<compare::Row> rows = wanted_rows(a, b, rules, options);
    const Undirected left_out = options.all ? Undirected{} : undirected(a, b);
    const std::vector<report::NumberedRow> shown = numbered(rows, only);
    std::vector<compare::Row> chosen;
    for (const report::NumberedRow& each : shown) chosen.push_back(*each.row);
    if (options.json)
        print_json(compare::rows_json(chosen));
    else if (options.csv)
        std::cout << compare::rows_csv(chosen);
    else if (options.markdown)
        std::cout << markdown(context.registry, rows, chosen, b);
    else
        print_for_people(shown, rows, arms, rules, left_out, options, context.registry);
    if (options.json || options.csv || options.markdown) {
        if (!note.empty()) print_line(std::cerr, note);
        tell_why_nothing(rows, shown.size(), rules, hidden_note(left_out));
    }
    return comparison_exit_code(rows);
}

constexpr const char* compare_footer = R"(A and B are each one of
  FILE.json            what a benchmark tool wrote: Google Benchmark (--benchmark_out=FILE),
                       hyperfine, pytest-benchmark, nvbench … (--from); any name with a '/'
                       or '.', a folder of Criterion's, or a pipe: <(command)
  FILE.db              the newest samples of each series of a database (or FILE.sqlite)
  FILE.db:SELECTOR     what SELECTOR names in that database
  1a2b3c4d             a session, by the start of its id
  latest, latest~1     the session recorded last, the one before (no reruns of nights)
  baseline:NAME        the session accepted under that name
  commit:ABC           the sessions of a commit;  machine:FINGERPRINT  of a machine
  since:7d, since:2026-11-01, between:2026-11-01..2026-11-07   of a time (UTC)
Verdicts rest on the interval of the ratio B/A: inside the margin it is the same,
outside it is faster or slower by what is better for the metric, across its edge
ambiguous. Several sessions of a side count by their medians: it takes about four.
The last line says what would decide what is ambiguous, and how long it takes.
Deterministic metrics must be equal seed by seed. --explain shows why.
Of a counter --better says which way is better; without that it is not compared.
A session that both A and B name counts on one side only.
(!) beside a verdict: read its warning first, such as that real and CPU time of a
benchmark went opposite ways, or that the machine was busy before a side.
Exit codes: 0 nothing slower, 1 usage or infrastructure, 2 a row is slower, or
            failed and did not before, 3 none is, but some are ambiguous,
            4 nothing was comparable (what failed before too is not).
Examples:
  assay compare latest~1 latest
  assay compare baseline:main latest --only regressions --margin 2%
  assay compare old.json new.json --better GFLOPS=higher --explain 3)";

void add_choice_options(CLI::App& command, CompareOptions& options) {
    command
        .add_option("--only", options.only,
                    "regressions, improvements, changes, or a verdict: same, faster, slower, "
                    "ambiguous, not-comparable, failed, failed-before-too (repeatable)")
        ->type_name("WHAT")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->group("What is shown");
    command
        .add_option("--explain", options.explain,
                    "The evidence for a row, by its number or its series")
        ->type_name("ROW")
        ->group("What is shown");
    command.add_option("--metric", options.metrics, "Only this metric (repeatable; * and ?)")
        ->type_name("NAME")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->group("What is shown");
    command
        .add_option("--experiment", options.experiments,
                    "Only this experiment or benchmark (repeatable; * and ?)")
        ->type_name("ID")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->group("What is shown");
    command.add_flag("--all", options.all, "Also metrics of which neither direction is better")
        ->group("What is shown");
}

void add_rule_options(CLI::App& command, CompareOptions& options) {
    command.add_option("--margin", options.margin, "Smaller changes do not matter: 2% or 0.02")
        ->type_name("SHARE")
        ->capture_default_str()
        ->group("How");
    command
        .add_option("--across", options.across,
                    "Compare although this differs: hardware, profile, provenance, scenario, "
                    "calibration, data, num_cpus … (repeatable)")
        ->type_name("KEY")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->group("How");
    command
        .add_option("--better", options.better,
                    "Which way of a metric is better, GFLOPS=higher (repeatable; NAME=lower)")
        ->type_name("NAME=WAY")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->group("How");
    command
        .add_option("--from", options.from,
                    "The format of files, where it is not recognised (assay import --help)")
        ->type_name("FORMAT")
        ->group("How");
    // Of the bootstrap that once was; old scripts may still give it. No interval draws lots now.
    command.add_option("--seed", options.ignored_seed)->group("");
}

}  // namespace

void add_compare_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<CompareOptions>();
    CLI::App* command =
        program.add_subcommand("compare", "What became faster or slower from A to B");
    command->group("Results");
    command->add_option("A", options->a, "What is compared with: see below")->required();
    command->add_option("B", options->b, "What is compared: see below")->required();
    add_choice_options(*command, *options);
    add_rule_options(*command, *options);
    command->add_flag("--json", options->json,
                      "[{\"series\",\"metric\",\"unit\",\"ratio\",\"low\",\"high\",\"n_a\","
                      "\"n_b\",\"verdict\",\"reason\",\"id\",\"name\",\"warnings\",\"errors\"}]");
    command->add_flag("--csv", options->csv, "The same columns as CSV");
    command->add_flag("--markdown", options->markdown,
                      "The counts and a table for Markdown, below 65,536 characters");
    add_database_option(*command, context);
    command->footer(compare_footer);
    command->callback([options, &context] {
        context.action = [options, &context] { return run_compare(context, *options); };
    });
}

}  // namespace assay::cli
