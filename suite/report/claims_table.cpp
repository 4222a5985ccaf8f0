// The claims of a paper beside what was obtained, for the terminal.
#include <fmt/format.h>

#include "suite/report/claims_summary.hpp"
#include "suite/report/report.hpp"
#include "suite/report/utf8.hpp"

namespace assay::report {
namespace {

/// What the paper says and where, then what was found.
std::string below_row(const Registry& registry, const ClaimCheck& check, bool with_reason,
                      std::size_t columns) {
    std::string out;
    if (const Claim* claim = registry.claim(check.claim))
        out += indented(fmt::format("“{}” ({})", claim->says, place_in_paper(registry, *claim)),
                        columns);
    if (with_reason && !check.reason.empty()) out += indented(check.reason, columns);
    return out;
}

/// A row per claim; what belongs to it goes below, because a column of sentences would not fit.
std::string rows_text(const Registry& registry, std::span<const ClaimCheck> checks,
                      std::size_t columns) {
    Grid rows{{"verdict", "paper", "ours", "how", "claim"}};
    for (const ClaimCheck& check : checks) {
        const Claim* claim = registry.claim(check.claim);
        rows.push_back({std::string(to_string(check.verdict)),
                        claim && claim->value ? number(*claim->value) : "–",
                        check.obtained ? number(*check.obtained) : "–",
                        check.provenance ? std::string(to_string(*check.provenance)) : "–",
                        check.claim});
    }
    const std::string table = text_table(rows);
    std::string out;
    std::size_t line = 0;
    for (std::size_t at = 0; at < table.size(); ++line) {
        const std::size_t end = table.find('\n', at) + 1;
        out += table.substr(at, end - at);
        at = end;
        if (line < 2 || line - 2 >= checks.size()) continue;
        const std::size_t row = line - 2;
        // Neighbours with one reason have it below the last of them.
        const bool last = row + 1 >= checks.size() || checks[row + 1].reason != checks[row].reason;
        out += below_row(registry, checks[row], last, columns);
    }
    return out;
}

std::string unchecked_text(const Registry& registry, std::span<const ClaimCheck> checks,
                           std::size_t columns) {
    std::string out;
    for (const UncheckedClaims& group : unchecked(registry, checks)) {
        const std::string count = fmt::format("{:>5}  ", group.count);
        const std::string margin(count.size(), ' ');
        bool first = true;
        const auto add = [&](const std::string& text) {
            for (const std::string& line : wrapped(text, columns - count.size())) {
                out += (first ? count : margin) + line + '\n';
                first = false;
            }
        };
        add(group.why);
        add("in " + group.where);
    }
    return out.empty() ? "" : "Not checked\n" + out;
}

}  // namespace

std::string claims_table(const Registry& registry, std::span<const ClaimCheck> checks,
                         std::size_t columns) {
    std::vector<ClaimCheck> found;
    for (const ClaimCheck& check : checks)
        if (rests_on_results(check)) found.push_back(check);
    std::string out = found.empty() ? "" : rows_text(registry, found, columns);
    const std::string rest = unchecked_text(registry, checks, columns);
    if (!out.empty() && !rest.empty()) out += '\n';
    return out + rest;
}

std::string claims_rows(const Registry& registry, std::span<const ClaimCheck> checks,
                        std::size_t columns) {
    return rows_text(registry, checks, columns);
}

std::string settings_table(const Registry& registry, std::span<const ClaimCheck> checks) {
    Grid rows{{"setting", "value", "unit", "says", "where"}};
    for (const ClaimCheck& check : checks) {
        const Claim* claim = registry.claim(check.claim);
        if (claim == nullptr || claim->kind != ClaimKind::setting) continue;
        rows.push_back({claim->id, claim->value ? number(*claim->value) : "–", claim->unit,
                        claim->says, place_in_paper(registry, *claim)});
    }
    return rows.size() > 1 ? text_table(rows) : "";
}

}  // namespace assay::report
