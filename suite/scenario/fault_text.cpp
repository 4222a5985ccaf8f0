// Fault plans as text: the flag grammar, read and written, and TOML files, [[fault]] tables with
// its keys.
#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <set>
#include <sstream>

#include "suite/base/strict_toml.hpp"
#include "suite/scenario/fault_kinds.hpp"

namespace assay {
namespace {

// What the user typed, fit for one line of a terminal.
std::string quoted(std::string_view text) {
    std::string out = "'";
    for (const char letter : text.substr(0, 100)) {
        const auto byte = static_cast<unsigned char>(letter);
        out += byte < 0x20 || byte == 0x7f ? '?' : letter;
    }
    return out + (text.size() > 100 ? "…'" : "'");
}

template <class Number>
std::optional<KeyValue> parse_number(std::string_view text) {
    Number number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || stop != end) return std::nullopt;
    return KeyValue(number);
}

std::optional<KeyValue> parse_value(const KeyRange& range, std::string_view text) {
    if (is_word(range)) return KeyValue(std::string(text));
    if (std::holds_alternative<NumberRange>(range)) return parse_number<double>(text);
    return parse_number<long long>(text);
}

std::string text_of(const KeyValue& value) {
    return std::visit([](const auto& plain) { return fmt::format("{}", plain); }, value);
}

class FaultReader {
  public:
    FaultReader(std::string_view text, const FaultPhases& phases) : text_(text), phases_(phases) {}

    Fault read() {
        const std::string_view kind = until(":@");
        if (const auto known = of_word<FaultKind>(kind))
            fault_.kind = *known;
        else
            fail(0, "unknown kind " + quoted(kind) + "; known are " + known_fault_kinds());
        if (next_is(':')) read_keys(false);
        if (!next_is('@')) fail(at_, "'@step=N' or '@t=SECONDS' is missing");
        read_keys(true);
        if (const std::string wrong = combination_error(fault_, phases_); !wrong.empty())
            fail(0, wrong);
        return fault_;
    }

  private:
    [[noreturn]] void fail(std::size_t position, const std::string& message) const {
        throw ScenarioError("fault " + quoted(text_) + ", position " +
                            std::to_string(position + 1) + ": " + message +
                            "; the form is KIND:key=value,…@step=N|t=SECONDS[,for=SECONDS]");
    }

    std::string_view until(std::string_view stops) {
        const std::size_t end = std::min(text_.find_first_of(stops, at_), text_.size());
        const std::string_view part = text_.substr(at_, end - at_);
        at_ = end;
        return part;
    }

    bool next_is(char letter) {
        if (at_ >= text_.size() || text_[at_] != letter) return false;
        ++at_;
        return true;
    }

    void read_keys(bool when) {
        do {
            const std::size_t key_at = at_;
            const std::string_view key = until("=,@:");
            if (!next_is('=')) fail(at_, "'=' and a value are missing after " + quoted(key));
            const std::size_t value_at = at_;
            read_value(key, key_at, until(",@"), value_at, when);
        } while (next_is(','));
        if (at_ < text_.size() && (when || text_[at_] != '@'))
            fail(at_, "unexpected " + quoted(text_.substr(at_, 1)));
    }

    void read_value(std::string_view name, std::size_t name_at, std::string_view text,
                    std::size_t text_at, bool when) {
        const FaultKey* key = find_fault_key(name);
        if (!key)
            fail(name_at, "unknown key " + quoted(name) + "; " + known_fault_keys(fault_.kind));
        if (key->after_at != when)
            fail(name_at, quoted(name) + " belongs " + (when ? "before" : "after") + " the '@'");
        if (!seen_.insert(key).second) fail(name_at, quoted(name) + " is given twice");
        if (const std::string wrong = misplaced_key(*key, fault_.kind); !wrong.empty())
            fail(name_at, wrong);
        const std::optional<KeyValue> value = parse_value(key->range, text);
        if (!value || !fits(key->range, *value, phases_))
            fail(text_at, quoted(text) + " is not " + expected(key->range, phases_, text));
        key->set(fault_, *value);
    }

    std::string_view text_;
    const FaultPhases& phases_;
    std::size_t at_ = 0;
    Fault fault_;
    std::set<const FaultKey*> seen_;
};

std::string_view without_spaces_around(std::string_view text) {
    constexpr std::string_view spaces = " \t\r";
    const std::size_t first = text.find_first_not_of(spaces);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

}  // namespace

std::string to_string(const Fault& fault) {
    std::string before, after;
    for (const FaultKey& key : fault_keys()) {
        const std::optional<KeyValue> value = key.get(fault);
        if (!value) continue;
        std::string& side = key.after_at ? after : before;
        side += !side.empty() ? ',' : key.after_at ? '@' : ':';
        side += std::string(key.name) + '=' + text_of(*value);
    }
    return std::string(to_string(fault.kind)) + before + after;
}

std::string to_string(const FaultPlan& plan) {
    std::string text;
    for (const Fault& fault : plan.faults) text += (text.empty() ? "" : ";") + to_string(fault);
    return text;
}

Fault parse_fault(std::string_view text, const FaultPhases& phases) {
    return FaultReader(without_spaces_around(text), phases).read();
}

FaultPlan parse_fault_plan(std::string_view text, const FaultPhases& phases) {
    FaultPlan plan;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find_first_of(";\n", at), text.size());
        const std::string_view fault = without_spaces_around(text.substr(at, end - at));
        if (!fault.empty()) plan.faults.push_back(parse_fault(fault, phases));
        at = end + 1;
    }
    return plan;
}

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
    if (is_word(key.range)) return as_key_value(table.text(key.name));
    if (std::holds_alternative<OnOff>(key.range)) return on_or_off(table, key.name);
    const auto& range = std::get<WholeRange>(key.range);
    const auto whole = table.integer(key.name, range.least, range.most);
    return whole ? std::optional(KeyValue(static_cast<long long>(*whole))) : std::nullopt;
}

Fault read_fault(Table table, const FaultPhases& phases) {
    Fault fault;
    const std::string kind = table.required_text("kind");
    const auto known = of_word<FaultKind>(kind);
    if (!known) table.fail("kind", "is '" + kind + "'; known are " + known_fault_kinds());
    fault.kind = *known;
    for (const FaultKey& key : fault_keys()) {
        const std::optional<KeyValue> value = read_value(table, key);
        if (!value) continue;
        if (const std::string wrong = misplaced_key(key, fault.kind); !wrong.empty())
            table.fail(key.name, "does not belong here: " + wrong);
        if (!fits(key.range, *value, phases)) {
            const auto* typed = std::get_if<std::string>(&*value);
            table.fail(key.name, "must be " + expected(key.range, phases, typed ? *typed : ""));
        }
        key.set(fault, *value);
    }
    if (const auto unknown = table.rest(); !unknown.empty())
        table.fail(unknown.front(), "is not a known key; " + known_fault_keys(fault.kind));
    if (const std::string wrong = combination_error(fault, phases); !wrong.empty())
        table.fail(wrong);
    return fault;
}

}  // namespace

FaultPlan read_scenario(std::string_view toml_text, std::string_view file_name,
                        const FaultPhases& phases) {
    const toml::table document = parse_toml<ScenarioError>(toml_text, file_name);
    Table file(document, std::string(file_name), "scenario");
    file.text("says");  // for readers of the file
    FaultPlan plan;
    for (const Table& fault : file.tables("fault"))
        plan.faults.push_back(read_fault(fault, phases));
    file.refuse_rest();
    return plan;
}

FaultPlan read_scenario(const std::filesystem::path& file, const FaultPhases& phases) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    if (!in || !(text << in.rdbuf()))
        throw ScenarioError(file.string() + ":1:1: cannot be read, or is empty");
    return read_scenario(text.str(), file.string(), phases);
}

}  // namespace assay
