// SUITE.toml: what a night runs. Documented with examples in datasets/suites/README.md.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "suite/experiment/experiment.hpp"

namespace assay::gate {

/// [[experiment]]: run through the runner, a fresh process per sample.
struct SuiteExperiment {
    std::vector<std::string> patterns;
    Profile profile = Profile::toy;
    std::optional<Provenance> provenance;  ///< the key `mode`
    std::map<std::string, std::vector<Value>> axes;
    std::vector<std::string> variants;  ///< empty: all
    std::vector<std::string> metrics;   ///< gated ones; empty: all with a direction
    std::optional<int> rounds;
    std::optional<double> margin;
};

/// [[benchmark]]: a program that writes a file of Google Benchmark or of another tool, started
/// afresh in every round.
struct SuiteBenchmark {
    std::string name;                    ///< unique; reports call its rows "benchmark/NAME …"
    std::filesystem::path program;       ///< a name beside this program or in PATH, or a path
    std::vector<std::string> arguments;  ///< "{out}" in them is the file of results
    std::optional<int> rounds;
    std::optional<double> margin;
    std::map<std::string, Direction> better{};  ///< of counters: those are rows, too
    std::string from{};  ///< the format of its results (import_export/tools); empty: recognised
};

/// [[level]]: what rows must reach on a machine, whatever they did before (suite/gate/level.hpp).
struct SuiteLevel {
    std::string row;     ///< a pattern of rows as reports print them, or of their series
    std::string metric;  ///< without labels
    std::optional<double> at_least;  ///< in the metric's unit; where more is better
    std::string gpu;  ///< the name of a GPU that it is for, "NVIDIA " may be left out, * and ? as
                      ///< in a shell; empty: for every machine
    std::optional<double> at_most = {};  ///< where less is better
    std::string where = {};              ///< "file:line:column"
};

struct SuiteFile {
    std::string name;
    int rounds = 5;
    double margin = 0.02;         ///< relative; a row's own A/A spread widens it
    double rerun_budget_s = 600;  ///< for all candidates of a night
    double min_apart_h = 4;       ///< runs that begin closer to each other are one night
    double p = 0.001;             ///< of change points in the trend report
    bool control = true;          ///< run the control workload in every round
    std::vector<SuiteExperiment> experiments;
    std::vector<SuiteBenchmark> benchmarks;
    std::vector<SuiteLevel> levels;
};

/// UserError with file:line:column for unknown keys, wrong types, nothing to run.
SuiteFile parse_suite(std::string_view text, const std::string& source);
SuiteFile read_suite(const std::filesystem::path& file);

/// The name of the suite that a word stands for: what the file says where the word ends in ".toml",
/// else the word itself. UserError where there is no such file.
std::string suite_named(const std::string& word);

}  // namespace assay::gate
