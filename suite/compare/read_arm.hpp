// From what is typed to an arm.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "suite/compare/arm.hpp"
#include "suite/experiment/system.hpp"

namespace assay {
struct BenchmarkFile;
}
namespace assay::store {
class Store;
}

namespace assay::compare {

/// The metric that says of a part of a sample that is ok, named by its labels, that it failed: a
/// benchmark of a program of which others ran. To a comparison it is a failure of the metric beside
/// it with these labels, the figure's; or of the one that a label names, a counter.
inline constexpr std::string_view failed_part_metric = "failed", failed_counter_label = "counter";

/// The samples of some sessions of a store. Units, directions and determinism come from the
/// registry; an experiment that it does not know gives metrics without direction.
Arm arm_of_sessions(const Registry&, const store::Store&, const std::vector<std::string>& sessions);

/// The newest samples of every series of a database.
Arm arm_of_store(const Registry&, const store::Store&);

/// A file of a benchmark tool: repetitions of one benchmark are the points of one series per
/// metric, unpaired; of several days, by sessions; errors count as failed. Names, units and context
/// are those of an import of the file, so that either compares with the other.
Arm arm_of_benchmarks(const BenchmarkFile&, const std::string& source);
/// Google Benchmark's JSON. UserError with line and column for malformed text, or a sentence for
/// another JSON.
Arm read_google_benchmark(const std::string& text, const std::string& source);

/// What `assay compare` takes for A or B:
///   FILE.json            a benchmark tool's output, in a file, pipe or folder of any name with a
///                        '/' or '.'; its format is recognised unless `from` names it
///   FILE.db              the newest samples of each series of another database (or .sqlite)
///   FILE.db:SELECTOR     what SELECTOR names in another database (or .sqlite)
///   1a2b3c4d             a session, by id or prefix
///   latest, latest~2     the newest finished session, the second before it
///   baseline:NAME        what `assay baseline` calls so
///   commit:ABCDEF        the sessions of one commit (prefix)
///   machine:FINGERPRINT  the sessions of one machine (prefix)
///   since:2026-11-01, since:7d, between:FROM..TO   the sessions of a time window
/// UserError: nothing matches, or it is ambiguous; the text lists what there is.
Arm read_arm(const Registry&, const std::filesystem::path& database, const std::string& typed);
/// The same of the database that is open: whoever interrupts it ends the reading.
Arm read_arm(const Registry&, const store::Store& database, const std::string& typed);

/// Both sides of a comparison. A session that both name counts on one side only: on that which has
/// no other, else in B.
/// `from`: the format of files of benchmark tools (import_export/tools); empty: recognised.
struct Arms {
    Arm a, b;
    std::string note{};  ///< a sentence where both are the same, or share sessions; else ""
};
Arms read_arms(const Registry&, const std::filesystem::path& database, const std::string& a,
               const std::string& b, std::string_view from = {});
Arms read_arms(const Registry&, const store::Store& database, const std::string& a,
               const std::string& b, std::string_view from = {});

}  // namespace assay::compare
