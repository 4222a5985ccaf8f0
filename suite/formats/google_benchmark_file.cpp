#include "suite/formats/google_benchmark_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "suite/experiment/error.hpp"

namespace assay {
namespace {

using nlohmann::json;

/// Line and column, both from 1, of a byte of the text, from 1 as well.
std::string place(std::string_view text, std::size_t byte) {
    const std::string_view read = text.substr(0, byte > 0 ? byte - 1 : 0);
    const auto line = 1 + std::count(read.begin(), read.end(), '\n');
    const auto newline = read.rfind('\n');
    return fmt::format("{}:{}", line,
                       newline == read.npos ? read.size() + 1 : read.size() - newline);
}

json parsed(std::string_view text, const std::string& source) {
    try {
        return json::parse(text);
    } catch (const json::parse_error& error) {
        // The library's own text repeats the place, after which it says what is wrong.
        const std::string_view says = error.what();
        const auto colon = says.rfind(": ");
        throw UserError(fmt::format("{}:{}: not valid JSON: {}", source, place(text, error.byte),
                                    colon == says.npos ? says : says.substr(colon + 2)));
    } catch (const json::exception& error) {
        throw UserError(fmt::format("{}: not valid JSON: {}", source, error.what()));
    }
}

std::string word_of(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

bool is_aggregate(const GoogleBenchmarkFile::Entry& entry) {
    if (const auto type = entry.word("run_type"); !type.empty()) return type == "aggregate";
    for (const auto* end : {"_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS"})
        if (entry.name.ends_with(end)) return true;
    return false;
}

}  // namespace

std::string GoogleBenchmarkFile::Entry::word(const char* key) const { return word_of(fields, key); }

bool GoogleBenchmarkFile::Entry::flag(const char* key) const {
    const auto found = fields.find(key);
    return found != fields.end() && found->is_boolean() && found->get<bool>();
}

GoogleBenchmarkFile::GoogleBenchmarkFile(std::string_view text, std::string source)
    : source_(std::move(source)), context_(json::object()) {
    json file = parsed(text, source_);
    if (!file.is_object()) refuse("it is no object");
    const auto entries = file.find("benchmarks");
    if (entries == file.end() || !entries->is_array()) refuse("no array \"benchmarks\"");
    if (const auto context = file.find("context"); context != file.end() && context->is_object())
        context_ = std::move(*context);
    for (json& fields : *entries) {
        if (!fields.is_object()) refuse("an entry of \"benchmarks\" is no object");
        Entry entry{word_of(fields, "name"), std::move(fields)};
        if (entry.name.empty()) refuse("a benchmark without a name");
        if (is_aggregate(entry))
            has_aggregates_ = true;
        else
            repetitions_.push_back(std::move(entry));
    }
}

std::string GoogleBenchmarkFile::context_word(const char* key) const {
    return word_of(context_, key);
}

double GoogleBenchmarkFile::per_second(const Entry& entry) const {
    const std::string unit = entry.word("time_unit");
    if (unit.empty() || unit == "ns") return 1e9;  // the default of that library
    if (unit == "us") return 1e6;
    if (unit == "ms") return 1e3;
    if (unit == "s") return 1;
    refuse(fmt::format("'{}' has the time_unit '{}', not one of ns, us, ms, s", entry.name, unit));
}

double GoogleBenchmarkFile::real_time_s(const Entry& entry) const {
    const auto time = entry.fields.find("real_time");
    if (time == entry.fields.end() || !time->is_number())
        refuse(fmt::format("'{}' has no real_time", entry.name));
    return time->get<double>() / per_second(entry);
}

std::string GoogleBenchmarkFile::failure(const Entry& entry) const {
    if (entry.flag("error_occurred")) {
        const std::string message = entry.word("error_message");
        return message.empty() ? "the benchmark does not say why" : message;
    }
    if (entry.flag("skipped") || real_time_s(entry) > 0) return "";
    return "a time that is not above zero";
}

void GoogleBenchmarkFile::refuse(const std::string& what) const {
    throw UserError(
        fmt::format("{}: not Google Benchmark's JSON: {}; write the file with "
                    "--benchmark_out=FILE --benchmark_out_format=json",
                    source_, what));
}

}  // namespace assay
