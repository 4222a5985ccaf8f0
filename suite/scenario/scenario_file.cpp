// Fault plans from TOML files: [[fault]] tables with the keys of the flag grammar.
#include <fstream>
#include <sstream>

#include "suite/experiment/strict_toml.hpp"
#include "suite/scenario/fault_keys.hpp"

namespace assay {
namespace {

using Table = StrictTable<ScenarioError>;

std::optional<KeyValue> on_or_off(Table& table, std::string_view name) {
    const toml::node* node = table.find(name);
    if (!node) return std::nullopt;
    if (const auto* truth = node->as_boolean()) return KeyValue(truth->get() ? 1LL : 0LL);
    const auto* number = node->as_integer();
    if (!number || number->get() < 0 || number->get() > 1)
        table.fail(name, "must be true or false");
    return KeyValue(static_cast<long long>(number->get()));
}

template <class Value>
std::optional<KeyValue> as_key_value(const std::optional<Value>& value) {
    if (!value) return std::nullopt;
    return KeyValue(*value);
}

std::optional<KeyValue> read_value(Table& table, const FaultKey& key) {
    if (std::holds_alternative<NumberRange>(key.range)) return as_key_value(table.number(key.name));
    if (std::holds_alternative<OneOf>(key.range)) return as_key_value(table.text(key.name));
    if (std::holds_alternative<OnOff>(key.range)) return on_or_off(table, key.name);
    const auto& range = std::get<WholeRange>(key.range);
    const auto whole = table.integer(key.name, range.least, range.most);
    return whole ? std::optional(KeyValue(static_cast<long long>(*whole))) : std::nullopt;
}

Fault read_fault(Table table) {
    Fault fault;
    const std::string kind = table.required_text("kind");
    const auto known = parse_fault_kind(kind);
    if (!known) table.fail("kind", "is '" + kind + "'; known are " + known_fault_kinds());
    fault.kind = *known;
    for (const FaultKey& key : fault_keys()) {
        const std::optional<KeyValue> value = read_value(table, key);
        if (!value) continue;
        if (const std::string wrong = misplaced_key(key, fault.kind); !wrong.empty())
            table.fail(key.name, "does not belong here: " + wrong);
        if (!fits(key.range, *value)) table.fail(key.name, "must be " + expected(key.range));
        key.set(fault, *value);
    }
    if (const auto unknown = table.rest(); !unknown.empty())
        table.fail(unknown.front(), "is not a known key; " + known_fault_keys(fault.kind));
    if (const std::string wrong = combination_error(fault); !wrong.empty()) table.fail(wrong);
    return fault;
}

}  // namespace

FaultPlan read_scenario(std::string_view toml_text, std::string_view file_name) {
    const toml::table document = parse_toml<ScenarioError>(toml_text, file_name);
    Table file(document, std::string(file_name), "scenario");
    file.text("says");  // for readers of the file
    FaultPlan plan;
    for (const Table& fault : file.tables("fault")) plan.faults.push_back(read_fault(fault));
    file.refuse_rest();
    return plan;
}

FaultPlan read_scenario(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    if (!in || !(text << in.rdbuf()))
        throw ScenarioError(file.string() + ":1:1: cannot be read, or is empty");
    return read_scenario(text.str(), file.string());
}

}  // namespace assay
