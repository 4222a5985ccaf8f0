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

// Sessions in the order in which they started, so that of two the later one has the larger number.
std::unordered_map<std::string, std::pair<long, std::string>> order_of_sessions(
    SQLite::Database& sql) {
    std::unordered_map<std::string, std::pair<long, std::string>> order;
    SQLite::Statement rows(sql, "SELECT id FROM session ORDER BY started, arrival");
    for (long place = 1; rows.executeStep(); ++place) {
        const std::string id = rows.getColumn(0).getString();
        order.emplace(id, std::pair(place, id));
    }
    return order;
}

}  // namespace

std::vector<ExperimentCounts> Store::sample_counts() const {
    return impl_->database.read("count the samples", [](SQLite::Database& sql) {
        const auto experiments = experiment_of_series(sql);
        const auto sessions = order_of_sessions(sql);
        std::map<std::string, ExperimentCounts> counts;
        // Both read an index only: (series, status) and (session, series, …).
        SQLite::Statement statuses(
            sql, "SELECT series, status, count(*) FROM sample GROUP BY series, status");
        while (statuses.executeStep()) {
            ExperimentCounts& of = counts[experiments.at(statuses.getColumn(0).getString())];
            of.samples[statuses.getColumn(1).getString()] +=
                static_cast<long>(statuses.getColumn(2).getInt64());
        }
        std::map<std::string, std::pair<long, std::string>> newest;
        SQLite::Statement pairs(sql, "SELECT DISTINCT session, series FROM sample");
        while (pairs.executeStep()) {
            auto& of = newest[experiments.at(pairs.getColumn(1).getString())];
            of = std::max(of, sessions.at(pairs.getColumn(0).getString()));
        }
        std::vector<ExperimentCounts> all;
        for (auto& [experiment, of] : counts) {
            of.experiment = experiment;
            of.newest = newest.at(experiment).second;
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
