// The report page: what the papers report and what came out, what is contradicted, then one section
// per experiment.
#include "suite/report/page/html_page.hpp"

#include <fmt/format.h>

#include <set>

#include "suite/report/figures/experiment_plot.hpp"
#include "suite/report/markup.hpp"
#include "suite/report/page/html_tables.hpp"
#include "suite/report/text/result_tables.hpp"

namespace assay::report {
namespace {

std::string head(const ReportData& data) {
    return fmt::format(
        "<header>\n<h1>Assay report</h1>\n<p><b>{}</b></p>\n<p class=\"muted\">Written {} from "
        "<code>{}</code></p>\n</header>\n",
        escaped(data.headline), escaped(data.generated), escaped(data.database));
}

/// The first things that a reader sees: the papers' numbers beside ours, and what is contradicted.
std::string findings(const ReportData& data) {
    std::set<std::string> on_page;
    for (const ReportedExperiment& reported : data.experiments)
        on_page.insert(reported.experiment->id);
    std::string out;
    const auto add = [&](const char* id, const char* title, const std::vector<Headline>& rows) {
        if (!rows.empty())
            out += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", id, title,
                               html_headlines(rows, on_page));
    };
    add("headlines", "What the papers report, and what came out here", data.headlines);
    add("contradicted", "Where paper and reproduction differ", data.contradicted);
    return out;
}

/// What folds away, and the way to each experiment.
std::string contents(const ReportData& data) {
    std::string out = "<section id=\"contents\">\n";
    if (!data.machines.empty() || !data.sessions.empty()) {
        out += "<details><summary>Machine and sessions</summary>\n";
        for (const store::Machine& machine : data.machines) out += html_machine(machine);
        out += html_sessions(data.sessions) + "</details>\n";
    }
    if (!data.without_samples.empty()) {
        const std::size_t count = data.without_samples.size();
        out += fmt::format("<details><summary>{} without samples, left out</summary>\n<p>",
                           count == 1 ? "An experiment" : fmt::format("{} experiments", count));
        for (const std::string& id : data.without_samples)
            out += "<code>" + escaped(id) + "</code> ";
        out += fmt::format(
            "</p>\n<p><code>assay run {}</code> makes those of the first.</p></details>\n",
            escaped(data.without_samples.front()));
    }
    out += "<nav>";
    for (const ReportedExperiment& reported : data.experiments)
        out += fmt::format("<a href=\"#s-{}\">{}</a> ", as_id(reported.experiment->id),
                           escaped(reported.experiment->id));
    return out + "</nav>\n</section>\n";
}

std::string badges(const std::vector<store::Sample>& samples) {
    std::set<std::pair<Provenance, Profile>> seen;
    for (const store::Sample& sample : samples)
        seen.emplace(sample.spec.provenance, sample.spec.profile);
    std::string out;
    for (const auto& [provenance, profile] : seen)
        out += fmt::format(" <span class=\"badge\">{} · {}</span>", to_string(provenance),
                           to_string(profile));
    return out;
}

std::string section(const ReportedExperiment& reported) {
    const Experiment& experiment = *reported.experiment;
    std::vector<Claim> claims;
    for (const ReportedClaim& claim : reported.claims) claims.push_back(*claim.claim);
    std::string out = fmt::format(
        "<section id=\"s-{}\">\n<h2>{}</h2>\n<p class=\"muted\"><code>{}</code> · "
        "{}{}</p>\n<p>{}</p>\n",
        as_id(experiment.id), escaped(experiment.title), escaped(experiment.id),
        escaped(experiment.source), badges(reported.samples), escaped_prose(experiment.says));
    if (reported.samples.empty())
        out += "<p>No sample of it has ended well.</p>\n";
    else
        out += "<figure>\n" +
               svg_figure(experiment, reported.samples, claims, reported.event_kinds) +
               "</figure>\n";
    out += html_grid(result_table(experiment, reported.samples));
    out += html_unsuccessful(reported.unsuccessful);
    return out + html_claims(reported) + "</section>\n";
}

}  // namespace

std::string html_page(const ReportData& data) {
    std::string out =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
        "<meta name=\"color-scheme\" content=\"light dark\"/>\n<title>Assay report</title>\n";
    out += page_style_sheet();
    out += "</head>\n<body>\n" + head(data) + findings(data) + contents(data);
    for (const ReportedExperiment& reported : data.experiments) out += section(reported);
    out += fmt::format(
        "<footer class=\"muted\"><p>exact: computed, no measurement. measured: real processes and "
        "time. "
        "emulated: real processes, time held to a device profile. simulated: virtual "
        "time.</p></footer>\n"
        "</body>\n</html>\n");
    return out;
}

}  // namespace assay::report
