// One row of one table of a results database on its way from or to a text: what it is, whether it
// can be believed, and how samples from elsewhere become rows.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "suite/store/records.hpp"

namespace assay::import_export {

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

/// A sentence about what this program cannot have written: a broken column name, JSON that is none,
/// an id or a hash that does not fit its contents. Empty: nothing.
std::optional<std::string> problem_of(const Row&);

/// Makes rows of results from elsewhere, from CSV or from another benchmark: each machine, session,
/// series and metric unit once.
class ArrivingRows {
  public:
    explicit ArrivingRows(const RowSink& sink) : sink_(sink) {}

    void machine(const std::string& fingerprint, const nlohmann::json& description);
    /// id, machine, command, suspects, started and planned count.
    void session(const store::Session&);
    /// id, session, spec, status, reason, started, seconds and metrics count.
    void sample(const store::Sample&, const std::string& hardware);
    void metric_unit(const store::MetricUnit&);

  private:
    bool first_time(const std::string& what) { return seen_.insert(what).second; }

    const RowSink& sink_;
    std::set<std::string> seen_;
    std::int64_t sessions_ = 0;  ///< their order in the file is that of their arrival
};

}  // namespace assay::import_export
