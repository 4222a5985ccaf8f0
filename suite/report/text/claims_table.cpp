// The claims of a paper beside what was obtained, for the terminal.
#include <fmt/format.h>

#include <tuple>

#include "suite/claim/tolerance.hpp"
#include "suite/report/text/claims_summary.hpp"
#include "suite/report/text/terminal_text.hpp"
#include "suite/report/text/text_table.hpp"
#include "suite/report/text/unchecked_claims.hpp"

namespace assay::report {
namespace {

/// What the paper says and where.
std::string saying(const Registry& registry, const ClaimCheck& check, std::size_t columns) {
    const Claim* claim = registry.claim(check.claim);
    if (claim == nullptr) return {};
    std::string place = place_in_paper(registry, *claim);
    if (claim->kind != ClaimKind::claim)
        place += fmt::format("{}{}", place.empty() ? "" : "; ", to_string(claim->kind));
    std::string text = indented(fmt::format("“{}” ({})", claim->says, place), columns);
    if (const std::string why = explanation_text(*claim, check); !why.empty())
        text += indented(why, columns);
    return text;
}

/// Reasons of neighbours, told once where they are one; see without_experiment().
class Reasons {
  public:
    Reasons(const Registry& registry, std::span<const ClaimCheck> checks) {
        for (const ClaimCheck& check : checks) {
            const Claim* claim = registry.claim(check.claim);
            told_.push_back(rests_on_results(check) || claim == nullptr
                                ? check.reason
                                : without_experiment(check.reason, claim->experiment));
            own_.push_back(check.reason);
        }
    }

    /// What stands below row `i`: nothing where the next one has the same reason.
    std::string below(std::size_t i, std::size_t columns) {
        ++alike_;
        one_wording_ = one_wording_ && own_[i] == own_[i + 1 - alike_];
        if (i + 1 < told_.size() && told_[i + 1] == told_[i]) return {};
        std::string reason = one_wording_ ? own_[i] : told_[i];
        if (alike_ > 1 && !reason.empty())
            reason = fmt::format("For the {} above: {}", alike_, reason);
        alike_ = 0;
        one_wording_ = true;
        return reason.empty() ? "" : indented(reason, columns);
    }

  private:
    std::vector<std::string> own_, told_;
    std::size_t alike_ = 0;  ///< rows since the last reason
    bool one_wording_ = true;
};

/// "lazarus/fig8/gpt-l" and below it "supported: paper 3.4, ours 3.1 (emulated)": for terminals
/// that the table does not fit.
std::string claim_heading(const std::vector<std::string>& row, std::size_t columns) {
    const auto& [verdict, paper, ours, provenance, claim] =
        std::tie(row[0], row[1], row[2], row[3], row[4]);
    std::string what = fmt::format("{}: paper {}, ours {}", verdict, paper, ours);
    if (provenance != "–") what += fmt::format(" ({})", provenance);
    return claim + '\n' + indented(what, columns);
}

/// A row per claim; what belongs to it goes below, because a column of sentences would not fit.
std::string rows_text(const Registry& registry, std::span<const ClaimCheck> checks,
                      std::size_t columns) {
    Grid rows{{"verdict", "paper", "ours", "provenance", "claim"}};
    for (const ClaimCheck& check : checks) {
        const Claim* claim = registry.claim(check.claim);
        const std::string paper = claim ? value_text(*claim) : "";
        rows.push_back({std::string(to_string(check.verdict)), paper.empty() ? "–" : paper,
                        check.obtained ? number(*check.obtained) : "–",
                        check.provenance ? std::string(to_string(*check.provenance)) : "–",
                        check.claim});
    }
    Reasons reasons(registry, checks);
    return annotated_table(
        rows, columns, [&](std::size_t row) { return claim_heading(rows[row], columns); },
        [&](std::size_t row) {
            return saying(registry, checks[row - 1], columns) + reasons.below(row - 1, columns);
        });
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

std::string settings_table(const Registry& registry, std::span<const ClaimCheck> checks,
                           std::size_t columns) {
    Grid rows{{"setting", "value", "unit", "says", "where"}};
    for (const ClaimCheck& check : checks) {
        const Claim* claim = registry.claim(check.claim);
        if (claim == nullptr || claim->kind != ClaimKind::setting) continue;
        rows.push_back({claim->id, claim->value ? number(*claim->value) : "–", claim->unit,
                        claim->says, place_in_paper(registry, *claim)});
    }
    return rows.size() > 1 ? text_table(rows, columns) : "";
}

}  // namespace assay::report
