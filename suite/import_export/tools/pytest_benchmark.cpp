// pytest-benchmark's --benchmark-json (as 5.3 writes it): each benchmark with its parameters,
// and in stats.data the time of one iteration in every round, in seconds. What --benchmark-save
// wrote without --benchmark-save-data has no rounds, but their mean and standard deviation.
#include <fmt/format.h>

#include "suite/import_export/tools/tool_text.hpp"

namespace assay {
namespace {

void add_pytest_benchmark(const nlohmann::json& entry, BenchmarkFile& file) {
    BenchmarkRepetition made{.name = word(entry, "fullname")};
    if (made.name.empty()) throw NotSuchFile("a benchmark without a fullname");
    take_parameters(made, member(entry, "params"));
    // The name ends with the same in brackets.
    if (const std::string end = '[' + word(entry, "param") + ']';
        !made.parameters.empty() && made.name.ends_with(end))
        made.name.resize(made.name.size() - end.size());
    const nlohmann::json& stats = member(entry, "stats");
    if (const std::vector<double> times = numbers(member(stats, "data")); !times.empty())
        return add_repetitions(file, made, {"real_time", "s", Direction::lower}, times);
    const auto mean = number(member(stats, "mean")), spread = number(member(stats, "stddev"));
    if (!mean) throw NotSuchFile(fmt::format("'{}' has neither times nor a mean", made.name));
    made.metrics = {{"mean_time", "s", Direction::lower, *mean},
                    {"stddev_time", "s", Direction::none, spread.value_or(0)}};
    file.repetitions.push_back(std::move(made));
}

}  // namespace

bool is_pytest_benchmark(const ToolText& file) {
    return member(first_of(file.document, "benchmarks"), "stats").is_object();
}

void read_pytest_benchmark(const ToolText& text, BenchmarkFile& file) {
    for (const nlohmann::json& entry : elements(member(text.document, "benchmarks")))
        add_pytest_benchmark(entry, file);
    const auto &machine = member(text.document, "machine_info"), &cpu = member(machine, "cpu"),
               &commit = member(text.document, "commit_info");
    if (const auto name = word(cpu, "brand_raw"); !name.empty()) file.machine["cpu"] = name;
    if (member(cpu, "count").is_number()) file.machine["num_cpus"] = member(cpu, "count");
    copy_members(file.context, machine, {"python_implementation", "python_version", "release"});
    if (const auto host = word(machine, "node"); !host.empty()) file.context["host_name"] = host;
    if (const auto id = word(commit, "id"); !id.empty() && id != "unversioned")
        file.commit = id + (member(commit, "dirty") == true ? "-dirty" : "");
    file.date = word(text.document, "datetime");
    // Versions before 5 wrote UTC and did not say so.
    if (file.date.size() > 10 && file.date.find_first_of("Z+", 10) == file.date.npos)
        file.date += 'Z';
}

}  // namespace assay
