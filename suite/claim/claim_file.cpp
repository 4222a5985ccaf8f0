// Claim files. Strict: a key that is not known, a test that lacks what it needs, a tolerance that
// is negative are errors with file and line, because a claim that silently checks nothing is worse
// than none.
#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "suite/claim/claim_groups.hpp"
#include "suite/claim/criterion.hpp"

namespace assay {
namespace {

using Table = ClaimTable;

constexpr std::array<std::string_view, 7> tests{"near",       "at_least",   "at_most", "greater",
                                                "increasing", "decreasing", "order"};
constexpr std::array<std::string_view, 5> reductions{"mean", "median", "max", "min", "argmax"};

bool is_one_of(std::string_view word, const auto& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

Value value_of(const Table& table, const std::string& key, const toml::node& node) {
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* whole = node.as_integer()) return whole->get();
    const auto* real = node.as_floating_point();
    if (!real || !std::isfinite(real->get())) table.fail(key, "must be a number or a string");
    return real->get();
}

Case read_case(Table table) {
    Case values;
    for (const std::string& key : table.rest())
        values[key] = value_of(table, key, *table.find(key));
    return values;
}

// { variant = "mro", model = "gpt-l", failed = 4 }: what is not the variant is an axis or a label.
Selector read_selector(Table table) {
    Selector selector;
    selector.variant = table.text("variant").value_or("");
    selector.where = read_case(std::move(table));
    selector.where.erase("variant");
    return selector;
}

void merge(Table& check, Selector& into, const Case& common) {
    for (const auto& [name, value] : common)
        if (!into.where.emplace(name, value).second)
            check.fail("where", "and a side both give '" + name + "'");
}

bool flag(Table& table, std::string_view key) {
    const toml::node* node = table.find(key);
    if (node && !node->is_boolean()) table.fail(key, "must be true or false");
    return node && node->as_boolean()->get();
}

// near, at_least and the like: which other keys they need, and which not.
void demand_sides(const Claim& claim, Table& check) {
    const Test& test = claim.test;
    const bool bounded = test.name == "near" || test.name == "at_least" || test.name == "at_most";
    if (claim.metric.empty()) check.fail("check lacks 'metric'");
    if (bounded && !claim.value) check.fail("test", "needs the claim's 'value'");
    if (test.name == "near" && !claim.relative && !claim.absolute)
        check.fail("test", "'near' needs a 'tolerance' in the claim");
    if (test.name == "greater" && !claim.value && !claim.over)
        check.fail("test", "'greater' needs the claim's 'value' or 'over'");
    if (claim.over && claim.over->variant.empty() != claim.of.variant.empty())
        check.fail("over", "and 'of' must both name a variant, or neither");
}

void demand_walk(const Claim& claim, Table& check) {
    const Test& test = claim.test;
    const bool monotone = test.name == "increasing" || test.name == "decreasing";
    if (monotone && (test.along.empty() || test.along == "variant"))
        check.fail("test", "needs 'along', an axis or a label");
    if (!test.walks() && test.reduce != "argmax" && test.equal.empty() && !test.along.empty())
        check.fail("along", "belongs to increasing, decreasing, order, argmax and equal");
    if ((test.name == "order") != !test.order.empty() || test.order.size() == 1)
        check.fail(
            "test",
            "'order', and only it, needs 'order', at least two names from largest to smallest");
    if (test.name == "order" && (claim.over || (test.along.empty() && !claim.of.variant.empty())))
        check.fail(
            "test",
            "'order' compares all listed variants: it takes neither 'over' nor a variant in 'of'");
}

void demand_reduction(const Claim& claim, Table& check) {
    const Test& test = claim.test;
    if (!test.reduce.empty() && !is_one_of(test.reduce, reductions))
        check.fail("reduce", "is '" + test.reduce + "'; known are mean, median, max, min, argmax");
    if (!test.reduce.empty() && test.walks())
        check.fail("reduce", "leaves nothing to walk along; a value test follows it");
    if (test.reduce == "argmax" && test.along.empty())
        check.fail("reduce", "'argmax' needs 'along', the axis or label whose value is meant");
    const bool extreme = test.reduce == "max" || test.reduce == "min";
    if (!test.extreme_at.empty() && (!extreme || test.clearly))
        check.fail("extreme_at", "belongs to reduce = max or min, without a clearly_ test");
    if (test.equal.empty()) return;
    if (!claim.over || test.along.empty() || !test.clearly || !test.reduce.empty() ||
        test.walks() || test.absolute)
        check.fail("equal",
                   "needs 'over', 'along' and clearly_near, clearly_at_least, "
                   "clearly_at_most or clearly_greater, without 'reduce' and 'absolute'");
}

void read_test_name(Table& check, Test& test) {
    test.name = check.required_text("test");
    if (test.custom() && test.name.size() > 7) return;
    constexpr std::string_view clearly = "clearly_";
    test.clearly = test.name.starts_with(clearly);
    if (test.clearly) test.name.erase(0, clearly.size());
    if (!is_one_of(test.name, tests))
        check.fail("test", "is '" + (test.clearly ? std::string(clearly) : "") + test.name +
                               "'; known are near, at_least, at_most, greater, increasing, "
                               "decreasing, order, each also with clearly_ before it, custom:NAME");
}

void read_between(Table table, Test& test) {
    for (const std::string& name : table.rest()) {
        const std::vector<double> ends = table.numbers(name);
        if (ends.size() != 2 || !(ends[0] <= ends[1])) table.fail(name, "must be [low, high]");
        test.between[name] = {ends[0], ends[1]};
    }
}

void read_test(Claim& claim, Table& check) {
    Test& test = claim.test;
    read_test_name(check, test);
    test.along = check.text("along").value_or("");
    test.order = check.texts("order");
    test.reduce = check.text("reduce").value_or("");
    if (auto there = check.table("extreme_at")) test.extreme_at = read_case(*there);
    for (Table& left_out : check.tables("except")) test.except.push_back(read_case(left_out));
    if (auto between = check.table("between")) read_between(*between, test);
    test.absent = check.texts("absent");
    test.absolute = flag(check, "absolute");
    test.cases = static_cast<std::size_t>(check.integer("cases", 1, 1'000'000).value_or(0));
    test.equal = check.text("equal").value_or("");
    if (check.find("seeds") && !test.clearly) check.fail("seeds", "belongs to a clearly_ test");
    test.seeds = static_cast<std::size_t>(check.integer("seeds", 2, 1'000'000).value_or(3));
    if (test.custom()) return;
    demand_sides(claim, check);
    demand_walk(claim, check);
    demand_reduction(claim, check);
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
    for (const auto& [name, ends] : claim.assumes)
        if (claim.of.where.contains(name))
            check.fail("of", "fixes '" + name + "', of which 'assumes' gives every choice");
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
        if (!of_word<Profile>(profile))
            checkable.fail(profile, "is no profile; known are " + words_of<Profile>());
        if (!of_word<Provenance>(provenance))
            checkable.fail(profile, "has no known provenance; known are " + words_of<Provenance>());
        claim.checkable[profile] = provenance;
    }
}

// A range of numbers, or words.
Claim::Assumptions read_assumptions(Table assumes) {
    Claim::Assumptions all;
    for (const std::string& name : assumes.rest()) {
        const toml::node* node = assumes.find(name);
        std::vector<Value> ends;
        if (node->is_array())
            for (const toml::node& end : *node->as_array())
                ends.push_back(value_of(assumes, name, end));
        const auto word = [](const Value& end) { return std::holds_alternative<std::string>(end); };
        const bool words = ends.size() > 1 && std::all_of(ends.begin(), ends.end(), word) &&
                           std::set(ends.begin(), ends.end()).size() == ends.size();
        if (!words) {
            const bool numbers = ends.size() == 2 && std::none_of(ends.begin(), ends.end(), word);
            const std::vector<double> range =
                numbers ? assumes.numbers(name) : std::vector<double>();
            if (!numbers || !(range[0] < range[1]))
                assumes.fail(name, "must be a range [low, high] or at least two different words");
            ends = {range[0], range[1]};
        }
        all[name] = ends;
    }
    // Every combination of ends is checked.
    if (all.size() > 6) assumes.fail("assumes has more than 6 entries");
    return all;
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

void read_cells(Claim& claim, Table& table) {
    const toml::node* cells = table.find("cells");
    if (!cells) return;
    constexpr const char* shape = "must be [[\"row\", \"column\", value], …]";
    if (!cells->is_array()) table.fail("cells", shape);
    for (const toml::node& node : *cells->as_array()) {
        const toml::array* cell = node.as_array();
        const auto text = [&](std::size_t at) { return cell->get(at)->value_exact<std::string>(); };
        if (!cell || cell->size() != 3 || !text(0) || !text(1)) table.fail("cells", shape);
        const std::optional<double> value = cell->get(2)->value<double>();
        if (!value || !std::isfinite(*value)) table.fail("cells", shape);
        claim.cells.push_back({*text(0), *text(1), *value});
    }
}

void read_explanation(Claim& claim, Table explained) {
    Explanation why{.because = explained.required_text("because")};
    const auto obtained = explained.number("obtained"), within = explained.number("within");
    if (!obtained || !within || *within < 0)
        explained.fail(
            "explained needs 'obtained', the value that it explains, and 'within', how "
            "far from it it still does");
    why.obtained = *obtained;
    why.within = *within;
    explained.refuse_rest();
    claim.explained = std::move(why);
}

// "lazarus/fig8/gpt-l/200/mro-4" belongs to experiment "lazarus/fig8".
std::string experiment_of(Table& table, const std::string& id) {
    const auto system_end = id.find('/');
    if (system_end == 0 || system_end == std::string::npos || system_end + 1 == id.size())
        table.fail("id", "must look like system/figure/what");
    if (auto given = table.text("experiment")) return *given;
    return figure_of(id);
}

ClaimKind read_kind(Table& table) {
    const std::string kind = table.text("kind").value_or("claim");
    if (const auto known = of_word<ClaimKind>(kind)) return *known;
    table.fail("kind", "is '" + kind + "'; known are " + words_of<ClaimKind>());
}

// What used to be sentences that changed verdicts.
void refuse_old_keys(Table& table) {
    if (table.find("discrepancy"))
        table.fail("discrepancy",
                   "is no key: a contradicted claim is explained by explained = { "
                   "because = \"…\", obtained = 1.22, within = 0.1 }");
    if (table.find("fitted_from"))
        table.fail("fitted_from", "is no key of a claim: [[fit]] names what a fit determines");
}

// What goes with a check, and what without one.
void demand_consistency(const Claim& claim, Table& table, bool checked) {
    if (claim.kind == ClaimKind::setting &&
        (checked || !claim.checkable.empty() || !claim.needs.empty() || !claim.assumes.empty() ||
         claim.relative || claim.absolute))
        table.fail("kind",
                   "a setting is not checked: it has id, says, value, unit, source and at "
                   "most not_checkable, why it is none");
    if (checked && claim.checkable.empty())
        table.fail("check", "needs 'checkable', { profile = provenance }");
    if (checked && !claim.not_checkable.empty())
        table.fail("not_checkable", "stands beside a 'check'; a claim has one of them");
    if (!checked && claim.explained) table.fail("explained", "needs a 'check'");
    if (!checked && !claim.review.empty()) table.fail("review", "needs a 'check'");
    if (claim.explained && !claim.test.custom() && may_support(claim, *claim.explained))
        table.fail("explained", "reaches what would support the claim; narrow 'within'");
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
    refuse_old_keys(table);
    if (auto explained = table.table("explained")) read_explanation(claim, *explained);
    claim.review = table.text("review").value_or("");
    claim.not_checkable = table.text("not_checkable").value_or("");
    claim.headline = flag(table, "headline");
    read_cells(claim, table);
    claim.source = table.required_text("source");
    claim.evidence = read_evidence(table);
    const auto check = table.table("check");
    if (check) read_check(claim, *check);
    demand_consistency(claim, table, check.has_value());
    table.refuse_rest();
    return claim;
}

Fit read_fit(Table table) {
    Fit fit;
    fit.of = table.required_text("of");
    if (!fit.of.ends_with('/')) table.fail("of", "must be a system or a figure and end in '/'");
    fit.variants = table.texts("variants");
    fit.metrics = table.texts("metrics");
    fit.from = table.texts("from");
    fit.because = table.required_text("because");
    if (auto where = table.table("where"))
        for (const std::string& name : where->rest()) {
            const toml::node* node = where->find(name);
            std::vector<Value>& any = fit.where[name];
            if (const toml::array* list = node->as_array())
                for (const toml::node& value : *list) any.push_back(value_of(*where, name, value));
            else
                any.push_back(value_of(*where, name, *node));
            if (any.empty()) where->fail(name, "names no value");
        }
    table.refuse_rest();
    return fit;
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
    for (Table& table : file.tables("fit")) {
        const Fit fit = read_fit(table);
        for (const std::string& from : fit.from)
            if (!ids.contains(from)) table.fail("from", "names no claim: '" + from + "'");
        for (Claim& claim : claims)
            if ((claim.experiment + '/').starts_with(fit.of)) claim.fits.push_back(fit);
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
