#include "suite/claim/claim_groups.hpp"

#include <algorithm>
#include <array>

namespace assay {
namespace {

// Of these a claim without a check of its own takes none.
constexpr std::array<std::string_view, 6> of_checks{"check",   "checkable", "tolerance",
                                                    "assumes", "at",        "review"};
// Each claim says these itself.
constexpr std::array<std::string_view, 5> never_shared{"id", "says", "value", "explained", "cells"};

bool is_one_of(std::string_view key, const auto& keys) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::string text_of(const toml::table& table, std::string_view key) {
    return table[key].value_or(std::string());
}

bool reaches(std::string_view key, const toml::table& claim) {
    const bool checked = claim.contains("check");
    if (key == "not_checkable") return !checked;
    return checked || !is_one_of(key, of_checks);
}

void inherit(toml::table& claim, const toml::table& group, bool checked) {
    for (const auto& [key, value] : group) {
        if (key == "of" || (!checked && is_one_of(key.str(), of_checks)) ||
            !reaches(key.str(), claim))
            continue;
        if (!claim.contains(key.str())) {
            claim.insert(key.str(), value);
        } else if (key == "check" && value.is_table() && claim["check"].is_table()) {
            for (const auto& [inner, shared] : *value.as_table())
                claim["check"].as_table()->insert(inner.str(), shared);  // keeps the claim's own
        }
    }
}

// "lazarus/" or "lazarus/fig8/"
void refuse_prefix(const ClaimTable& group, const std::string& of) {
    const auto parts = std::count(of.begin(), of.end(), '/');
    if (of.size() < 2 || of.front() == '/' || of.back() != '/' || parts > 2 ||
        of.find("//") != std::string::npos)
        group.fail("of", "must be a system or a figure and end in '/': \"lazarus/fig8/\"");
}

// The claims that the group stands above; they must be all that its prefix names.
std::vector<toml::table*> reached(const ClaimTable& group, const std::string& of,
                                  toml::source_index line,
                                  const std::vector<toml::table*>& claims) {
    const auto named = [&](const toml::table* claim) {
        return text_of(*claim, "id").starts_with(of);
    };
    const auto first = std::find_if(claims.begin(), claims.end(), [&](const toml::table* claim) {
        return claim->source().begin.line > line;
    });
    const auto end = std::find_if_not(first, claims.end(), named);
    for (auto at = claims.begin(); at != claims.end(); ++at)
        if (named(*at) && (at < first || at >= end))
            group.fail((*at)->source(), "claim '" + text_of(**at, "id") +
                                            "' does not stand below '" + of +
                                            "', its group, with the others of it");
    if (first == end) group.fail("of", "'" + of + "' names no claim below it");
    return {first, end};
}

}  // namespace

void spread_groups(toml::table& document, const std::string& file) {
    ClaimTable whole(document, file, "file");
    std::vector<toml::table*> claims;
    if (toml::array* all = document["claim"].as_array())
        for (toml::node& claim : *all)
            if (claim.is_table()) claims.push_back(claim.as_table());
    std::vector<bool> checked;
    for (const toml::table* claim : claims) checked.push_back(claim->contains("check"));
    struct Group {
        std::string of;
        const toml::table* table;
        std::vector<toml::table*> claims;
    };
    std::vector<Group> groups;
    const toml::array* written = document["group"].as_array();
    std::size_t at = 0;
    for (ClaimTable& group : whole.tables("group")) {
        const toml::table& table = *written->get(at++)->as_table();
        const std::string of = group.required_text("of");
        refuse_prefix(group, of);
        for (const auto& [key, value] : table)
            if (is_one_of(key.str(), never_shared))
                group.fail(key.str(), "belongs to a claim, not to a group");
        if (std::any_of(groups.begin(), groups.end(), [&](const Group& g) { return g.of == of; }))
            group.fail("of", "'" + of + "' has a group already");
        groups.push_back({of, &table, reached(group, of, table.source().begin.line, claims)});
    }
    std::stable_sort(groups.begin(), groups.end(), [](const Group& one, const Group& other) {
        return one.of.size() > other.of.size();  // the figure's before the system's
    });
    for (const Group& group : groups)
        for (toml::table* claim : group.claims) {
            const auto index = std::find(claims.begin(), claims.end(), claim) - claims.begin();
            inherit(*claim, *group.table, checked[static_cast<std::size_t>(index)]);
        }
}

std::optional<Evidence> read_evidence(ClaimTable& table) {
    const std::optional<std::string> word = table.text("evidence");
    if (!word) return std::nullopt;
    if (const auto known = of_word<Evidence>(*word)) return known;
    table.fail("evidence", "is '" + *word + "'; known are " + words_of<Evidence>());
}

std::vector<Claim> read_settings(ClaimTable& file) {
    std::vector<Claim> settings;
    for (ClaimTable& table : file.tables("settings")) {
        const std::string of = table.required_text("of"), source = table.required_text("source");
        const std::optional<Evidence> evidence = read_evidence(table);
        const toml::node* rows = table.find("rows");
        if (!of.ends_with('/') || of.find('/') == 0) table.fail("of", "must end in '/'");
        if (!rows || !rows->is_array() || rows->as_array()->empty())
            table.fail("rows", "must be [[\"id\", \"says\", value, \"unit\"], …]");
        for (const toml::node& node : *rows->as_array()) {
            const toml::array* row = node.as_array();
            const auto text = [&](std::size_t at) {
                const auto* found = row && row->size() > at ? row->get(at)->as_string() : nullptr;
                return found ? found->get() : std::string();
            };
            const auto value = row && row->size() > 2 ? row->get(2)->value<double>() : std::nullopt;
            if (!row || row->size() > 4 || text(0).empty() || text(1).empty() ||
                (row->size() > 2 && (!value || !std::isfinite(*value))) ||
                (row->size() > 3 && text(3).empty()))
                table.fail(node.source(),
                           "a row of [[settings]] is [\"id\", \"says\"] and, where "
                           "it has them, a value and its unit");
            Claim setting;
            setting.id = of + text(0);
            setting.kind = ClaimKind::setting;
            setting.experiment = figure_of(setting.id);
            setting.says = text(1);
            setting.value = value;
            setting.unit = text(3);
            setting.source = source;
            setting.evidence = evidence;
            settings.push_back(std::move(setting));
        }
        table.refuse_rest();
    }
    return settings;
}

std::string figure_of(const std::string& id) {
    return id.substr(0, id.find('/', id.find('/') + 1));
}

}  // namespace assay
