#include "suite/report/page/html_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "suite/report/markup.hpp"

namespace assay::report {
namespace {

constexpr std::size_t most_open_rows = 24;
constexpr std::size_t short_id = 8;

bool is_number(const std::string& cell) {
    return cell == "–" ||
           (!cell.empty() && cell.find_first_not_of("0123456789.+-e ()–naif") == std::string::npos);
}

std::string cell(const std::string& text, const char* tag = "td") {
    return fmt::format("<{0}{2}>{1}</{0}>", tag, escaped(text),
                       is_number(text) ? R"( class="num")" : "");
}

std::string plain(const nlohmann::json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

/// A member of the session's suspects, or nothing.
std::string suspect(const store::Session& session, const char* name) {
    if (!session.suspects.is_object()) return "";
    const auto found = session.suspects.find(name);
    return found == session.suspects.end() ? "" : plain(*found);
}

std::string with_unit(double value, const std::string& unit) {
    const bool bare = unit.empty() || unit == "probability" || unit == "ratio" || unit == "count" ||
                      unit == "bool";
    return bare ? number(value) : number(value) + " " + unit;
}

std::string verdict_rows(const std::vector<ReportedClaim>& claims) {
    if (claims.empty()) return "";
    std::string out =
        "<div class=\"wide\"><table class=\"claims\"><thead><tr><th>Verdict</th>"
        "<th>Claim</th><th class=\"num\">Paper</th><th class=\"num\">Ours</th><th>How</th></tr>"
        "</thead>\n<tbody>\n";
    for (const auto& [claim, check] : claims) {
        out += fmt::format(
            "<tr><td>{}</td><td>{}<div class=\"reason\">{}</div><div "
            "class=\"source\"><code>{}</code>"
            "{}{}</div></td><td class=\"num\">{}</td><td class=\"num\">{}</td><td>{}</td></tr>\n",
            html_verdict(check.verdict), escaped(claim->says), escaped(check.reason),
            escaped(claim->id), claim->source.empty() ? "" : " · ", escaped(claim->source),
            claim->value ? escaped(with_unit(*claim->value, claim->unit)) : "–",
            check.obtained ? escaped(with_unit(*check.obtained, claim->unit)) : "–",
            check.provenance ? escaped(to_string(*check.provenance)) : "–");
    }
    return out + "</tbody></table></div>\n";
}

std::string unchecked_list(const std::vector<UncheckedClaims>& groups) {
    if (groups.empty()) return "";
    std::string out = "<p class=\"muted\">Not checked:</p>\n<ul class=\"muted\">\n";
    for (const UncheckedClaims& group : groups)
        out += fmt::format("<li>{}: {}</li>\n", group.count, escaped(group.why));
    return out + "</ul>\n";
}

std::string settings_list(const std::vector<const Claim*>& settings) {
    if (settings.empty()) return "";
    std::string out = fmt::format(
        "<details><summary>{} of the paper, no claim{}</summary>\n<ul>\n",
        settings.size() == 1 ? "A setting" : fmt::format("{} settings", settings.size()),
        settings.size() == 1 ? "" : "s");
    for (const Claim* setting : settings)
        out += fmt::format("<li>{} <span class=\"source\"><code>{}</code> · {}</span></li>\n",
                           escaped(setting->says), escaped(setting->id), escaped(setting->source));
    return out + "</ul></details>\n";
}

}  // namespace

std::string html_grid(const Grid& grid) {
    if (grid.size() < 2) return "";
    std::string table = "<table class=\"grid\"><thead><tr>";
    for (std::size_t column = 0; column < grid[0].size(); ++column) {
        const bool numbers = column < grid[1].size() && is_number(grid[1][column]);
        table += fmt::format("<th{}>{}</th>", numbers ? R"( class="num")" : "",
                             escaped(grid[0][column]));
    }
    table += "</tr></thead>\n<tbody>\n";
    for (std::size_t row = 1; row < grid.size(); ++row) {
        table += "<tr>";
        for (const std::string& text : grid[row]) table += cell(text);
        table += "</tr>\n";
    }
    table = "<div class=\"wide\">" + table + "</tbody></table></div>\n";
    if (grid.size() - 1 <= most_open_rows) return table;
    return fmt::format("<details><summary>Results, {} rows</summary>\n{}</details>\n",
                       grid.size() - 1, table);
}

std::string html_verdict(ClaimVerdict verdict) {
    const std::string_view text = to_string(verdict);
    return fmt::format(R"(<span class="verdict v-{}">{}</span>)", as_id(text), escaped(text));
}

std::string html_claims(const ReportedExperiment& reported) {
    const std::string parts = verdict_rows(reported.claims) + unchecked_list(reported.unchecked) +
                              settings_list(reported.settings);
    return parts.empty() ? "" : "<h3>Claims</h3>\n" + parts;
}

std::string html_unsuccessful(const std::vector<store::Sample>& samples) {
    if (samples.empty()) return "";
    std::string out = fmt::format(
        "<details open=\"open\"><summary>{} sample{} of the newest session did not end "
        "well</summary>\n<ul>\n",
        samples.size(), samples.size() == 1 ? "" : "s");
    // Those that ended alike are told once, by the first of them.
    std::vector<std::pair<const store::Sample*, std::size_t>> alike;
    for (const store::Sample& sample : samples) {
        const auto found = std::find_if(alike.begin(), alike.end(), [&](const auto& group) {
            return group.first->status == sample.status && group.first->reason == sample.reason;
        });
        if (found == alike.end())
            alike.emplace_back(&sample, 1);
        else
            ++found->second;
    }
    for (const auto& [sample, count] : alike)
        out += fmt::format(
            "<li><b>{}</b> {}{} {} seed {} <code>{}</code>: {}</li>\n", escaped(sample->status),
            count > 1 ? fmt::format("{} samples, the first is ", count) : "",
            escaped(sample->spec.variant), escaped(to_string(sample->spec.axes)), sample->spec.seed,
            escaped(sample->id.substr(0, short_id)), escaped(sample->reason));
    return out + "</ul></details>\n";
}

std::string html_sessions(const std::vector<store::Session>& sessions) {
    if (sessions.empty()) return "";
    std::string out =
        "<details><summary>Sessions</summary>\n<div "
        "class=\"wide\"><table><thead><tr><th>Session</th>"
        "<th>Started (UTC)</th><th>State</th><th>Machine</th><th>Commit</th><th>Compiler</th>"
        "<th>Kernel</th><th>Driver</th><th>Command</th></tr></thead>\n<tbody>\n";
    for (const store::Session& session : sessions) {
        out += "<tr>";
        for (const std::string& text :
             {session.id.substr(0, short_id), session.started, session.state, session.machine,
              suspect(session, "commit"), suspect(session, "compiler"), suspect(session, "kernel"),
              suspect(session, "driver")})
            out += "<td>" + escaped(text) + "</td>";
        out += "<td><code>" + escaped(session.command) + "</code></td></tr>\n";
    }
    return out + "</tbody></table></div></details>\n";
}

std::string html_machine(const store::Machine& machine) {
    std::string out =
        fmt::format("<dl><dt>machine</dt><dd><code>{}</code></dd>", escaped(machine.fingerprint));
    if (machine.description.is_object())
        for (const auto& [name, value] : machine.description.items()) {
            std::string text = plain(value);
            if (value.is_array()) {
                text.clear();
                for (const nlohmann::json& element : value) {
                    std::string words;
                    if (element.is_object())
                        for (const auto& [key, part] : element.items())
                            words += (words.empty() ? "" : ", ") + key + " " + plain(part);
                    else
                        words = plain(element);
                    text += (text.empty() ? "" : "; ") + words;
                }
                if (text.empty()) text = "none";
            }
            out += fmt::format("<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(text));
        }
    return out + "</dl>\n";
}

}  // namespace assay::report
