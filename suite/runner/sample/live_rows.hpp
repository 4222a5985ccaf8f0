// What a running sample has recorded, on its way into the store: in batches while it runs, so that
// readers can follow it, and so that an event that comes thousands of times costs no transaction
// each.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "suite/runner/sample/sample_protocol.hpp"
#include "suite/store/store.hpp"

namespace assay::runner {

class LiveRows {
  public:
    /// Samples that end sooner are stored in one transaction, as they end.
    static constexpr double every_s = 0.25;
    /// More rows than this do not wait: transactions stay short, and memory bounded.
    static constexpr std::size_t most_rows = 2000;

    /// Of the sample `id`, which runs in `store`; null: of a sample outside any store, everything
    /// is kept to its end.
    LiveRows(store::Store* store, std::string id) : store_(store) { rows_.id = std::move(id); }

    /// Keeps what the message records.
    void add(Message&& message);

    /// Stores what is there if it is time to, at the sample's age; returns the age at which to call
    /// again. While another process writes to the store, the rows wait.
    double store_due(double age_s);

    /// What is not stored yet, and of the sample itself the id.
    store::Sample take_rest();

    /// Of what was stored before the rest: every metric, in order.
    std::vector<store::MetricValue> take_stored_metrics() {
        return std::exchange(stored_metrics_, {});
    }

    /// Why some of it cannot be stored, a mistake of the experiment; the rest is.
    const std::set<std::string>& unstorable() const { return why_unstorable_; }

  private:
    void keep(store::MetricValue&&);
    void keep(store::Event&&);
    void keep(store::TimeSeries&&);
    void keep(store::Table&&);
    void keep(store::Artifact&&);
    void keep(Progress&&) {}
    void keep(End&&) {}
    /// Notes why a row cannot be stored.
    bool storable(const auto& row);

    store::Store* store_;
    store::Sample rows_;
    std::size_t count_ = 0;  ///< messages that they came in
    /// Where in rows_ the curves are that grow: pieces that come between two batches are one chunk.
    std::map<std::pair<std::string, Labels>, std::size_t> growing_;
    store::RowCheck check_;
    std::set<std::string> why_unstorable_;
    std::vector<store::MetricValue> stored_metrics_;
    double last_s_ = 0;  ///< the sample's age when rows were stored, or could not be
    bool busy_ = false;  ///< somebody else was writing then
};

}  // namespace assay::runner
