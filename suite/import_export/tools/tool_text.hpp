// The text of a tool's results file, and how its JSON is asked for what may not be there.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "suite/experiment/value.hpp"
#include "suite/import_export/tools/benchmark_file.hpp"

namespace assay {

struct ToolText {
    std::string_view text;
    std::string source;       ///< a path, or what errors call it
    nlohmann::json document;  ///< null where the text is no JSON; of JSON lines an array
};

/// What a file lacks to be of the format that it looks like.
struct NotSuchFile : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// JSON, or lines of it as one array. NaN and the infinities, which JSON has not and Python and
/// Google Benchmark write, become values that number() knows. UserError with line and column.
nlohmann::json parse_tool_json(std::string_view text, const std::string& source);
/// The text with these words, where they follow one of the characters, replaced by arrays of a
/// code, each in as many bytes.
std::string with_odd_numbers_coded(std::string_view text, std::string_view after);

/// null where the value is no object or has no such member.
const nlohmann::json& member(const nlohmann::json& object, std::string_view key);
/// "" where there is no text of that key.
std::string word(const nlohmann::json& object, std::string_view key);
/// Of a number or a text that is one; nullopt: it is neither.
std::optional<double> number(const nlohmann::json& value);
/// The elements of an array; of anything else none.
const std::vector<nlohmann::json>& elements(const nlohmann::json& value);
/// The first of an array that a member is; null: there is none.
const nlohmann::json& first_of(const nlohmann::json& object, std::string_view key);
/// Those of numbers. NotSuchFile where one is none.
std::vector<double> numbers(const nlohmann::json& array);
/// An array's elements, or the value alone.
std::vector<nlohmann::json> one_or_more(const nlohmann::json& value);

/// Of a unit: times are better lower, rates higher, of others it is not known.
Direction direction_of_unit(std::string_view unit);

/// Copies the members that are there.
void copy_members(nlohmann::json& into, const nlohmann::json& from,
                  std::initializer_list<const char*> keys);
/// What is written as a number is one; null and "" tell nothing.
void take_parameter(BenchmarkRepetition& into, const std::string& name, const nlohmann::json&);
/// Members that are there and no null; without keys, all.
void take_parameters(BenchmarkRepetition& into, const nlohmann::json& from,
                     std::initializer_list<const char*> keys = {});
/// A repetition for each value.
void add_repetitions(BenchmarkFile&, BenchmarkRepetition, const BenchmarkMetric& of,
                     const std::vector<double>& values);

/// Lines below a header, by its names. NotSuchFile where a line has other fields.
std::vector<std::map<std::string, std::string>> table_rows(std::string_view text, char separator);

/// nullopt: it cannot be read.
std::optional<std::string> bytes_of(const std::filesystem::path&);
/// Little-endian float32 of a file that `source` names, as it was seen from where the program ran.
/// NotSuchFile where it is not there.
std::vector<double> floats_beside(const std::string& source, const std::filesystem::path& named);

// The formats, each in the file of its name. A reader throws NotSuchFile.
bool is_google_benchmark(const ToolText&);
void read_google_benchmark(const ToolText&, BenchmarkFile&);
bool is_hyperfine(const ToolText&);
void read_hyperfine(const ToolText&, BenchmarkFile&);
bool is_pytest_benchmark(const ToolText&);
void read_pytest_benchmark(const ToolText&, BenchmarkFile&);
bool is_criterion(const ToolText&);
void read_criterion(const ToolText&, BenchmarkFile&);
bool is_nvbench(const ToolText&);
void read_nvbench(const ToolText&, BenchmarkFile&);
bool is_nccl_tests(const ToolText&);
void read_nccl_tests(const ToolText&, BenchmarkFile&);
bool is_llama_bench(const ToolText&);
void read_llama_bench(const ToolText&, BenchmarkFile&);
bool is_vllm(const ToolText&);
void read_vllm(const ToolText&, BenchmarkFile&);
bool is_reframe(const ToolText&);
void read_reframe(const ToolText&, BenchmarkFile&);

}  // namespace assay
