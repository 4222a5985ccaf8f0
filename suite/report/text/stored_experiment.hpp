// Experiments that the registry does not know and a database has samples of: imported benchmarks,
// what CSV brought, what a newer program ran.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "suite/experiment/system.hpp"
#include "suite/store/store.hpp"

namespace assay::report {

/// What the database tells of it: its axes, variants, profiles and metrics, with the units and
/// directions that it was told. Its figure is of its first metric with a direction, times before
/// others.
Experiment stored_experiment(const store::Store&, const std::string& id);

/// The registry's, or none, with the metrics that only the database knows: enough for what depends
/// on units and directions.
Experiment with_stored_metrics(const Experiment* declared, const store::Store&,
                               const std::string& id);

/// What a pattern selects: of the registry, and of those that only the database has. These are
/// meant by their ids, with * and ? ("benchmark/BM_copy/*"), or as reports call a benchmark
/// ("BM_copy/64"); "all" are the registry's.
class SelectedExperiments {
  public:
    /// `store` may be null. UnknownExperiment as of Registry::select().
    void add(const Registry&, const store::Store* store, const std::string& pattern);

    const std::vector<const Experiment*>& all() const { return all_; }
    /// The one of that id; null: not selected.
    const Experiment* find(std::string_view id) const;

  private:
    std::vector<const Experiment*> all_;
    std::deque<Experiment> stored_;
};

}  // namespace assay::report
