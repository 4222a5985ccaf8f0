// Names of verdicts, the JSON shape of a checked claim, the command that produces its observations.
#include "suite/claim/claim.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "suite/base/strict_toml.hpp"
#include "suite/claim/claim_groups.hpp"

namespace assay {

std::string_view to_string(ClaimVerdict verdict) {
    switch (verdict) {
        case ClaimVerdict::supported:
            return "supported";
        case ClaimVerdict::contradicted:
            return "contradicted";
        case ClaimVerdict::calibrated:
            return "calibrated";
        case ClaimVerdict::open_discrepancy:
            return "open discrepancy";
        case ClaimVerdict::not_checkable_here:
            return "not checkable here";
        case ClaimVerdict::not_run:
            break;
    }
    return "not run";
}

std::string_view to_string(ClaimKind kind) {
    return kind == ClaimKind::setting ? "setting" : "claim";
}

std::string command_for(const Claim& claim) {
    const std::pair<const std::string, std::string>* smallest = nullptr;
    for (const auto& entry : claim.checkable)
        if (!smallest || parse_profile(entry.first) < parse_profile(smallest->first))
            smallest = &entry;
    if (!smallest) return "";
    std::string command = "assay run " + claim.experiment + " --profile " + smallest->first +
                          " --mode " + smallest->second;
    // An input that must be the real one has to be asked for: the default may be a substitute.
    for (const std::string& need : claim.needs) {
        const auto colon = need.find(':');
        if (colon == std::string::npos || !claim.of.where.count(need.substr(0, colon))) continue;
        command += " -a " + need.substr(0, colon) + '=' + need.substr(colon + 1);
    }
    return command;
}

Claim asked_at(Claim claim, const std::string& profile) {
    const auto at = claim.at.find(profile);
    if (at == claim.at.end()) return claim;
    if (!at->second.metric.empty()) claim.metric = at->second.metric;
    claim.assumes.insert(at->second.assumes.begin(), at->second.assumes.end());
    return claim;
}

nlohmann::json to_json(const Claim& claim, const ClaimCheck& check) {
    nlohmann::json object{{"id", claim.id},
                          {"experiment", claim.experiment},
                          {"kind", to_string(claim.kind)},
                          {"says", claim.says},
                          {"value", nullptr},
                          {"unit", claim.unit},
                          {"verdict", to_string(check.verdict)},
                          {"reason", check.reason},
                          {"provenance", nullptr},
                          {"obtained", nullptr},
                          {"source", claim.source},
                          {"needs", claim.needs},
                          {"command", nullptr}};
    if (claim.value) object["value"] = *claim.value;
    if (check.provenance) object["provenance"] = to_string(*check.provenance);
    if (check.obtained && std::isfinite(*check.obtained)) object["obtained"] = *check.obtained;
    if (const std::string command = command_for(claim); !command.empty())
        object["command"] = command;
    return object;
}

// Claim files. Strict: a key that is not known, a test that lacks what it needs, a tolerance that
// is negative are errors with file and line, because a claim that silently checks nothing is worse
// than none.

namespace {

using Table = ClaimTable;

constexpr std::array<std::string_view, 7> tests{"near",       "at_least",   "at_most", "greater",
                                                "increasing", "decreasing", "order"};

Value value_of(const Table& table, const std::string& key, const toml::node& node) {
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* whole = node.as_integer()) return whole->get();
    const auto* real = node.as_floating_point();
    if (!real || !std::isfinite(real->get())) table.fail(key, "must be a number or a string");
    return real->get();
}

// { variant = "mro", model = "gpt-l", failed = 4 }: what is not the variant is an axis or a label.
Selector read_selector(Table table) {
    Selector selector;
    selector.variant = table.text("variant").value_or("");
    for (const std::string& key : table.rest())
        selector.where[key] = value_of(table, key, *table.find(key));
    return selector;
}

void merge(Table& check, Selector& into, const Case& common) {
    for (const auto& [name, value] : common)
        if (!into.where.emplace(name, value).second)
            check.fail("where", "and a side both give '" + name + "'");
}

void read_test(Claim& claim, Table& check) {
    const bool relative_to_value =
        claim.test == "near" || claim.test == "at_least" || claim.test == "at_most";
    const bool custom = claim.test.substr(0, 7) == "custom:" && claim.test.size() > 7;
    if (!custom && std::find(tests.begin(), tests.end(), claim.test) == tests.end())
        check.fail("test",
                   "is '" + claim.test +
                       "'; known are near, at_least, at_most, greater, increasing, decreasing, "
                       "order, custom:NAME");
    if (!custom && claim.metric.empty()) check.fail("check lacks 'metric'");
    if (relative_to_value && !claim.value) check.fail("test", "needs the claim's 'value'");
    if (claim.test == "near" && !claim.relative && !claim.absolute)
        check.fail("test", "'near' needs a 'tolerance' in the claim");
    if (claim.test == "greater" && !claim.value && !claim.over)
        check.fail("test", "'greater' needs the claim's 'value' or 'over'");
    const bool monotone = claim.test == "increasing" || claim.test == "decreasing";
    if (monotone && (claim.along.empty() || claim.along == "variant"))
        check.fail("test", "needs 'along', an axis or a label");
    if (!monotone && !custom && claim.test != "order" && !claim.along.empty())
        check.fail("along", "belongs to increasing, decreasing, order and custom checks");
    if ((claim.test == "order") != !claim.order.empty() || claim.order.size() == 1)
        check.fail(
            "test",
            "'order', and only it, needs 'order', at least two names from largest to smallest");
    if (claim.test == "order" && (claim.over || (claim.along.empty() && !claim.of.variant.empty())))
        check.fail(
            "test",
            "'order' compares all listed variants: it takes neither 'over' nor a variant in 'of'");
    if (claim.over && claim.over->variant.empty() != claim.of.variant.empty())
        check.fail("over", "and 'of' must both name a variant, or neither");
}

void read_check(Claim& claim, Table check) {
    claim.metric = check.text("metric").value_or("");
    if (auto of = check.table("of")) claim.of = read_selector(*of);
    if (auto over = check.table("over")) claim.over = read_selector(*over);
    if (auto where = check.table("where")) {
        const Selector common = read_selector(*where);
        if (!common.variant.empty())
            check.fail("where", "must not name a variant; 'of' and 'over' do");
        merge(check, claim.of, common.where);
        if (claim.over) merge(check, *claim.over, common.where);
    }
    claim.along = check.text("along").value_or("");
    claim.order = check.texts("order");
    claim.test = check.required_text("test");
    read_test(claim, check);
    check.refuse_rest();
}

void read_tolerance(Claim& claim, Table tolerance) {
    claim.relative = tolerance.number("relative");
    claim.absolute = tolerance.number("absolute");
    for (const char* key : {"relative", "absolute"})
        if (tolerance.number(key).value_or(0) < 0) tolerance.fail(key, "must not be negative");
    tolerance.refuse_rest();
    if (!claim.relative && !claim.absolute)
        tolerance.fail("tolerance is empty; give relative or absolute");
}

void read_checkable(Claim& claim, Table checkable) {
    for (const std::string& profile : checkable.rest()) {
        const std::string provenance = *checkable.text(profile);
        if (!parse_profile(profile))
            checkable.fail(profile, "is no profile; known are toy, small, gpu, cluster, paper");
        if (!parse_provenance(provenance))
            checkable.fail(
                profile, "has no known provenance; known are exact, measured, emulated, simulated");
        claim.checkable[profile] = provenance;
    }
}

std::map<std::string, std::vector<double>> read_assumptions(Table assumes) {
    std::map<std::string, std::vector<double>> ranges;
    for (const std::string& name : assumes.rest()) {
        const std::vector<double> range = assumes.numbers(name);
        if (range.size() != 2 || !(range[0] < range[1]))
            assumes.fail(name, "must be a range [low, high]");
        ranges[name] = range;
    }
    // Every combination of ends is checked.
    if (ranges.size() > 6) assumes.fail("assumes has more than 6 entries");
    return ranges;
}

void read_at(Claim& claim, Table at) {
    for (const std::string& profile : at.rest()) {
        Table here = *at.table(profile);
        if (!claim.checkable.contains(profile))
            at.fail(profile, "is no profile that 'checkable' names");
        Claim::AtProfile& asked = claim.at[profile];
        asked.metric = here.text("metric").value_or("");
        if (auto assumes = here.table("assumes")) asked.assumes = read_assumptions(*assumes);
        here.refuse_rest();
        if (claim.assumes.size() + asked.assumes.size() > 6)
            at.fail(profile, "has more than 6 assumptions with those of the claim");
    }
}

// "lazarus/fig8/gpt-l/200/mro-4" belongs to experiment "lazarus/fig8".
std::string experiment_of(Table& table, const std::string& id) {
    const auto system_end = id.find('/');
    if (system_end == 0 || system_end == std::string::npos || system_end + 1 == id.size())
        table.fail("id", "must look like system/figure/what");
    if (auto given = table.text("experiment")) return *given;
    return figure_of(id);
}

// What only a claim may have: a setting is not checked, so that nothing may say how.
void refuse_checks_of(const Claim& setting, Table& table) {
    const bool checked = !setting.checkable.empty() || !setting.needs.empty() ||
                         !setting.assumes.empty() || !setting.at.empty() ||
                         !setting.fitted_from.empty() || !setting.discrepancy.empty() ||
                         setting.relative || setting.absolute || table.find("check") != nullptr;
    if (checked)
        table.fail("kind",
                   "a setting is not checked: it has id, says, value, unit, source and at "
                   "most not_checkable, why it is none");
}

ClaimKind read_kind(Table& table) {
    const std::string kind = table.text("kind").value_or("claim");
    if (kind == "setting") return ClaimKind::setting;
    if (kind != "claim") table.fail("kind", "is '" + kind + "'; known are claim, setting");
    return ClaimKind::claim;
}

Claim read_claim(Table table) {
    Claim claim;
    claim.id = table.required_text("id");
    claim.kind = read_kind(table);
    claim.experiment = experiment_of(table, claim.id);
    claim.says = table.required_text("says");
    claim.value = table.number("value");
    claim.unit = table.text("unit").value_or("");
    if (auto tolerance = table.table("tolerance")) read_tolerance(claim, *tolerance);
    if (auto checkable = table.table("checkable")) read_checkable(claim, *checkable);
    claim.needs = table.texts("needs");
    if (auto assumes = table.table("assumes")) claim.assumes = read_assumptions(*assumes);
    if (auto at = table.table("at")) read_at(claim, *at);
    claim.fitted_from = table.texts("fitted_from");
    claim.discrepancy = table.text("discrepancy").value_or("");
    claim.not_checkable = table.text("not_checkable").value_or("");
    claim.source = table.required_text("source");
    if (claim.kind == ClaimKind::setting) refuse_checks_of(claim, table);
    if (auto check = table.table("check")) {
        read_check(claim, *check);
        if (claim.checkable.empty())
            table.fail("check", "needs 'checkable', { profile = provenance }");
    }
    table.refuse_rest();
    return claim;
}

}  // namespace

std::vector<Claim> read_claims(std::string_view toml_text, std::string_view file_name) {
    toml::table document = parse_toml<ClaimFileError>(toml_text, file_name);
    spread_groups(document, std::string(file_name));
    Table file(document, std::string(file_name), "file");
    file.find("group");
    std::vector<Claim> claims;
    std::set<std::string> ids;
    for (Table& table : file.tables("claim")) {
        claims.push_back(read_claim(table));
        if (!ids.insert(claims.back().id).second)
            table.fail("id", "'" + claims.back().id + "' is used twice");
    }
    for (Claim& setting : read_settings(file)) {
        if (!ids.insert(setting.id).second)
            file.fail("settings", "'" + setting.id + "' is used twice");
        claims.push_back(std::move(setting));
    }
    file.refuse_rest();
    return claims;
}

std::vector<Claim> read_claims(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    if (!in || !(text << in.rdbuf()))
        throw ClaimFileError(file.string() + ":1:1: cannot be read, or is empty");
    return read_claims(text.str(), file.string());
}

}  // namespace assay
