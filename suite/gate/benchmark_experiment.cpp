#include "suite/gate/benchmark_experiment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "suite/base/build_folder.hpp"
#include "suite/base/error.hpp"
#include "suite/base/file_descriptor.hpp"
#include "suite/base/process.hpp"
#include "suite/base/sha256.hpp"
#include "suite/compare/read_arm.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/import_export/google_benchmark_file.hpp"
#include "suite/import_export/tools/benchmark_file.hpp"
#include "suite/runner/sample/pipe_recorder.hpp"

namespace assay::gate {
namespace {

namespace fs = std::filesystem;

/// What a sample says of the file that it is about to start.
constexpr std::string_view build_event = "program";
constexpr std::string_view google_format = "google-benchmark";
/// And of each benchmark that did not run, while others of the program did.
constexpr std::string_view not_run_event = "not run";

/// Arguments in one text: separated by spaces, each space or backslash inside one escaped.
std::string joined(const std::vector<std::string>& arguments) {
    std::string text;
    for (const std::string& argument : arguments) {
        if (!text.empty()) text += ' ';
        for (const char c : argument) {
            if (c == ' ' || c == '\\') text += '\\';
            text += c;
        }
    }
    return text;
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> arguments;
    std::string argument;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 1 < text.size())
            argument += text[++i];
        else if (text[i] != ' ')
            argument += text[i];
        else if (!argument.empty())
            arguments.push_back(std::exchange(argument, {}));
    }
    if (!argument.empty()) arguments.push_back(argument);
    return arguments;
}

struct Benchmark {
    std::string name, program, arguments;
    fs::path scratch;
};

Axes<Benchmark> benchmark_axes() {
    Axes<Benchmark> axes;
    axes.axis("name", &Benchmark::name, "what reports call it", {}, or_others);
    axes.axis("program", &Benchmark::program,
              "name of a file beside this program or in PATH; or a path", {}, or_others);
    axes.axis("arguments", &Benchmark::arguments, "what it is started with, separated by spaces",
              {""}, or_others);
    axes.given(&Benchmark::scratch, &SampleSpec::scratch);
    return axes;
}

/// What a program is started with, and where its results are then.
struct Start {
    std::vector<std::string> arguments;
    std::string format;   ///< of its results; empty: recognised
    bool prints = false;  ///< its results on standard output
    fs::path results;
};

/// The words in braces of `text`: "{out}" is the file of results, "{from:FORMAT}" is no argument.
Start start_of(const std::string& text, const fs::path& scratch) {
    Start start{.results = scratch / "benchmark.json"};
    bool names_out = false;
    for (std::string& argument : split(text)) {
        if (argument.starts_with(format_word) && argument.ends_with('}')) {
            start.format =
                argument.substr(format_word.size(), argument.size() - format_word.size() - 1);
            continue;
        }
        for (auto at = argument.find(results_word); at != argument.npos;
             at = argument.find(results_word, at)) {
            argument.replace(at, results_word.size(), start.results.string());
            at += start.results.string().size();
            names_out = true;
        }
        start.arguments.push_back(std::move(argument));
    }
    start.prints = !names_out && !start.format.empty() && start.format != google_format;
    if (names_out || start.prints) return start;
    start.arguments.push_back("--benchmark_out=" + start.results.string());
    start.arguments.emplace_back("--benchmark_out_format=json");
    return start;
}

/// Runs it in this process' group, so that who ends the sample ends the program too. What it prints
/// on standard error ends up in the sample's reason.
void run_program(const fs::path& program, const Start& start) {
    ProcessCommand command;
    command.arguments = {program.string()};
    command.arguments.insert(command.arguments.end(), start.arguments.begin(),
                             start.arguments.end());
    FileDescriptor printed;
    if (start.prints) {
        printed =
            FileDescriptor(::open(start.results.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
        command.out = Stream::descriptor(printed.get());
    } else {
        command.out = Stream::null();
    }
    ExitStatus ended;
    try {
        ended = Process::spawn(command).wait();
    } catch (const CannotStart& error) {
        throw UserError(error.what());
    }
    if (ended.ok()) return;
    throw std::runtime_error(
        fmt::format("{} {}", program.string(),
                    ended.code ? fmt::format("exited with status {}", *ended.code)
                               : fmt::format("was killed by signal {}", ended.signal)));
}

/// Counters by which a benchmark says what share of the machine's own limit it reaches.
constexpr const char* limits[] = {"of_read", "of_copy", "of_peak"};

bool is_limit(std::string_view counter) {
    return std::find(std::begin(limits), std::end(limits), counter) != std::end(limits);
}

/// Of one benchmark.
struct Repetitions {
    const BenchmarkRepetition* fastest = nullptr;  // null: none ran
    std::map<std::string, double> shares;          // the best, by counter
    const BenchmarkRepetition* other = nullptr;    // one that did not run
};

/// By what a repetition is judged: its time, or its rate.
bool is_faster(const BenchmarkRepetition& one, const BenchmarkRepetition& other) {
    const BenchmarkMetric &first = one.metrics.front(), &second = other.metrics.front();
    return first.better == Direction::higher ? first.value > second.value
                                             : first.value < second.value;
}

/// What is no number has failed, alone.
void record_counter(const std::string& benchmark, const std::string& counter, double value,
                    Recorder& recorder) {
    Labels labels{{"benchmark", benchmark}};
    if (std::isfinite(value)) return recorder.metric(counter, value, labels);
    labels.emplace(compare::failed_counter_label, counter);
    recorder.metric(compare::failed_part_metric, 1, labels);
    recorder.event(not_run_event, 0, -1,
                   {{"benchmark", benchmark},
                    {"counter", counter},
                    {"skipped", false},
                    {"reason", fmt::format("its {} is {}", counter, odd_number_word(value))}});
}

/// The time and the other counters of the fastest repetition, and the best shares of limits.
void record_fastest(const std::string& name, const Repetitions& all, Recorder& recorder) {
    for (const BenchmarkMetric& metric : all.fastest->metrics)
        if (metric.name == benchmark_time)
            recorder.metric(benchmark_time, metric.value, {{"benchmark", name}});
    for (const auto& [counter, share] : all.shares) record_counter(name, counter, share, recorder);
    for (const auto& counter : all.fastest->metrics)
        if (!is_limit(counter.name) && !is_benchmark_time(all.fastest->experiment(), counter.name))
            record_counter(name,
                           counter.name == compare::failed_part_metric ? "counter:" + counter.name
                                                                       : counter.name,
                           counter.value, recorder);
}

/// Each benchmark of the program; of those that did not run, that they failed or what they say: the
/// others are none the worse for it. std::runtime_error where none ran.
void record_benchmarks(const BenchmarkFile& file, Recorder& recorder) {
    std::map<std::string, Repetitions> benchmarks;
    std::string why = "no benchmark in it ran";
    for (const BenchmarkRepetition& repetition : file.repetitions) {
        const std::string name = repetition.full_name();
        Repetitions& all = benchmarks[name];
        if (repetition.metrics.empty()) {
            why = name + ": " + repetition.reason;
            if (!all.other || repetition.status == "failed") all.other = &repetition;
            continue;
        }
        if (!all.fastest || is_faster(repetition, *all.fastest)) all.fastest = &repetition;
        for (const auto& counter : repetition.metrics)
            if (is_limit(counter.name)) {
                double& share = all.shares.emplace(counter.name, counter.value).first->second;
                share = std::fmax(share, counter.value);  // what is no number gives way
            }
    }
    if (std::none_of(benchmarks.begin(), benchmarks.end(),
                     [](const auto& benchmark) { return benchmark.second.fastest; }))
        throw std::runtime_error(why);
    for (const auto& [name, all] : benchmarks) {
        if (all.fastest) {
            record_fastest(name, all, recorder);
            continue;
        }
        const bool failed = all.other->status == "failed";
        if (failed) recorder.metric(compare::failed_part_metric, 1, {{"benchmark", name}});
        recorder.event(not_run_event, 0, -1,
                       {{"benchmark", name}, {"skipped", !failed}, {"reason", all.other->reason}});
    }
}

/// Of a program that ended well and left its results empty.
std::string nothing_ran(const std::vector<std::string>& arguments) {
    for (const std::string& argument : arguments)
        if (argument.starts_with("--benchmark_filter=")) return "no benchmark matches " + argument;
    return "it ran no benchmark";
}

/// What it says of the machine and of itself.
nlohmann::json whole_context(const BenchmarkFile& file) {
    nlohmann::json context = file.context;
    context.update(file.machine);
    if (!file.commit.empty()) context["commit"] = file.commit;
    return context;
}

BenchmarkFile results_of(const fs::path& program, const Start& start) {
    if (fs::is_directory(start.results)) return read_benchmark_folder(start.results, start.format);
    std::ifstream in(start.results, std::ios::binary);
    if (!in)
        throw UserError(fmt::format(
            "{} wrote no results: {}", program.string(),
            start.format.empty() || start.format == google_format
                ? "is it a program of Google Benchmark? For one of another tool give `from`, and "
                  "{out} where its arguments name the file of results"
                : "{out} is where its arguments name the file of results"));
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (text.empty()) throw std::runtime_error(nothing_ran(start.arguments));
    // Its name leads to what lies beside it, and the errors name the program.
    try {
        return read_benchmark_file(text, start.results.string(), start.format);
    } catch (const UserError& error) {
        throw UserError(fmt::format("{}: {}", program.string(), error.what()));
    }
}

void run(const Benchmark& benchmark, Recorder& recorder) {
    const fs::path program = find_benchmark_program(benchmark.program);
    const Start start = start_of(benchmark.arguments, benchmark.scratch);
    if (std::error_code error; fs::is_regular_file(program, error))
        recorder.event(build_event, 0, -1, {{"sha256", sha256_file_hex(program)}});
    run_program(program, start);
    const BenchmarkFile file = results_of(program, start);
    if (const nlohmann::json context = whole_context(file); !context.empty())
        recorder.event(store::context_event, 0, -1, context);
    record_benchmarks(file, recorder);
}

std::vector<MetricSpec> metrics() {
    std::vector<MetricSpec> metrics{{"real_time",
                                     "s",
                                     "time of one iteration in the fastest repetition",
                                     Direction::lower,
                                     false,
                                     {"benchmark"}},
                                    {std::string(compare::failed_part_metric),
                                     "count",
                                     "1 for a benchmark or a counter of one that failed, beside "
                                     "others that ran",
                                     Direction::lower,
                                     false,
                                     {"benchmark", std::string(compare::failed_counter_label)}},
                                    {std::string(runner::any_metric),
                                     "",
                                     "whatever else a benchmark counts; a suite says which way is "
                                     "better (better = { GFLOPS = \"higher\" })",
                                     Direction::none,
                                     false,
                                     {"benchmark"}}};
    for (const char* limit : limits)
        metrics.push_back({limit,
                           "share",
                           "of the bandwidth of memory, as the benchmark itself tells",
                           Direction::higher,
                           false,
                           {"benchmark"}});
    return metrics;
}

Experiment make_experiment() {
    ProfilePlan toy;
    toy.provenances = {Provenance::measured};
    toy.rounds = 5;
    toy.seconds_per_sample = 5;
    Declaration<Benchmark> declaration(
        {.id = std::string(benchmark_experiment),
         .title = "A benchmark program",
         .source = "Google Benchmark",
         .says = "Starts a program of Google Benchmark afresh for every sample and keeps the "
                 "fastest of each benchmark's repetitions: what disturbs one only makes it slower. "
                 "Suites of the nightly gate name such programs; by hand: -a name=NAME -a "
                 "program=FILE -a arguments=TEXT.",
         .variants = {"program"},
         .metrics = metrics(),
         .profiles = {toy},
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "real_time",
                    .x = "benchmark",
                    .panels = {"name"},
                    .y_title = "s",
                    .log_y = true}});
    declaration.part(benchmark_axes());
    return declaration.runs(run);
}

bool is_path(const fs::path& program) { return program.native().find('/') != std::string::npos; }

bool can_be_executed(const fs::path& file) {
    std::error_code error;
    return fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

/// nullopt: it can be started.
std::optional<std::string> trouble_with(const fs::path& named) {
    const fs::path program = find_benchmark_program(named);
    std::error_code error;
    if (!is_path(program))  // neither beside nor in PATH, and a name means nothing else
        return fmt::format("is not there, neither beside assay, in {}, nor in PATH; {}",
                           program_folder().string(),
                           fs::exists(program, error)
                               ? fmt::format("for the file here write ./{}", program.string())
                               : "is it built?");
    if (can_be_executed(program)) return std::nullopt;
    if (fs::is_directory(program, error)) return "is a folder: name the program in it";
    if (fs::exists(program, error)) return "cannot be executed: chmod +x it";
    return fmt::format(
        "is not there{}: a path means that file and no other; is it built?",
        named.is_absolute() ? "" : fmt::format(", seen from {}", fs::current_path(error).string()));
}

}  // namespace

std::vector<std::string> missing_programs(const SuiteFile& suite, const fs::path& build) {
    std::vector<std::string> missing, to_build;
    for (const SuiteBenchmark& benchmark : suite.benchmarks) {
        auto trouble = trouble_with(benchmark.program);
        if (!trouble) continue;
        const std::string program = benchmark.program.string();
        if (build_command(build, {program})) {
            trouble = "is not built yet";
            if (std::find(to_build.begin(), to_build.end(), program) == to_build.end())
                to_build.push_back(program);
        }
        missing.push_back(fmt::format("benchmark/{}: {} {}", benchmark.name, program, *trouble));
    }
    if (!to_build.empty())
        missing.push_back(fmt::format("{} builds {}", *build_command(build, to_build),
                                      to_build.size() == 1 ? "it" : "them"));
    return missing;
}

std::optional<std::string> mixed_builds(std::span<const store::Sample> samples) {
    std::map<std::pair<std::string, std::string>, std::set<std::string>> builds;
    for (const store::Sample& sample : samples) {
        if (sample.spec.experiment != benchmark_experiment || sample.status != "ok") continue;
        const Benchmark named = benchmark_axes().read(sample.spec);
        for (const store::Event& event : sample.events)
            if (event.kind == build_event && event.detail.is_object())
                builds[{named.name, named.program}].insert(
                    event.detail.value("sha256", "").substr(0, 12));
    }
    for (const auto& [program, hashes] : builds)
        if (hashes.size() > 1)
            return fmt::format("benchmark/{} ran {} in {} builds ({})", program.first,
                               program.second, hashes.size(), fmt::join(hashes, ", "));
    return std::nullopt;
}

std::vector<NotRunPart> parts_not_run(const store::Sample& sample) {
    std::vector<NotRunPart> parts;
    if (sample.spec.experiment != benchmark_experiment) return parts;
    for (const store::Event& event : sample.events)
        if (event.kind == not_run_event && event.detail.is_object())
            parts.push_back({.labels = {{"benchmark", event.detail.value("benchmark", "")}},
                             .counter = event.detail.value("counter", ""),
                             .skipped = event.detail.value("skipped", false),
                             .reason = event.detail.value("reason", "")});
    return parts;
}

std::map<std::string, std::string> program_commits(std::span<const store::Sample> samples) {
    std::map<std::string, std::string> commits;
    for (const store::Sample& sample : samples) {
        if (sample.spec.experiment != benchmark_experiment) continue;
        for (const store::Event& event : sample.events) {
            if (event.kind != store::context_event || !event.detail.is_object()) continue;
            const auto commit = event.detail.find("commit");
            if (commit != event.detail.end() && commit->is_string())
                commits[benchmark_axes().read(sample.spec).name] = commit->get<std::string>();
        }
    }
    return commits;
}

std::vector<store::MetricUnit> stated_directions(const SuiteFile& suite) {
    std::map<std::string, Direction> stated;
    for (const MetricSpec& metric : metrics()) stated.emplace(metric.name, metric.better);
    std::map<std::string, std::string> units_of;
    for (const SuiteBenchmark& benchmark : suite.benchmarks)
        if (!benchmark.from.empty())
            for (const BenchmarkMetric& metric : known_metrics(benchmark.from)) {
                stated.emplace(metric.name, metric.better);
                units_of.emplace(metric.name, metric.unit);
            }
    for (const SuiteBenchmark& benchmark : suite.benchmarks)
        for (const auto& [counter, better] : benchmark.better)
            if (const Direction known = stated.emplace(counter, better).first->second;
                known != better)
                throw UserError(fmt::format(
                    "benchmark/{}: better: of {} {} is better already; one counter has one "
                    "direction in all benchmarks of a suite",
                    benchmark.name, counter, to_string(known)));
    for (const MetricSpec& metric : metrics()) stated.erase(metric.name);
    std::vector<store::MetricUnit> units;
    for (const auto& [counter, better] : stated)
        units.push_back({std::string(benchmark_experiment), counter, units_of[counter], better});
    return units;
}

System make_benchmark_system() {
    System system;
    system.id = "benchmark";
    system.title = "Benchmark programs beside this one, for the nightly gate";
    system.paper = "none";
    system.on_request = true;
    system.experiments = {make_experiment()};
    return system;
}

Case benchmark_case(const SuiteBenchmark& benchmark) {
    std::vector<std::string> arguments = benchmark.arguments;
    if (!benchmark.from.empty())
        arguments.insert(arguments.begin(), std::string(format_word) + benchmark.from + '}');
    return {{"name", benchmark.name},
            {"program", benchmark.program.string()},
            {"arguments", joined(arguments)}};
}

std::string kept_benchmark_name(const fs::path& program) {
    if (!is_path(program)) return program.string();
    return fmt::format("{}.{:.12}", program.filename().string(), sha256_hex(program.string()));
}

fs::path find_benchmark_program(const fs::path& program) {
    std::error_code error;
    const fs::path beside = program_folder() / kept_benchmark_name(program);
    if (fs::is_regular_file(beside, error)) return beside;
    for (const std::string& candidate : program_candidates(program.string()))
        if (can_be_executed(candidate)) return candidate;
    return program;
}

}  // namespace assay::gate
