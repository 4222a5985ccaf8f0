// nvbench's --json and --jsonbin (nvbench 0.1.0): benchmarks of states, each with axis values and
// summaries. With --jsonbin the GPU times of a state lie beside the file, as float32 in seconds;
// without, there are their mean and relative spread only. Numbers are written as texts.
#include "suite/import_export/tools/tool_text.hpp"

namespace assay {
namespace {

using nlohmann::json;

/// A datum of a state's summary; null: it has no such summary.
const json& nv_datum(const json& state, std::string_view tag, const char* name) {
    for (const json& summary : elements(member(state, "summaries")))
        if (word(summary, "tag").starts_with(tag))
            for (const json& datum : elements(member(summary, "data")))
                if (word(datum, "name") == name) return member(datum, "value");
    return member({}, name);
}

void add_nvbench_state(BenchmarkRepetition made, const json& state, const std::string& source,
                       BenchmarkFile& file) {
    static const std::pair<const char*, BenchmarkMetric> summaries[] = {
        {"nv/cold/time/gpu/mean", {"mean_gpu_time", "s", Direction::lower}},
        {"nv/cold/time/gpu/stdev/relative", {"gpu_time_noise", "share"}},
        {"nv/cold/bw/global/bytes_per_second", {"bytes_per_second", "B/s", Direction::higher}},
        {"nv/cold/bw/item_rate", {"items_per_second", "1/s", Direction::higher}}};
    for (const json& axis : elements(member(state, "axis_values")))
        take_parameter(made, word(axis, "name"), member(axis, "value"));
    if (member(state, "is_skipped") == true) {
        made.status = "unsupported";
        made.reason = word(state, "skip_reason");
    } else if (const auto& bin = nv_datum(state, "nv/json/bin:", "filename"); bin.is_string()) {
        const std::vector<double> times = floats_beside(source, bin.get<std::string>());
        return add_repetitions(file, made, {"gpu_time", "s", Direction::lower}, times);
    } else {
        for (const auto& [tag, metric] : summaries)
            if (const auto value = number(nv_datum(state, tag, "value")))
                made.metrics.emplace_back(metric).value = *value;
    }
    file.repetitions.push_back(std::move(made));
}

}  // namespace

bool is_nvbench(const ToolText& file) {
    return member(first_of(file.document, "benchmarks"), "states").is_array();
}

void read_nvbench(const ToolText& text, BenchmarkFile& file) {
    for (const json& device : elements(member(text.document, "devices")))
        file.machine["gpus"].push_back(word(device, "name"));
    for (const json& benchmark : elements(member(text.document, "benchmarks")))
        for (const json& state : elements(member(benchmark, "states"))) {
            BenchmarkRepetition made{.name = word(benchmark, "name")};
            if (file.machine["gpus"].size() > 1) take_parameters(made, state, {"device"});
            add_nvbench_state(std::move(made), state, text.source, file);
        }
}

}  // namespace assay
