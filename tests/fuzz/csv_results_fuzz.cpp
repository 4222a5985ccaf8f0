// Results from CSV: a UserError, or rows that can be believed.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "suite/base/error.hpp"
#include "suite/import_export/import.hpp"
#include "suite/import_export/rows.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        assay::import_export::read_csv_results(text, "r.csv",
                                               [](const assay::import_export::Row& row) {
                                                   if (assay::import_export::problem_of(row))
                                                       std::abort();
                                               });
    } catch (const assay::UserError&) {
    }
    return 0;
}
