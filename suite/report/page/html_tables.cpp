#include "suite/report/page/html_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "suite/claim/tolerance.hpp"
#include "suite/report/markup.hpp"
#include "suite/report/text/claims_summary.hpp"
#include "suite/report/text/paper_cells.hpp"

namespace assay::report {
namespace {

constexpr std::size_t most_open_rows = 24;
constexpr std::size_t short_id = 8;
constexpr const char* no_break = "\u00a0";  // a blank

bool is_number(const std::string& cell) {
    char* end = nullptr;
    std::strtod(cell.c_str(), &end);
    return end != cell.c_str() && (*end == '\0' || *end == ' ');  // "0.61 (0.6–0.7)", too
}

/// Of numbers, or of what is missing: "e2e" and "0.5" in one column are words.
bool is_of_numbers(const Grid& grid, std::size_t column) {
    bool any = false;
    for (std::size_t row = 1; row < grid.size(); ++row) {
        if (column >= grid[row].size()) continue;
        const std::string& cell = grid[row][column];
        if (cell.empty() || cell == "–") continue;
        if (!is_number(cell)) return false;
        any = true;
    }
    return any;
}

/// A long name may be broken where its parts meet: "failed=3", "victim_sets".
std::string breakable(const std::string& name) {
    std::string out;
    for (const char c : escaped(name)) {
        out += c;
        if (c == '=' || c == '_') out += "<wbr/>";
    }
    return out;
}

/// "L1 data 32 KiB" of what is known of a processor's cache.
std::string cache_text(const nlohmann::json& cache) {
    const double kib = static_cast<double>(cache.value("bytes", std::uint64_t{0})) / 1024;
    return fmt::format(
        "L{} {} {}", cache.value("level", 0), cache.value("type", ""),
        kib < 1024 ? fmt::format("{:g} KiB", kib) : fmt::format("{:g} MiB", kib / 1024));
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
                      unit == "bool" || unit == "fraction" || unit == "share";
    if (bare) return number(value);
    // A short unit stays on the number's line.
    constexpr std::size_t short_unit = 10;
    if (unit.size() > short_unit) return number(value) + " " + unit;
    std::string text = number(value) + no_break;
    for (const char c : unit) text += c == ' ' ? std::string(no_break) : std::string(1, c);
    return text;
}

/// What was obtained, below it the interval and how.
std::string obtained_cell(const Claim& claim, const ClaimCheck& check) {
    if (!check.obtained) return "–";
    std::string out = escaped(with_unit(*check.obtained, claim.unit));
    const SeedRange range = seed_range(check);
    if (range.low && range.high)
        out += fmt::format("<div class=\"reason\">{}–{}</div>", number(*range.low),
                           number(*range.high));
    if (check.provenance)
        out += fmt::format("<div class=\"reason\">{}</div>", to_string(*check.provenance));
    return out;
}

/// Below the reason: what explains it, and the paper's cells beside ours.
std::string below_reason(const Claim& claim, const ClaimCheck& check,
                         const std::vector<store::Sample>& samples) {
    std::string out;
    if (const std::string why = explanation_text(claim, check); !why.empty())
        out += fmt::format("<div class=\"reason\">{}</div>", escaped_prose(why));
    if (const Grid cells = cells_grid(claim, samples); !cells.empty())
        out += fmt::format(
            "<details><summary>{} cells of the paper's table beside ours</summary>\n{}</details>",
            claim.cells.size(), html_grid(cells));
    return out;
}

std::string paper_cell(const Claim& claim) {
    if (!claim.value) return "–";
    const std::string tolerance = tolerance_text(claim);
    return escaped(with_unit(*claim.value, claim.unit) +
                   (tolerance.empty() ? "" : ' ' + tolerance));
}

std::string verdict_rows(const ReportedExperiment& reported) {
    const std::vector<ReportedClaim>& claims = reported.claims;
    if (claims.empty()) return "";
    std::string out =
        "<div class=\"wide\"><table class=\"claims\"><thead><tr><th>Verdict</th>"
        "<th>Claim</th><th class=\"num\">Paper</th><th class=\"num\">Ours</th><th>How</th></tr>"
        "</thead>\n<tbody>\n";
    for (const auto& [claim, check] : claims) {
        // The reason has the width of the numbers, too.
        out += fmt::format(
            "<tr class=\"says\"><td>{}</td><td>{}</td><td class=\"num\">{}</td><td "
            "class=\"num\">{}</td><td>{}</td></tr>\n<tr><td></td><td class=\"why\" "
            "colspan=\"4\"><div class=\"reason\">{}</div>{}<div class=\"source\"><code>{}</code>"
            "{}{}{}</div></td></tr>\n",
            html_verdict(check.verdict), escaped_prose(claim->says), paper_cell(*claim),
            check.obtained ? escaped(with_unit(*check.obtained, claim->unit)) : "–",
            check.provenance ? escaped(to_string(*check.provenance)) : "–",
            escaped_prose(check.reason), below_reason(*claim, check, reported.samples),
            escaped(claim->id), claim->source.empty() ? "" : " · ", escaped(claim->source),
            claim->kind == ClaimKind::claim ? "" : fmt::format(" · {}", to_string(claim->kind)));
    }
    return out + "</tbody></table></div>\n";
}

std::string unchecked_list(const std::vector<UncheckedClaims>& groups) {
    if (groups.empty()) return "";
    std::string out = "<p class=\"muted\">Not checked:</p>\n<ul class=\"muted\">\n";
    for (const UncheckedClaims& group : groups)
        out += fmt::format("<li>{}: {}</li>\n", group.count, escaped_prose(group.why));
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
    std::vector<const char*> classes;
    for (std::size_t column = 0; column < grid[0].size(); ++column) {
        classes.push_back(is_of_numbers(grid, column) ? R"( class="num")" : "");
        table += fmt::format("<th{}>{}</th>", classes[column], breakable(grid[0][column]));
    }
    table += "</tr></thead>\n<tbody>\n";
    for (std::size_t row = 1; row < grid.size(); ++row) {
        table += "<tr>";
        for (std::size_t column = 0; column < grid[row].size(); ++column)
            table += fmt::format("<td{}>{}</td>", column < classes.size() ? classes[column] : "",
                                 escaped(grid[row][column]));
        table += "</tr>\n";
    }
    table = "<div class=\"wide\">" + table + "</tbody></table></div>\n";
    if (grid.size() - 1 <= most_open_rows) return table;
    return fmt::format("<details><summary>Results, {} rows</summary>\n{}</details>\n",
                       grid.size() - 1, table);
}

std::string html_headlines(const std::vector<Headline>& rows,
                           const std::set<std::string>& on_page) {
    std::string out =
        "<div class=\"wide\"><table class=\"headlines\"><thead><tr><th>System</th><th>What the "
        "paper says</th><th class=\"num\">Paper</th><th class=\"num\">Ours</th><th>Verdict</th>"
        "</tr></thead>\n<tbody>\n";
    for (const auto& [claim, check, why] : rows) {
        const std::string says = escaped_prose(claim->says);
        const std::optional<double> paper = paper_value(*claim);
        out += fmt::format(
            "<tr><td>{}</td><td>{}<div class=\"reason\">{}</div></td><td class=\"num\">{}</td>"
            "<td class=\"num\">{}</td><td>{}</td></tr>\n",
            escaped(system_of(*claim)),
            on_page.contains(claim->experiment)
                ? fmt::format("<a href=\"#s-{}\">{}</a>", as_id(claim->experiment), says)
                : says,
            escaped_prose(why), paper ? escaped(with_unit(*paper, claim->unit)) : "–",
            obtained_cell(*claim, check), html_verdict(check.verdict));
    }
    return out + "</tbody></table></div>\n";
}

std::string html_verdict(ClaimVerdict verdict) {
    const std::string_view text = to_string(verdict);
    return fmt::format(R"(<span class="verdict v-{}">{}</span>)", as_id(text), escaped(text));
}

std::string html_claims(const ReportedExperiment& reported) {
    const std::string parts = verdict_rows(reported) + unchecked_list(reported.unchecked) +
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
            escaped(sample->spec.variant), escaped(assay::to_string(sample->spec.axes)),
            sample->spec.seed, escaped(sample->id.substr(0, short_id)), escaped(sample->reason));
    return out + "</ul></details>\n";
}

std::string html_sessions(const std::vector<store::Session>& sessions) {
    if (sessions.empty()) return "";
    std::string out =
        "<div class=\"wide\"><table><thead><tr><th>Session</th>"
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
    return out + "</tbody></table></div>\n";
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
                    if (element.is_object() && element.contains("level"))
                        words = cache_text(element);
                    else if (element.is_object())
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
