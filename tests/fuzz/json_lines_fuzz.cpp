// Results as JSON lines: a UserError, or rows that can be believed.
#include <cstdint>
#include <cstdlib>
#include <sstream>

#include "suite/base/error.hpp"
#include "suite/import_export/json_lines.hpp"
#include "suite/import_export/rows.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
    try {
        assay::import_export::read_json_lines(in, "r.jsonl",
                                              [](const assay::import_export::Row& row) {
                                                  if (assay::import_export::problem_of(row))
                                                      std::abort();
                                              });
    } catch (const assay::UserError&) {
    }
    return 0;
}
