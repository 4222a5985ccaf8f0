// The report page: head, one section per experiment, what is contradicted.
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
    std::string out = fmt::format(
        "<header>\n<h1>Assay report</h1>\n<p><b>{}</b></p>\n<p class=\"muted\">Written {} from "
        "<code>{}</code></p>\n",
        escaped(data.headline), escaped(data.generated), escaped(data.database));
    for (const store::Machine& machine : data.machines) out += html_machine(machine);
    out += html_sessions(data.sessions);
    out += "<nav>";
    for (const ReportedExperiment& reported : data.experiments)
        out += fmt::format("<a href=\"#s-{}\">{}</a> ", as_id(reported.experiment->id),
                           escaped(reported.experiment->id));
    out += "</nav>\n";
    if (!data.without_samples.empty()) {
        out += "<p class=\"muted\">Without samples, and left out:";
        for (const std::string& id : data.without_samples)
            out += " <code>" + escaped(id) + "</code>";
        out += fmt::format(". <code>assay run {}</code> makes those of the first.</p>\n",
                           escaped(data.without_samples.front()));
    }
    return out + "</header>\n";
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

std::string contradictions(const ReportData& data) {
    std::string out;
    for (const ReportedExperiment& reported : data.experiments)
        for (const auto& [claim, check] : reported.claims) {
            if (check.verdict != ClaimVerdict::contradicted) continue;
            // What was compared stands with the claim; here, why it differs.
            const std::string explained = explanation_text(*claim, check);
            const std::string& why = explained.empty() ? check.reason : explained;
            out += fmt::format(
                "<div class=\"note\"><p>{} {}</p><p>Paper: {} · ours: {} · <a "
                "href=\"#s-{}\"><code>{}</code></a> · {}</p><p>{}</p></div>\n",
                html_verdict(check.verdict), escaped_prose(claim->says),
                claim->value ? number(*claim->value) : "–",
                check.obtained ? number(*check.obtained) : "–", as_id(reported.experiment->id),
                escaped(claim->id), escaped(claim->source), escaped_prose(why));
        }
    if (out.empty()) return "";
    return "<section id=\"contradicted\">\n<h2>Where paper and reproduction differ</h2>\n" + out +
           "</section>\n";
}

}  // namespace

std::string html_page(const ReportData& data) {
    std::string out =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
        "<meta name=\"color-scheme\" content=\"light dark\"/>\n<title>Assay report</title>\n";
    out += page_style_sheet();
    out += "</head>\n<body>\n" + head(data);
    for (const ReportedExperiment& reported : data.experiments) out += section(reported);
    out += contradictions(data);
    out += fmt::format(
        "<footer class=\"muted\"><p>exact: computed, no measurement. measured: real processes and "
        "time. "
        "emulated: real processes, time held to a device profile. simulated: virtual "
        "time.</p></footer>\n"
        "</body>\n</html>\n");
    return out;
}

}  // namespace assay::report
