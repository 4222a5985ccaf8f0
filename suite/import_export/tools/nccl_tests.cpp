// nccl-tests' -J FILE (JSON version 2): a result per size, out of place and in place: the time in
// microseconds (maybe of each iteration), bandwidths in GB/s, the number of wrong elements.
#include <fmt/format.h>

#include "suite/import_export/tools/tool_text.hpp"

namespace assay {
namespace {

void add_nccl_place(const nlohmann::json& result, const std::string& place,
                    BenchmarkRepetition made, BenchmarkFile& file) {
    const nlohmann::json& measured = member(result, place);
    if (measured.is_null()) return;
    made.parameters.emplace("place", place);
    std::vector<double> each = numbers(member(member(result, place + "_per_iter"), "times_us"));
    for (double& time : each) time *= 1e-6;
    if (const double wrong = number(member(measured, "nwrong")).value_or(0); wrong != 0) {
        made.status = "failed";
        made.reason = fmt::format("#wrong is {}: the result of the collective is not right", wrong);
    } else if (!each.empty()) {  // the bandwidths follow from them
        return add_repetitions(file, made, {"real_time", "s", Direction::lower}, each);
    } else {
        for (const char* name : {"time", "cpu_time"})
            if (const auto us = number(member(measured, name)))
                made.metrics.push_back(
                    {*name == 't' ? "real_time" : name, "s", Direction::lower, *us * 1e-6});
        for (const char* name : {"alg_bw", "bus_bw"})
            if (const auto rate = number(member(measured, name)))
                made.metrics.push_back({name, "GB/s", Direction::higher, *rate});
    }
    file.repetitions.push_back(std::move(made));
}

}  // namespace

bool is_nccl_tests(const ToolText& file) {
    return !member(file.document, "nccl_version").is_null();
}

void read_nccl_tests(const ToolText& text, BenchmarkFile& file) {
    const nlohmann::json& config = member(text.document, "config");
    BenchmarkRepetition program{.name = "nccl-tests"};
    take_parameters(program, config, {"nthreads", "ngpus"});
    if (const auto& typed = first_of(text.document, "args"); typed.is_string())
        program.name = std::filesystem::path(typed.get<std::string>()).filename();
    for (const nlohmann::json& result : elements(member(text.document, "results"))) {
        BenchmarkRepetition made = program;
        take_parameters(made, result, {"size", "type", "redop", "root"});
        for (const char* place : {"out_of_place", "in_place"})
            add_nccl_place(result, place, made, file);
    }
    for (const nlohmann::json& device : elements(member(config, "devices"))) {
        file.machine["gpu"] = word(device, "device_info");
        file.context["host_name"] = word(device, "hostname");
    }
    copy_members(file.context, text.document, {"nccl_version"});
    file.date = word(text.document, "start_time");
}

}  // namespace assay
