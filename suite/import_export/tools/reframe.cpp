// ReFrame's performance log (as 4.10 writes it): a header and a line per run of a test, with '|'
// between fields: NAME_value, NAME_unit, NAME_lower_thres, NAME_upper_thres of each variable NAME.
#include "suite/import_export/tools/tool_text.hpp"

namespace assay {
namespace {

using ReframeRow = std::map<std::string, std::string>;
std::string reframe_word(const ReframeRow& row, const std::string& column) {
    const auto found = row.find(column);
    if (found == row.end() || found->second == "null" || found->second == "None") return {};
    return found->second;
}

/// By the reference where it is bounded on one side.
Direction reframe_direction(const ReframeRow& row, const std::string& name) {
    const bool lower = !reframe_word(row, name + "_lower_thres").empty(),
               upper = !reframe_word(row, name + "_upper_thres").empty();
    if (lower == upper) return direction_of_unit(reframe_word(row, name + "_unit"));
    return lower ? Direction::higher : Direction::lower;
}

/// "copy" of "copy %size=64 %type=f32", with the parameters.
BenchmarkRepetition reframe_test(const std::string& name) {
    BenchmarkRepetition test{.name = name.substr(0, name.find(" %"))};
    for (auto at = name.find(" %"); at != name.npos; at = name.find(" %", at + 2)) {
        const auto one = name.substr(at + 2, name.find(" %", at + 2) - at - 2);
        take_parameter(test, one.substr(0, one.find('=')), one.substr(one.find('=') + 1));
    }
    return test;
}

}  // namespace

bool is_reframe(const ToolText& file) {
    const auto header = file.text.substr(0, file.text.find('\n'));
    return header.find("job_completion_time") != header.npos &&
           header.find("_value|") != header.npos;
}

void read_reframe(const ToolText& text, BenchmarkFile& file) {
    for (const ReframeRow& row : table_rows(text.text, '|')) {
        BenchmarkRepetition run = reframe_test(reframe_word(row, "name"));
        for (const char* key : {"system", "partition", "environ"})
            take_parameter(run, key, reframe_word(row, key));
        run.date = reframe_word(row, "job_completion_time_unix");
        if (run.date.empty()) run.date = reframe_word(row, "job_completion_time");
        for (const auto& [column, value] : row) {
            const std::string name = column.substr(0, column.rfind("_value"));
            if (const auto found = number(value); found && name + "_value" == column)
                run.metrics.push_back({name, reframe_word(row, name + "_unit"),
                                       reframe_direction(row, name), *found});
        }
        run.reason = "no value; its result is " + reframe_word(row, "result");
        file.repetitions.push_back(std::move(run));
    }
}

}  // namespace assay
