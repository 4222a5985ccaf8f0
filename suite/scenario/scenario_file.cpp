// Fault plans from TOML files: [[fault]] tables with the keys of the flag grammar.
#include <fstream>
#include <sstream>

#include "suite/experiment/strict_toml.hpp"
#include "suite/scenario/fault_limits.hpp"

namespace assay {
namespace {

using Table = StrictTable<ScenarioError>;

double seconds(Table& table, std::string_view key, double value) {
    if (!(value >= 0 && value <= longest_s) || std::signbit(value))
        table.fail(key, "must be a number of seconds from 0 to 1e9");
    return value;
}

Fault read_fault(Table table) {
    Fault fault;
    const std::string kind = table.required_text("kind");
    const auto known = parse_fault_kind(kind);
    if (!known) table.fail("kind", "is '" + kind + "'; known are kill, hang, stop, join");
    fault.kind = *known;
    if (const auto rank = table.integer("rank", 0, largest_rank))
        fault.rank = static_cast<int>(*rank);
    const auto count = table.integer("count", 1, largest_count);
    if (count) fault.count = static_cast<int>(*count);
    if (const auto step = table.integer("step", 0, largest_step))
        fault.step = static_cast<long>(*step);
    if (const auto t = table.number("t")) fault.t_s = seconds(table, "t", *t);
    if (const auto length = table.number("for")) {
        fault.for_s = seconds(table, "for", *length);
        if (*fault.for_s <= 0) table.fail("for", "must be longer than 0 seconds");
    }
    if (const auto phase = table.text("phase")) {
        if (!is_fault_phase(*phase))
            table.fail("phase", "is '" + *phase + "'; known are step, regroup, transfer");
        fault.phase = *phase;
    }
    table.refuse_rest();
    if (const std::string wrong = combination_error(fault, count.has_value()); !wrong.empty())
        table.fail(wrong);
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
