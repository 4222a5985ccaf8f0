// Results from elsewhere: other databases of ours, CSV, files of benchmark tools.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "suite/experiment/system.hpp"
#include "suite/import_export/rows.hpp"
#include "suite/store/store.hpp"

namespace assay {
struct BenchmarkFile;
}

namespace assay::import_export {

struct ImportOptions {
    std::map<std::string, Direction> better{};  ///< by metric, as a user stated it
    std::string from{};     ///< the format: of a benchmark tool, or "csv"; empty: recognised
    std::string machine{};  ///< on which the results were measured; empty: what the file says
    std::map<std::string, std::string> columns{};  ///< of CSV: by our names, the file's
    const Registry* registry = nullptr;            ///< whose units hold; null: none
};

struct Imported : store::Store::Merged {
    std::vector<std::string> notes;    ///< sentences that a user should know of the file
    std::set<std::string> directions;  ///< metrics of the file whose direction was stated
};

/// A file that was read wholly, before a database is touched: a results database, JSON lines
/// (json_lines.hpp), a benchmark tool's file or folder (tools/benchmark_file.hpp) or CSV, told
/// apart by their contents.
class ArrivedFile {
  public:
    /// `here`: the database that it will be added to; null: a new one. UserError says what is
    /// wrong, with line and column, or that there is no sample in it.
    ArrivedFile(const std::filesystem::path& file, const ImportOptions&, const store::Store* here);
    ~ArrivedFile();

    /// What is there already is skipped, so importing twice adds nothing, except that `better` says
    /// anew which way of a metric is better.
    Imported add_to(store::Store&);

  private:
    struct Contents;
    std::unique_ptr<Contents> contents_;
};

/// StoreError or UserError where it is no results database, or has no session: asked before another
/// one is begun for it.
void check_database(const std::filesystem::path& file);

/// Both at once; where it throws, nothing is stored.
Imported import_file(store::Store& store, const std::filesystem::path& file,
                     const ImportOptions& options = {});

/// Results from CSV with the columns that `assay export --csv` writes.
///
/// `experiment`, `metric` and `value` are required; session, variant, profile (toy), provenance
/// (measured), scenario, seed (0), round, status (ok), labels, unit, better (higher, lower or
/// none), started and sample may be there; every other column is an axis. Lines of one `sample` are
/// one sample. Without that column, lines that agree in everything but metric, labels and value are
/// one sample, and a metric that comes again begins the next round. Without the column `session`,
/// several days are sessions by day (session_days.hpp). Ids follow from the contents of the file,
/// so that the same file gives the same ids, and none of the original's: what CSV lost can still be
/// imported. Every file is a machine of its own, unless a column `machine` or the options name one;
/// a column `commit` says what was measured. Fields are separated by commas, semicolons (then a
/// decimal comma is read) or tabs. A unit other than the declared one is converted. UserError with
/// `source`, line and column.
///
/// Samples that are `here` already, by the id in the column `sample` (where there is no such
/// column, by that of `session`), are left out: a copy beside its original would be a session like
/// any other.
///
/// CSV does not carry: the machine, events, curves, tables, artifacts, hardware readings,
/// calibrations, notes, why a sample failed, and whether an axis value "1" was a number or a word.
struct ResultsHere {
    std::function<bool(const std::string&id)> sample, session;  ///< null: none is
};
struct CsvRead {
    long left_out = 0;                 ///< samples that are here already
    std::vector<std::string> notes{};  ///< sentences that a user should know
};
CsvRead read_csv_results(std::string_view text, const std::string& source, const RowSink& sink,
                         const ResultsHere& here = {}, const ImportOptions& options = {});

/// A benchmark tool's file as sessions of samples, one per day.
///
/// Each repetition is a sample of the experiment "benchmark/NAME" (profile small, provenance
/// measured) with the file's parameters as axes, its round counts the repetitions of those; errors
/// are failed samples. The machine is what the file tells of processors, caches, GPU and build, or
/// what the user calls it. The session's id follows from the text, so that the same file gives the
/// same ids. It began at the file's own date (suite/base/date.hpp). Returns what a user should
/// know: that there is no such date, and what stands for it.
std::vector<std::string> add_benchmark_file(const BenchmarkFile&, const std::string& source,
                                            const RowSink& sink, const std::string& machine = {});
/// The same of a text whose format is recognised.
std::vector<std::string> read_benchmark_results(std::string_view text, const std::string& source,
                                                const RowSink& sink);

}  // namespace assay::import_export
