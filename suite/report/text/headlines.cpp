#include "suite/report/text/headlines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "suite/report/text/terminal_text.hpp"
#include "suite/report/text/unchecked_claims.hpp"

namespace assay::report {
namespace {

constexpr std::size_t most_of_why = 200;
constexpr std::size_t most_in_cell = 100;  ///< of a sentence in a table whose rows are lines

/// "relaunch_s=60 and relaunch_s=300"; of more than four how many; empty: no assumptions.
std::string places(const std::vector<Case>& choices) {
    constexpr std::size_t most_named = 4;
    std::vector<std::string> names;
    for (const Case& choice : choices)
        if (!choice.empty()) names.push_back(to_string(choice));
    if (names.empty()) return {};
    if (names.size() > most_named) return fmt::format(" at {} choices of ends", names.size());
    return fmt::format(" at {}", fmt::join(names, " and "));
}

/// "holds at calibration=anchored, fails at calibration=sheet, over 5 seeds"
std::string standing(const Basis& basis) {
    std::vector<std::string> parts;
    const auto add = [&](const char* what, const std::vector<Case>& choices) {
        if (!choices.empty()) parts.push_back(what + places(choices));
    };
    add("holds", basis.holds_at);
    add("fails", basis.fails_at);
    add("cannot be told", basis.open_at);
    add("was not run", basis.not_run_at);
    if (basis.seeds.seeds > 0)
        parts.push_back(basis.seeds.seeds == 1 ? "one seed, which gives no interval"
                                               : fmt::format("over {} seeds", basis.seeds.seeds));
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string why_in_full(const Registry& registry, const Claim& claim, const ClaimCheck& check,
                        const NeedIsHere& here) {
    if (!rests_on_results(check)) {
        const std::vector<UncheckedClaims> groups = unchecked(registry, std::span(&check, 1), here);
        return groups.empty() ? check.reason : groups.front().why;
    }
    if (const std::string text = explanation_text(claim, check); !text.empty()) return text;
    if (check.verdict == ClaimVerdict::undecided && !claim.review.empty()) return claim.review;
    if (!check.basis) return check.reason;
    if (check.verdict == ClaimVerdict::calibrated)
        return fmt::format("no evidence: {}", check.basis->fitted);
    if (check.provenance == Provenance::exact) return standing(*check.basis) + ", computed exactly";
    return standing(*check.basis);
}

/// As JSON and the tables have it: a whole number without a fraction.
nlohmann::json number_json(const std::optional<double>& value) {
    constexpr double most_whole = 1e15;
    if (!value || !std::isfinite(*value)) return nullptr;
    if (*value == std::nearbyint(*value) && std::abs(*value) < most_whole)
        return static_cast<std::int64_t>(*value);
    return *value;
}

std::string paper_text(const Claim& claim) {
    const nlohmann::json paper = number_json(paper_value(claim));
    return paper.is_null() ? "–" : paper.dump();
}

/// "2.5 (2.1–2.8)"
std::string ours(const ClaimCheck& check) {
    if (!check.obtained) return "–";
    const SeedRange range = seed_range(check);
    return range.low && range.high ? number(*check.obtained, *range.low, *range.high)
                                   : number(*check.obtained);
}

/// ", emulated"; empty: nothing was obtained.
std::string how(const ClaimCheck& check) {
    return check.provenance ? fmt::format(", {}", to_string(*check.provenance)) : "";
}

/// What the papers say, brief; those that then read alike name the end of the claim's id.
std::vector<std::string> short_statements(const std::vector<Headline>& rows) {
    std::vector<std::string> statements;
    for (const Headline& row : rows) statements.push_back(brief(row.claim->says, most_in_cell));
    const std::vector<std::string> plain = statements;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (std::count(plain.begin(), plain.end(), plain[i]) > 1)
            statements[i] +=
                fmt::format(" ({})", rows[i].claim->id.substr(rows[i].claim->id.rfind('/') + 1));
    return statements;
}

/// Where a sentence ends within the text's first `end` bytes, behind its full stop; 0: none does.
/// "Fig. 8" ends none.
std::size_t end_of_sentence(std::string_view text, std::size_t end) {
    for (std::size_t at = std::min(end, text.size() - 2); at > 0; --at)
        if (text[at - 1] == '.' && text[at] == ' ' &&
            std::isupper(static_cast<unsigned char>(text[at + 1])) != 0)
            return at;
    return 0;
}

}  // namespace

std::string brief(std::string_view text, std::size_t most) {
    std::string line(text);
    for (char& c : line)
        if (c == '\n') c = ' ';
    std::size_t end = 0, characters = 0, last_blank = 0;  // what fits beside "…"
    while (end < line.size() && characters + 1 < most) {
        if (line[end] == ' ') last_blank = end;
        end += code_point(line, end).bytes;
        ++characters;
    }
    if (end >= line.size() || end + code_point(line, end).bytes == line.size()) return line;
    if (line[end] == ' ') last_blank = end;
    const std::size_t sentence = end_of_sentence(line, end);
    if (sentence >= end / 4) return line.substr(0, sentence);
    std::size_t cut = last_blank > 0 ? last_blank : end;
    // A command in backquotes is told whole or not at all.
    if (std::count(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(cut), '`') % 2 == 1)
        cut = line.rfind('`', cut - 1);
    while (cut > 0 && std::string_view(" ,:;(").find(line[cut - 1]) != std::string_view::npos)
        --cut;
    return line.substr(0, cut) + "…";
}

std::string headline_why(const Registry& registry, const Claim& claim, const ClaimCheck& check,
                         const NeedIsHere& here) {
    return brief(why_in_full(registry, claim, check, here), most_of_why);
}

std::vector<Headline> headlines(const Registry& registry, std::span<const ClaimCheck> checks,
                                const NeedIsHere& here) {
    std::vector<Headline> rows;
    for (const ClaimCheck& check : checks)
        if (const Claim* claim = registry.claim(check.claim); claim != nullptr && claim->headline)
            rows.push_back({claim, check, headline_why(registry, *claim, check, here)});
    return rows;
}

std::string system_of(const Claim& claim) { return claim.id.substr(0, claim.id.find('/')); }

std::optional<double> paper_value(const Claim& claim) {
    return claim.kind == ClaimKind::ours ? std::nullopt : claim.value;
}

SeedRange seed_range(const ClaimCheck& check) {
    return check.basis ? check.basis->seeds : SeedRange{};
}

nlohmann::json headline_json(const Headline& row) {
    const auto& [claim, check, why] = row;
    const SeedRange range = seed_range(check);
    return {{"system", system_of(*claim)},
            {"claim", claim->id},
            {"says", claim->says},
            {"paper", number_json(paper_value(*claim))},
            {"ours", number_json(check.obtained)},
            {"low", number_json(range.low)},
            {"high", number_json(range.high)},
            {"provenance",
             check.provenance ? nlohmann::json(to_string(*check.provenance)) : nlohmann::json()},
            {"verdict", to_string(check.verdict)},
            {"why", why}};
}

Grid headlines_grid(const std::vector<Headline>& rows) {
    Grid grid{{"system", "what the paper says", "paper", "ours", "verdict", "why"}};
    const std::vector<std::string> statements = short_statements(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto& [claim, check, why] = rows[i];
        grid.push_back({system_of(*claim), statements[i], paper_text(*claim),
                        ours(check) + how(check), std::string(to_string(check.verdict)),
                        brief(why, most_in_cell)});
    }
    return grid;
}

std::string headlines_table(const std::vector<Headline>& rows, std::size_t columns) {
    Grid grid{{"verdict", "paper", "ours", "provenance", "claim"}};
    for (const auto& [claim, check, why] : rows)
        grid.push_back({std::string(to_string(check.verdict)), paper_text(*claim), ours(check),
                        check.provenance ? std::string(to_string(*check.provenance)) : "–",
                        claim->id});
    return annotated_table(
        grid, columns,
        [&](std::size_t row) {
            const auto& [claim, check, why] = rows[row - 1];
            return claim->id + '\n' +
                   indented(fmt::format("{}: paper {}, ours {}{}", to_string(check.verdict),
                                        paper_text(*claim), ours(check), how(check)),
                            columns);
        },
        [&](std::size_t row) {
            return indented(fmt::format("“{}”", rows[row - 1].claim->says), columns) +
                   indented(rows[row - 1].why, columns);
        });
}

}  // namespace assay::report
