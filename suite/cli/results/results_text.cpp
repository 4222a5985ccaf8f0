#include "suite/cli/results/results_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "suite/base/suggested_command.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/report/text/claims_summary.hpp"
#include "suite/report/text/result_tables.hpp"
#include "suite/report/text/terminal_text.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::cli {
namespace {

/// Lines of tables: a screen for one experiment, less where there are several.
constexpr std::size_t lines_of_one = 40, lines_of_several = 16;
/// Wider tables than this are hard to read.
constexpr std::size_t widest_table = 100;

/// Samples of one experiment and one provenance, in order: provenances are never mixed in a table.
struct Part {
    const Experiment* experiment;
    Provenance provenance;
    Profile profile;
    std::vector<store::Sample> samples;
};

std::vector<Part> parts(const Registry& registry, std::span<const store::Sample> samples,
                        const std::vector<const Experiment*>& others) {
    std::vector<Part> result;
    for (const store::Sample& sample : samples) {
        const Experiment* experiment = registry.experiment(sample.spec.experiment);
        for (const Experiment* other : others)
            if (other->id == sample.spec.experiment) experiment = other;
        if (experiment == nullptr) continue;
        const auto it = std::find_if(result.begin(), result.end(), [&](const Part& part) {
            return part.experiment == experiment && part.provenance == sample.spec.provenance &&
                   part.profile == sample.spec.profile;
        });
        if (it != result.end())
            it->samples.push_back(sample);
        else
            result.push_back({experiment, sample.spec.provenance, sample.spec.profile, {sample}});
    }
    return result;
}

bool ended_well(const store::Sample& sample) {
    return sample.status == to_string(SampleStatus::ok);
}

struct Excerpt {
    std::string text;
    std::vector<std::string> not_shown;  ///< "6 panels", "metrics transfers, fastest_plan_s"
};

/// Columns of the table that say which case it is: those up to the variant.
std::size_t key_columns(const report::Grid& grid) {
    const auto variant = std::find(grid[0].begin(), grid[0].end(), "variant");
    return variant == grid[0].end() ? 1 : static_cast<std::size_t>(variant - grid[0].begin()) + 1;
}

/// Tables that a terminal can show, each beginning with axes and variant.
std::string whole_table(const report::Grid& grid, std::size_t columns) {
    return report::text_tables(grid, key_columns(grid), columns);
}

/// The first of those tables, and not too many of its rows.
Excerpt first_table(report::Grid grid, std::size_t columns, std::size_t lines) {
    Excerpt shown;
    constexpr std::size_t head = 2;  // lines above the first row
    const std::size_t rows = grid.size() - 1;
    const std::size_t most = lines > head ? lines - head : 1;
    if (rows > most) {
        grid.resize(1 + most);
        shown.not_shown.push_back(counted(rows - most, "row"));
    }
    const report::Grid first = report::narrow_tables(grid, key_columns(grid), columns).front();
    if (const std::size_t left = grid[0].size() - first[0].size(); left > 0)
        shown.not_shown.push_back(counted(left, "column"));
    shown.text = report::text_table(first);
    return shown;
}

/// Names of the other metrics that the samples have.
std::vector<std::string> other_metrics(const Part& part) {
    std::set<std::string> recorded;
    for (const store::Sample& sample : part.samples)
        for (const store::MetricValue& value : sample.metrics) recorded.insert(value.name);
    std::vector<std::string> names;
    for (const MetricSpec& metric : part.experiment->metrics)
        if (metric.name != part.experiment->figure.metric && recorded.contains(metric.name))
            names.push_back(metric.name);
    return names;
}

/// What the figure shows; nothing where it cannot be a table.
Excerpt figure_table(const Part& part, std::size_t columns, std::size_t lines) {
    const Experiment& experiment = *part.experiment;
    if (experiment.figure.kind == Figure::Kind::timeline) return {};
    const report::FigureData data = report::figure_data(experiment, part.samples, {});
    if (data.panels.empty()) return {};
    const report::FigureTables tables = report::figure_tables(experiment, data, columns, lines);
    Excerpt shown;
    const MetricSpec* metric = experiment.metric(experiment.figure.metric);
    shown.text =
        hanging("",
                fmt::format(
                    "{}{}{}{}", experiment.figure.metric,
                    metric != nullptr && !metric->unit.empty() ? fmt::format(" [{}]", metric->unit)
                                                               : "",
                    data.shares_variants ? "" : fmt::format(" over {}", experiment.figure.x),
                    data.fixed.empty() ? "" : "; " + data.fixed),
                columns) +
        tables.text;
    if (tables.left_out > 0) shown.not_shown.push_back(counted(tables.left_out, "panel"));
    const std::vector<std::string> others = other_metrics(part);
    constexpr std::size_t few = 6;
    if (!others.empty())
        shown.not_shown.push_back(others.size() > few
                                      ? counted(others.size(), "other metric")
                                      : fmt::format("metric{} {}", others.size() == 1 ? "" : "s",
                                                    fmt::join(others, ", ")));
    return shown;
}

/// "36 ok, 36 unsupported", and below it the reasons; samples that ended alike in one line.
std::string endings(const std::vector<store::Sample>& samples, std::size_t columns) {
    std::map<std::string, std::size_t> statuses;
    std::vector<std::pair<const store::Sample*, std::size_t>> alike;
    for (const store::Sample& sample : samples) {
        ++statuses[sample.status];
        if (ended_well(sample)) continue;
        const auto same = std::find_if(alike.begin(), alike.end(), [&](const auto& group) {
            return group.first->status == sample.status && group.first->reason == sample.reason;
        });
        if (same == alike.end())
            alike.emplace_back(&sample, 1);
        else
            ++same->second;
    }
    std::vector<std::string> counts;
    const std::string ok(to_string(SampleStatus::ok));
    if (statuses.contains(ok)) counts.push_back(fmt::format("{} {}", statuses[ok], ok));
    for (const auto& [status, count] : statuses)
        if (status != ok) counts.push_back(fmt::format("{} {}", count, status));
    std::string text = hanging("samples  ", fmt::format("{}", fmt::join(counts, ", ")), columns);
    for (const auto& [sample, count] : alike) {
        const std::string which =
            count > 1 ? counted(count, "sample")
                      : fmt::format("{} {} seed {}", sample->spec.variant,
                                    to_string(sample->spec.axes), sample->spec.seed);
        text += hanging("         ",
                        fmt::format("{}: {}: {}", which, sample->status, sample->reason), columns);
    }
    return text;
}

/// "1 of 2 checked hold, 1 contradicted"; empty when no claim is about the experiment.
std::string claims_headline(const Registry& registry, const Experiment& experiment,
                            std::span<const ClaimCheck> checks) {
    std::vector<ClaimCheck> own;
    for (const ClaimCheck& check : checks)
        if (const Claim* claim = registry.claim(check.claim);
            claim != nullptr && claim->experiment == experiment.id)
            own.push_back(check);
    return own.empty() ? "" : report::headline(report::tally(registry, own));
}

/// "fig8" of "lazarus/fig8".
std::string file_stem(const Experiment& experiment) {
    return experiment.id.substr(experiment.id.find('/') + 1);
}

std::string block(const Part& part, const ResultsLook& look, std::size_t lines) {
    const Experiment& experiment = *part.experiment;
    const std::size_t columns = std::min(look.columns, widest_table);
    std::string text =
        "\n" + hanging("",
                       fmt::format("{}: {} [{}, {}]", experiment.id, experiment.title,
                                   to_string(part.provenance), to_string(part.profile)),
                       look.columns);
    if (std::none_of(part.samples.begin(), part.samples.end(), ended_well))
        return text + "no finished sample\n" + endings(part.samples, look.columns);
    if (look.all_metrics)
        return text + whole_table(report::result_table(experiment, part.samples), columns) + "\n" +
               endings(part.samples, look.columns);
    Excerpt shown = figure_table(part, columns, lines);
    if (shown.text.empty())
        shown = first_table(report::result_table(experiment, part.samples), columns, lines);
    text += shown.text + "\n" + endings(part.samples, look.columns);
    if (!shown.not_shown.empty())
        text += hanging("more     ",
                        fmt::format("{}; {} shows everything", fmt::join(shown.not_shown, ", "),
                                    suggested(fmt::format("report {} --text", experiment.id))),
                        look.columns);
    return text + "picture  " +
           suggested_line(
               fmt::format("report {} -o {}.svg", experiment.id, file_stem(experiment))) +
           '\n';
}

}  // namespace

std::string counted(std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string results_text(const Registry& registry, std::span<const store::Sample> samples,
                         std::span<const ClaimCheck> checks, const ResultsLook& look) {
    const std::vector<Part> all = parts(registry, samples, look.others);
    std::string text;
    for (const Part& part : all) {
        text += block(part, look, all.size() > 1 ? lines_of_several : lines_of_one);
        const std::string told = claims_headline(registry, *part.experiment, checks);
        // Once per experiment, however many parts it has.
        const bool last = &part == &all.back() || (&part + 1)->experiment != part.experiment;
        if (told.empty() || !last) continue;
        const std::string head = "claims   ", blanks(head.size(), ' '),
                          command = "(" + suggested_line("claims " + part.experiment->id) + ")\n";
        // Whole, on a line of its own where it has no place in this one.
        const std::size_t width = report::display_width(head + told + ' ' + command) - 1;
        text += width <= look.columns ? head + told + ' ' + command
                                      : hanging(head, told, look.columns) + blanks + command;
    }
    return text;
}

}  // namespace assay::cli
