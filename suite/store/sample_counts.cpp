// How many samples there are of each experiment: for an overview of everything.
#include <unordered_map>
#include <utility>

#include "suite/store/row_codec.hpp"
#include "suite/store/store_impl.hpp"

namespace assay::store {
namespace {

std::unordered_map<std::string, std::string> experiment_of_series(SQLite::Database& sql) {
    std::unordered_map<std::string, std::string> experiments;
    SQLite::Statement rows(sql, "SELECT id, experiment FROM series");
    while (rows.executeStep())
        experiments.emplace(rows.getColumn(0).getString(), rows.getColumn(1).getString());
    return experiments;
}

/// Of each of these experiments the newest session that has a sample of it: from the newest session
/// back until there is one of each, since a file may hold many sessions.
void find_newest(SQLite::Database& sql,
                 const std::unordered_map<std::string, std::string>& experiment_of,
                 std::map<std::string, ExperimentCounts>& counts) {
    std::size_t missing = counts.size();
    std::vector<std::string> sessions = recorded_order(sql);
    SQLite::Statement series(sql, "SELECT DISTINCT series FROM sample WHERE session = ?");
    for (; missing > 0 && !sessions.empty(); sessions.pop_back()) {
        const std::string& session = sessions.back();
        series.reset();
        series.bind(1, session);
        while (series.executeStep()) {
            ExperimentCounts& of = counts.at(experiment_of.at(series.getColumn(0).getString()));
            if (!of.newest.empty()) continue;
            of.newest = session;
            --missing;
        }
    }
}

}  // namespace

std::vector<ExperimentCounts> Store::sample_counts() const {
    return impl_->database.read("count the samples", [](SQLite::Database& sql) {
        const auto experiments = experiment_of_series(sql);
        std::map<std::string, ExperimentCounts> counts;
        // Reads an index only: (series, status, …).
        SQLite::Statement statuses(
            sql, "SELECT series, status, count(*) FROM sample GROUP BY series, status");
        while (statuses.executeStep()) {
            ExperimentCounts& of = counts[experiments.at(statuses.getColumn(0).getString())];
            of.samples[statuses.getColumn(1).getString()] +=
                static_cast<long>(statuses.getColumn(2).getInt64());
        }
        find_newest(sql, experiments, counts);
        std::vector<ExperimentCounts> all;
        for (auto& [experiment, of] : counts) {
            of.experiment = experiment;
            all.push_back(std::move(of));
        }
        return all;
    });
}

SessionProgress Store::progress(std::string_view session) const {
    return impl_->database.read("read how far a session is", [&](SQLite::Database& sql) {
        SQLite::Statement rows(sql,
                               "SELECT count(*) FILTER (WHERE status <> 'running'), "
                               "coalesce((SELECT id FROM sample WHERE session = ?1 AND status = "
                               "'running' ORDER BY started DESC LIMIT 1), '') "
                               "FROM sample WHERE session = ?1");
        bind_text(rows, 1, session);
        rows.executeStep();
        return SessionProgress{static_cast<long>(rows.getColumn(0).getInt64()),
                               rows.getColumn(1).getString()};
    });
}

}  // namespace assay::store
