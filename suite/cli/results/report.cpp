// assay report: one self-contained HTML file, a figure, or tables as text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "suite/base/encoding.hpp"
#include "suite/base/error.hpp"
#include "suite/base/suggested_command.hpp"
#include "suite/cli/command.hpp"
#include "suite/cli/database.hpp"
#include "suite/cli/results/results_text.hpp"
#include "suite/cli/run/session.hpp"
#include "suite/cli/selection.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/printable_output.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/report/figures/svg_writer.hpp"
#include "suite/report/page/html_page.hpp"
#include "suite/report/text/claims_summary.hpp"
#include "suite/report/text/stored_experiment.hpp"

namespace assay::cli {
namespace {

struct ReportOptions {
    std::vector<std::string> patterns;
    std::string file;  ///< empty: a page in assay-report.html, text on standard output
    bool text = false, gate = false, json = false;
};

enum class Content { page, figure, text };

/// Refuses what cannot be, before anything is read.
Content content_of(const ReportOptions& options) {
    const std::string ending = ending_of(options.file);
    if (ending == ".csv" || ending == ".json")
        throw UserError(fmt::format("-o {}: a report is no {}; {} writes the samples as such",
                                    options.file, ending,
                                    suggested(fmt::format("export --{} -o {}", ending.substr(1),
                                                          shell_quoted(options.file)))));
    expect_ending("-o", options.file, {".html", ".htm", ".svg", ".txt"});
    const bool page = ending == ".html" || ending == ".htm";
    if (options.text && (page || ending == ".svg"))
        throw UserError(fmt::format("--text writes .txt or to the terminal, not {}", ending));
    if (options.text || ending == ".txt") return Content::text;
    return ending == ".svg" ? Content::figure : Content::page;
}

report::SelectedExperiments selected(const Registry& registry, const store::Store* store,
                                     const std::vector<std::string>& patterns) {
    report::SelectedExperiments experiments;
    for (const std::string& pattern : patterns.empty() ? std::vector<std::string>{"all"} : patterns)
        experiments.add(registry, store, pattern);
    return experiments;
}

/// The patterns that name something of the registry; only that has claims.
std::vector<const Claim*> claims_of(const Registry& registry,
                                    const std::vector<std::string>& patterns) {
    std::vector<std::string> known;
    for (const std::string& pattern : patterns) try {
            static_cast<void>(registry.select(pattern));
            known.push_back(pattern);
        } catch (const UnknownExperiment&) {
        }
    if (known.empty() && !patterns.empty()) return {};
    return select_claims(registry, known);
}

/// Every table in full.
std::string as_text(const Context& context, const store::Store& store,
                    const std::vector<const Experiment*>& experiments, bool to_terminal) {
    std::vector<store::Sample> samples;
    std::vector<std::string> ids;
    for (const Experiment* experiment : experiments) {
        for (auto& list :
             {store.newest_samples(experiment->id), store.unsuccessful_samples(experiment->id)})
            samples.insert(samples.end(), list.begin(), list.end());
        ids.push_back(experiment->id);
    }
    const auto checks =
        report::checks_of_today(context.registry, &store, claims_of(context.registry, ids));
    return results_text(context.registry, samples, checks,
                        {.all_metrics = true,
                         .columns = to_terminal ? text_columns() : no_limit,
                         .others = experiments});
}

/// "`assay run lte/fig8` makes some"; of what cannot run by its defaults, as a benchmark whose
/// program has to be named, what says how.
std::string what_makes_samples(const Experiment& experiment, const char* example) {
    const bool must_be_told = std::any_of(experiment.axes.begin(), experiment.axes.end(),
                                          [](const Axis& axis) { return axis.values.empty(); });
    return must_be_told ? suggested("describe " + experiment.id) + " says what makes some"
                        : suggested("run " + experiment.id) + example + " makes some";
}

/// Where nothing was named: which command shows the samples of what is not asked for unnamed.
std::string shown_if_named(const store::Store& store) {
    const std::vector<std::string> ids = store.experiments();
    if (ids.empty()) return {};
    if (ids.size() == 1)
        return fmt::format("; it has samples of {}: {} shows them", ids.front(),
                           suggested("report " + shell_quoted(ids.front())));
    std::set<std::string> patterns;
    for (const std::string& id : ids) {
        const auto slash = id.find('/');
        patterns.insert(shell_quoted(slash == id.npos ? id : id.substr(0, slash) + "/*"));
    }
    return fmt::format("; it has samples of {} others, {} …: {} shows them", ids.size(),
                       ids.front(), suggested(fmt::format("report {}", fmt::join(patterns, " "))));
}

std::string left_out_line(std::size_t left_out, const std::vector<const Experiment*>& asked,
                          const std::vector<const Experiment*>& found) {
    if (left_out == 0) return {};
    const auto first = std::find_if(asked.begin(), asked.end(), [&](const Experiment* experiment) {
        return std::find(found.begin(), found.end(), experiment) == found.end();
    });
    return fmt::format("{} of {} experiments {} no samples and {} left out; {}\n", left_out,
                       asked.size(), left_out == 1 ? "has" : "have", left_out == 1 ? "is" : "are",
                       what_makes_samples(**first, ", for example,"));
}

int run_report(const Context& context, const ReportOptions& options) {
    const Content content = content_of(options);
    std::optional<store::Store> any = open_if_any(context);
    const report::SelectedExperiments experiments =
        selected(context.registry, any ? &*any : nullptr, options.patterns);
    const std::vector<const Experiment*>& asked = experiments.all();
    if (content == Content::figure && asked.size() != 1)
        throw UserError(
            fmt::format("-o {}: a picture shows one experiment, and {} are asked for; "
                        "`assay list` shows them",
                        options.file, asked.size()));
    const std::string file = !options.file.empty()      ? options.file
                             : content == Content::text ? "-"
                                                        : "assay-report.html";
    const bool printed = is_standard_output(file);
    expect_one_on_standard_output(
        {{options.file.empty() ? "--text" : "-o", printed}, {"--json", options.json}});
    check_output("-o", options.file);
    const store::Store store = any ? std::move(*any) : open_existing(context);
    report::HtmlInput input;
    input.registry = &context.registry;
    input.experiments = asked;
    input.store = &store;
    input.claims = claims_of(context.registry, options.patterns);
    const std::vector<const Experiment*> found = report::with_samples(input);
    if (found.empty())
        throw UserError(fmt::format("no samples of {} in {} yet; {}{}",
                                    asked.size() == 1 ? asked.front()->id : "these experiments",
                                    store.path().string(), what_makes_samples(*asked.front(), ""),
                                    options.patterns.empty() ? shown_if_named(store) : ""));
    const std::string written =
        content == Content::page ? report::html(input)
        : content == Content::figure
            ? report::to_svg(report::stored_plot(context.registry, store, *found[0]))
            : as_text(context, store, found, printed);
    write_output(file, written);
    const std::size_t left_out = asked.size() - found.size();
    if (options.json) {
        nlohmann::json ids = nlohmann::json::array(), others = nlohmann::json::array();
        for (const Experiment* experiment : asked)
            (std::find(found.begin(), found.end(), experiment) == found.end() ? others : ids)
                .push_back(experiment->id);
        print_json({{"file", file},
                    {"bytes", written.size()},
                    {"experiments", ids},
                    {"left_out", others}});
    } else if (!printed) {
        print_line(std::cout, "report: " + file);
        std::cout << left_out_line(left_out, asked, found);
    }
    return options.gate &&
                   any_unexplained(context.registry,
                                   report::checks_of_today(context.registry, &store, input.claims))
               ? exit_regression
               : exit_ok;
}

}  // namespace

void add_report_command(CLI::App& program, Context& context) {
    auto options = std::make_shared<ReportOptions>();
    CLI::App* command =
        program.add_subcommand("report", "Tables, figures and verdicts as one HTML file");
    command->group("Results");
    command->add_option("experiments", options->patterns, "Ids or patterns (default: all)");
    command
        ->add_option("-o,--output", options->file,
                     "What it is called, it becomes: .html a page (default: assay-report.html), "
                     ".svg the figure of one experiment, .txt all tables; - is standard output")
        ->type_name("FILE");
    command->add_flag("--text", options->text, "Print all tables with every metric as text");
    command->add_flag("--gate", options->gate, "Exit 2 when a claim is contradicted");
    command->add_flag("--json", options->json, "Print what was written as JSON");
    add_database_option(*command, context);
    command->footer(
        "For a picture of another kind: rsvg-convert fig8.svg -o fig8.png (Debian package\n"
        "librsvg2-bin).\n"
        "Examples:\n"
        "  assay report lazarus -o lazarus.html\n"
        "  assay report lazarus/fig8 -o fig8.svg    # its picture\n"
        "  assay report lazarus/fig8 --text         # its numbers\n"
        "  assay report benchmark/BM_copy/64 --text # of an imported benchmark");
    command->callback([options, &context] {
        context.action = [options, &context] { return run_report(context, *options); };
    });
}

}  // namespace assay::cli
