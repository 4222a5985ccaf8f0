// JUnit XML: one test case per row, so that any CI shows a confirmed regression as a failed test.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "suite/gate/night_verdict.hpp"
#include "suite/gate/output/night_reports.hpp"
#include "suite/gate/output/night_words.hpp"
#include "suite/report/markup.hpp"

namespace assay::gate {
namespace {

using report::escaped;

struct Tally {
    int tests = 0, failures = 0, errors = 0, skipped = 0;
};

/// "suite.lte/fig8": test viewers fold by what stands before the last dot or the class.
std::string class_of(const Night& night, const NightRow& row) {
    return night.suite + '.' + row.against_baseline.id.experiment;
}

std::string opening(const std::string& class_name, const std::string& name, double seconds = 0) {
    return fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"",
                       escaped(class_name), escaped(name), seconds);
}

std::string element(std::string_view tag, std::string_view type, const std::string& message,
                    const std::string& text) {
    return fmt::format("      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n", tag, type,
                       escaped(message), escaped(text));
}

/// JUnit's skipped has no body in the schema that most readers check against.
std::string skipped(const std::string& message) {
    return fmt::format("      <skipped message=\"{}\"/>\n", escaped(message));
}

std::string row_case(const Night& night, const NightRow& row, const report::RowNames& names,
                     Tally& tally) {
    ++tally.tests;
    const compare::Row& against = row.against_baseline;
    const std::string text = fmt::format("{}", fmt::join(evidence(row), "\n"));
    std::string out =
        opening(class_of(night, row), names.of(against.id).text(), row.seconds) + ">\n";
    if (is_regression(row)) {
        ++tally.failures;
        out += element("failure", "regression", change_words(against), text);
    } else {
        // What nobody judged has not passed.
        if (standing(row) != Standing::compared) {
            ++tally.skipped;
            out += skipped(row.muted ? fmt::format("{}; {}", change_words(against), row.mute)
                                     : against.reason);
        }
        out += "      <system-out>" + escaped(text) + "</system-out>\n";
    }
    return out + "    </testcase>\n";
}

std::string night_cases(const Night& night, Tally& tally) {
    std::string out;
    int number = 0;
    for (const std::string& failure : night.failures) {
        ++tally.tests;
        ++tally.errors;
        out += opening(night.suite + ".night", fmt::format("part {} runs", ++number)) + ">\n" +
               element("error", "not-run", failure, failure) + "    </testcase>\n";
    }
    for (const std::string& row : night.below_level) {
        ++tally.tests;
        ++tally.failures;
        out += opening(night.suite + ".level", row) + ">\n" +
               element("failure", "below-level", row, row) + "    </testcase>\n";
    }
    if (night.baseline_session.empty()) return out;
    ++tally.tests;
    out += opening(night.suite + ".night", "geometric mean of all rows");
    if (!night.geometric_mean) {
        ++tally.skipped;
        return out + ">\n" + skipped("none: fewer than three rows count in it") +
               "    </testcase>\n";
    }
    if (!mean_beyond_margin(night)) return out + "/>\n";
    ++tally.failures;
    return out + ">\n" +
           element("failure", "regression",
                   fmt::format("slower by a factor of {:.4g}, margin {:g}", *night.geometric_mean,
                               night.margin),
                   "No single row need be confirmed for this: together they are slower.") +
           "    </testcase>\n";
}

}  // namespace

std::string junit_xml(const Night& night) {
    Tally tally;
    std::string cases = night_cases(night, tally);
    const auto groups = by_heading(night);
    const report::RowNames names = names_of(night);
    for (const auto& group : groups)
        for (const NightRow* row : group) cases += row_case(night, *row, names, tally);
    std::string properties;
    for (const auto& [name, value] : facts(night))
        properties += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", escaped(name),
                                  escaped(value));
    std::string warnings;
    for (const std::string& warning : night.warnings) warnings += warning + '\n';
    // The schema wants local time without zone; readers take it as it is.
    const std::string counts =
        fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3f}\"", tally.tests,
                    tally.failures, tally.errors, night.seconds);
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites name=\"assay nightly\" {0}>\n"
        "  <testsuite name=\"{1}\" {0} skipped=\"{2}\" timestamp=\"{3}\" "
        "hostname=\"{4}\">\n"
        "    <properties>\n{5}    </properties>\n"
        "{6}    <system-out>{7}</system-out>\n    <system-err>{8}</system-err>\n"
        "  </testsuite>\n</testsuites>\n",
        counts, escaped(night.suite), tally.skipped, escaped(night.started.substr(0, 19)),
        escaped(night.host.empty() ? night.machine : night.host), properties, cases,
        escaped(verdict_words(night)), escaped(warnings));
}

}  // namespace assay::gate
