// Rows of results that come from elsewhere: from CSV or from another benchmark.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "suite/exchange/row.hpp"
#include "suite/store/records.hpp"

namespace assay::exchange {

/// Writes each machine, session, series and metric unit once.
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

}  // namespace assay::exchange
