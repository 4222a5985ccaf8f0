// Results from elsewhere: other databases of ours, CSV, Google Benchmark.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "suite/import_export/rows.hpp"
#include "suite/store/store.hpp"

namespace assay::import_export {

struct Imported : store::Store::Merged {
    std::vector<std::string> notes;    ///< sentences that a user should know of the file
    std::set<std::string> directions;  ///< metrics of the file whose direction was stated
};

/// Adds what a file holds to the store: a results database, JSON lines (json_lines.hpp), Google
/// Benchmark's JSON or CSV, told apart by their contents. What is there already is skipped, so
/// importing twice adds nothing, except that `better` says anew which way of a metric is better.
/// UserError says what is wrong, with line and column; nothing is stored then.
Imported import_file(store::Store& store, const std::filesystem::path& file,
                     const std::map<std::string, Direction>& better = {});

/// Results from CSV with the columns that `assay export --csv` writes.
///
/// `experiment`, `metric` and `value` are required; session, variant, profile (toy), provenance
/// (measured), scenario, seed (0), round, status (ok), labels, unit, better (higher, lower or
/// none), started and sample may be there; every other column is an axis. Lines of one `sample` are
/// one sample. Without that column, lines that agree in everything but metric, labels and value are
/// one sample, and a metric that comes again begins the next round. Ids follow from the contents of
/// the file, so that the same file gives the same ids, and none of the original's: what CSV lost
/// can still be imported. Every file is a machine of its own. UserError with `source`, line and
/// column.
///
/// Samples that are `here` already, by the id in the column `sample` (where there is no such
/// column, by that of `session`), are left out: a copy beside its original would be a session like
/// any other. Returns how many.
///
/// CSV does not carry: the machine, events, curves, tables, artifacts, hardware readings,
/// calibrations, notes, why a sample failed, and whether an axis value "1" was a number or a word.
struct ResultsHere {
    std::function<bool(const std::string&id)> sample, session;  ///< null: none is
};
long read_csv_results(std::string_view text, const std::string& source, const RowSink& sink,
                      const ResultsHere& here = {});

/// A file of Google Benchmark, its JSON, as a session of samples.
///
/// Each repetition is a sample of the experiment "benchmark/NAME" (profile small, provenance
/// measured), its round counts the repetitions of that name; metrics real_time and cpu_time in
/// seconds, and every counter, as GoogleBenchmarkFile reads them; aggregates are left out, errors
/// are failed samples. The machine is described by the file's context: processors, caches, and the
/// build of the library. The session's id follows from the text, so that the same file gives the
/// same ids. It began at the file's own date (suite/base/date.hpp). Returns what a user should
/// know: that there is no such date, and the time of the import stands for it. UserError with
/// `source`, line and column for malformed text, or a sentence for another JSON.
std::vector<std::string> read_benchmark_results(std::string_view text, const std::string& source,
                                                const RowSink& sink);

}  // namespace assay::import_export
