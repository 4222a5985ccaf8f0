// What reports call a row: as its series and metric are, but where that would be a command line.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "suite/experiment/series.hpp"

namespace assay::report {

struct RowName {
    std::string series;
    std::string metric;   ///< empty where `series` says it all
    std::string context;  ///< "small, emulated": how it differs from others of its name

    std::string series_text() const;   ///< with the context: "lte/fig8 lte sparsity=0.5 (small)"
    std::string context_text() const;  ///< " (small)"; empty without
    std::string text() const;          ///< "lte/fig8 lte sparsity=0.5 (small) · seconds step=3"
};

/// Of a row by itself, printable() on one line. What a suite's benchmark measured, of which the
/// series has the arguments and a label the name, is "benchmark/gemv gemv/cpu/avx2", a counter of
/// it "benchmark/gemv gemv/cpu/avx2 · of_read"; the program as a whole "benchmark/gemv".
RowName row_name(const RowId&);

/// "benchmark/gemv" and "gemv/cpu/avx2" of such a row; nullopt: of anything else.
std::optional<std::pair<std::string, std::string>> benchmark_name(const RowId&);

/// "BM_copy/64" of what came from a file of a benchmark tool, directly or imported (of which the
/// experiment is "benchmark/BM_copy/64"), "copy size=64" with its parameters; nullopt: of anything
/// else.
std::optional<std::string> imported_benchmark(const RowId&);

/// The names of rows that stand beside each other: no two are the same. Rows of one name tell their
/// axes where these differ, and profile, provenance or scenario where those do.
class RowNames {
  public:
    explicit RowNames(std::span<const RowId> ids);
    RowName of(const RowId&) const;  ///< of one that was not among them: by itself

  private:
    void tell_apart(const std::vector<RowId>& alike);

    std::map<RowId, RowName> names_;
};

/// Every text that stands for the series (and, below, the row) in some report, for what people type
/// after reading one.
std::vector<std::string> series_spellings(const RowId&);
std::vector<std::string> row_spellings(const RowId&);

}  // namespace assay::report
