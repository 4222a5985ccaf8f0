// What of a sample can be stored: finish_sample() refuses a sample for what is taken out here.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "suite/store/records.hpp"
#include "suite/store/store.hpp"

namespace assay::store {

/// The metrics of one sample, as they come.
class RecordedMetrics {
  public:
    /// The labels as a column has them. StoreError: recorded before with these labels, or one of
    /// them is not finite.
    std::string labels_of(const MetricValue&);

  private:
    std::set<std::pair<std::string, std::string>> seen_;  ///< name and labels
};

/// StoreError: as many times as values it has not, or a label is not finite.
void demand_storable(const TimeSeries&);
/// StoreError: a row is not as wide as the table.
void demand_storable(const Table&);

/// Takes out of the sample what cannot be stored: of a metric recorded twice the later value,
/// curves and tables whole. Returns why, each reason once.
std::set<std::string> take_out_unstorable(Sample&);

}  // namespace assay::store
