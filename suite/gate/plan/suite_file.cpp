// Reads SUITE.toml. Strict: a misspelt key would leave something unwatched.
#include "suite/gate/plan/suite_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>

#include "suite/base/error.hpp"
#include "suite/base/input_file.hpp"
#include "suite/base/strict_toml.hpp"
#include "suite/import_export/tools/benchmark_file.hpp"

namespace assay::gate {
namespace {

using SuiteTable = StrictTable<UserError>;

/// A night with more rounds than this is a typing error.
constexpr int largest_rounds = 1000;

/// Nights are a day apart, though not to the minute: with more, no two would be two.
constexpr double most_hours_apart = 20;

std::optional<int> rounds_of(SuiteTable& in) {
    const auto rounds = in.integer("rounds", 1, largest_rounds);
    return rounds ? std::optional(static_cast<int>(*rounds)) : std::nullopt;
}

std::optional<double> margin_of(SuiteTable& in) {
    const auto margin = in.number("margin");
    if (margin && !(*margin > 0 && *margin < 1))
        in.fail("margin", "must be above 0 and below 1: 0.02 is 2 %");
    return margin;
}

double positive(SuiteTable& in, std::string_view key, double otherwise) {
    const double value = in.number(key).value_or(otherwise);
    if (!(value > 0)) in.fail(key, "must be above 0");
    return value;
}

/// Only what a name in a report, a path and an axis value can all be.
void check_name(SuiteTable& in, std::string_view key, const std::string& name) {
    const auto plain = [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
    };
    if (!std::all_of(name.begin(), name.end(), plain))
        in.fail(key, "must be of letters, digits, '-', '_' and '.'");
}

Value axis_value(SuiteTable& axes, const std::string& axis, const toml::node& node) {
    if (const auto* whole = node.as_integer()) return whole->get();
    if (const auto* real = node.as_floating_point(); real && std::isfinite(real->get()))
        return real->get();
    if (const auto* text = node.as_string()) return text->get();
    axes.fail(axis, "must be a number, a string, or an array of them");
}

std::map<std::string, std::vector<Value>> axes_of(SuiteTable& in) {
    std::map<std::string, std::vector<Value>> found;
    auto axes = in.table("axes");
    if (!axes) return found;
    for (const std::string& axis : axes->rest()) {
        const toml::node* node = axes->find(axis);
        std::vector<Value>& values = found[axis];
        if (const auto* list = node->as_array())
            for (const toml::node& element : *list)
                values.push_back(axis_value(*axes, axis, element));
        else
            values.push_back(axis_value(*axes, axis, *node));
        if (values.empty()) axes->fail(axis, "must not be empty");
    }
    return found;
}

SuiteExperiment read_experiment(SuiteTable& in) {
    SuiteExperiment experiment;
    experiment.patterns = in.texts("patterns");
    if (experiment.patterns.empty())
        in.fail(in.name() + " lacks 'patterns': ids or patterns as `assay run` takes them");
    if (const auto text = in.text("profile")) {
        const auto profile = of_word<Profile>(*text);
        if (!profile) in.fail("profile", "must be toy, small, gpu, cluster or paper");
        experiment.profile = *profile;
    }
    if (const auto text = in.text("mode")) {
        experiment.provenance = of_word<Provenance>(*text);
        if (!experiment.provenance)
            in.fail("mode", "must be exact, measured, emulated or simulated");
    }
    experiment.axes = axes_of(in);
    experiment.variants = in.texts("variants");
    experiment.metrics = in.texts("metrics");
    experiment.rounds = rounds_of(in);
    experiment.margin = margin_of(in);
    in.refuse_rest();
    return experiment;
}

std::map<std::string, Direction> better_of(SuiteTable& in) {
    std::map<std::string, Direction> better;
    auto table = in.table("better");
    if (!table) return better;
    for (const std::string& counter : table->rest()) {
        const auto direction = of_word<Direction>(table->text(counter).value_or(""));
        if (!direction || *direction == Direction::none)
            table->fail(counter, R"(must be "higher" or "lower")");
        better.emplace(counter, *direction);
    }
    return better;
}

SuiteBenchmark read_benchmark(SuiteTable& in) {
    SuiteBenchmark benchmark;
    benchmark.name = in.required_text("name");
    check_name(in, "name", benchmark.name);
    benchmark.program = in.required_text("program");
    benchmark.arguments = in.texts("arguments");
    benchmark.rounds = rounds_of(in);
    benchmark.margin = margin_of(in);
    benchmark.better = better_of(in);
    benchmark.from = in.text("from").value_or("");
    if (!benchmark.from.empty()) try {
            known_metrics(benchmark.from);
        } catch (const UserError& error) {
            in.fail("from", error.what());
        }
    in.refuse_rest();
    return benchmark;
}

SuiteLevel read_level(SuiteTable& in) {
    SuiteLevel level;
    level.row = in.required_text("row");
    level.metric = in.required_text("metric");
    level.where = in.where();
    for (const auto& [key, bound] :
         {std::pair("at_least", &level.at_least), std::pair("at_most", &level.at_most)}) {
        *bound = in.number(key);
        if (*bound && !(**bound > 0)) in.fail(key, "must be above 0");
    }
    if (level.at_least.has_value() == level.at_most.has_value())
        in.fail("one of 'at_least' (more is better) and 'at_most' (less is better) must be there");
    level.gpu = in.text("gpu").value_or("");
    in.refuse_rest();
    return level;
}

/// The name of a suite is not that of its file.
std::string cannot_read(const std::filesystem::path& file, int error) {
    const std::string why =
        fmt::format("cannot read the suite {}: {}", file.string(), std::strerror(error));
    if (file.extension() == ".toml") return why;
    const std::string with_ending = file.string() + ".toml";
    std::error_code ignored;
    return why + (std::filesystem::exists(with_ending, ignored)
                      ? fmt::format("; did you mean {}?", with_ending)
                      : "; a suite is named by its file, SUITE.toml");
}

}  // namespace

SuiteFile parse_suite(std::string_view text, const std::string& source) {
    const toml::table document = parse_toml<UserError>(text, source);
    SuiteTable root(document, source, "the suite");
    SuiteFile suite;
    suite.name = root.required_text("name");
    check_name(root, "name", suite.name);
    suite.rounds = rounds_of(root).value_or(suite.rounds);
    suite.margin = margin_of(root).value_or(suite.margin);
    suite.rerun_budget_s = positive(root, "rerun_budget_s", suite.rerun_budget_s);
    suite.min_apart_h = root.number("min_apart_h").value_or(suite.min_apart_h);
    if (!(suite.min_apart_h >= 0 && suite.min_apart_h <= most_hours_apart))
        root.fail("min_apart_h",
                  "must be from 0 (every run is a night of its own) to 20, in hours");
    suite.p = positive(root, "p", suite.p);
    if (suite.p >= 1) root.fail("p", "must be below 1: it is a probability");
    if (const toml::node* control = root.find("control")) {
        if (!control->is_boolean()) root.fail("control", "must be true or false");
        suite.control = control->as_boolean()->get();
    }
    for (SuiteTable& table : root.tables("experiment"))
        suite.experiments.push_back(read_experiment(table));
    for (SuiteTable& table : root.tables("benchmark")) {
        SuiteBenchmark benchmark = read_benchmark(table);
        for (const SuiteBenchmark& before : suite.benchmarks)
            if (before.name == benchmark.name) table.fail("name", "is that of one before it");
        suite.benchmarks.push_back(std::move(benchmark));
    }
    for (SuiteTable& table : root.tables("level")) suite.levels.push_back(read_level(table));
    root.refuse_rest();
    if (suite.experiments.empty() && suite.benchmarks.empty())
        root.fail("nothing to run: give [[experiment]] or [[benchmark]]");
    return suite;
}

SuiteFile read_suite(const std::filesystem::path& file) {
    if (std::filesystem::is_directory(file))
        throw UserError(fmt::format("{} is a folder; give a suite's file", file.string()));
    const auto text = read_text_file(file);
    if (!text) throw UserError(cannot_read(file, errno));
    return parse_suite(*text, file.string());
}

std::string suite_named(const std::string& word) {
    if (!word.ends_with(".toml")) return word;
    std::error_code ignored;
    if (!std::filesystem::exists(word, ignored))
        throw UserError(fmt::format(
            "there is no file {}; give the suite's file, or its name, as the line name = \"…\" of "
            "the file has it",
            word));
    return read_suite(word).name;
}

}  // namespace assay::gate
