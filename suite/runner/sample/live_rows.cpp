#include "suite/runner/sample/live_rows.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <variant>

namespace assay::runner {

bool LiveRows::storable(const auto& row) {
    auto why = check_.refusal(row);
    if (why) why_unstorable_.insert(std::move(*why));
    return !why;
}

void LiveRows::keep(store::MetricValue&& metric) {
    if (storable(metric)) rows_.metrics.push_back(std::move(metric));
}

void LiveRows::keep(store::Event&& event) { rows_.events.push_back(std::move(event)); }

void LiveRows::keep(store::TimeSeries&& series) {
    if (!storable(series)) return;
    if (series.grows) {
        const auto [at, is_new] =
            growing_.try_emplace({series.name, series.labels}, rows_.series_data.size());
        if (!is_new) {
            store::TimeSeries& chunk = rows_.series_data[at->second];
            chunk.t_s.insert(chunk.t_s.end(), series.t_s.begin(), series.t_s.end());
            chunk.values.insert(chunk.values.end(), series.values.begin(), series.values.end());
            return;
        }
    }
    rows_.series_data.push_back(std::move(series));
}

void LiveRows::keep(store::Table&& table) {
    if (storable(table)) rows_.tables.push_back(std::move(table));
}

void LiveRows::keep(store::Artifact&& artifact) { rows_.artifacts.push_back(std::move(artifact)); }

void LiveRows::add(Message&& message) {
    std::visit([&](auto& row) { keep(std::move(row)); }, message);
    if (!std::holds_alternative<Progress>(message) && !std::holds_alternative<End>(message))
        ++count_;
}

double LiveRows::store_due(double age_s) {
    if (store_ == nullptr || count_ == 0) return std::numeric_limits<double>::infinity();
    const bool many = count_ >= most_rows && !busy_;
    if (!many && age_s < last_s_ + every_s) return last_s_ + every_s;
    last_s_ = age_s;
    busy_ = !store_->add_to_sample(rows_);
    if (busy_) return last_s_ + every_s;
    store::Sample stored = take_rest();
    std::move(stored.metrics.begin(), stored.metrics.end(), std::back_inserter(stored_metrics_));
    return std::numeric_limits<double>::infinity();
}

store::Sample LiveRows::take_rest() {
    store::Sample empty;
    empty.id = rows_.id;
    growing_.clear();
    count_ = 0;
    return std::exchange(rows_, std::move(empty));
}

}  // namespace assay::runner
