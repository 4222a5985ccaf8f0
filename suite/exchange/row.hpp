// One row of one table of a results database, on its way from or to a text.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace assay::exchange {

struct Blob {
    std::string bytes;
    bool operator==(const Blob&) const = default;
};

/// NULL, INTEGER, REAL, TEXT, BLOB.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string, Blob>;

struct Row {
    std::string table;
    std::vector<std::pair<std::string, Cell>> cells;  ///< column, value
};

using RowSink = std::function<void(Row)>;

/// The tables that hold results, each after those it refers to.
const std::vector<std::string>& result_tables();

}  // namespace assay::exchange
