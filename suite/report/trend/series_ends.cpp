// Whether a series went on after its last session, by the sessions that came after it.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "suite/report/trend/trend.hpp"
#include "suite/store/ids.hpp"
#include "suite/store/store.hpp"

namespace assay::report {
namespace {

/// One session without a row may be an accident of that session.
constexpr std::size_t fewest_without = 2;

}  // namespace

struct SeriesEnds::Known {
    using Sessions = std::set<std::string>;

    /// In which sessions a series ended well, and parts of it failed: a benchmark of a program, or
    /// a counter of one (compare::failed_part_metric).
    struct SeriesLife {
        Sessions ok;
        std::map<assay::Labels, Sessions> failed;

        bool has_failed(const store::MetricKey& metric, const std::string& session) const {
            assay::Labels counter = metric.labels;
            counter["counter"] = metric.name;
            return std::any_of(failed.begin(), failed.end(), [&](const auto& part) {
                return (part.first == metric.labels || part.first == counter) &&
                       part.second.contains(session);
            });
        }
    };

    explicit Known(const store::Store& of) : store(of), places(of.places()) {}

    const store::Store& store;
    std::vector<store::Session> sessions;  // finished ones, the newest first
    std::map<std::string, Sessions> series;
    std::map<std::string, SeriesLife> lives;
    std::map<std::string, long> places;
    std::map<std::pair<std::string, std::string>, bool> halves;

    const Sessions& series_in(const std::string& session) {
        const auto [at, is_new] = series.try_emplace(session);
        if (is_new) {
            const std::vector<std::string> ids = store.series_in(session);
            at->second = {ids.begin(), ids.end()};
        }
        return at->second;
    }

    const SeriesLife& life(const std::string& id, const store::SeriesKey& key) {
        const auto [at, is_new] = lives.try_emplace(id);
        if (!is_new) return at->second;
        const store::HistoryFilter only{.series = [&](const store::SeriesKey& one) {
            return store::series_columns(one) == store::series_columns(key);
        }};
        for (const store::SeriesHistory& history : store.histories(key.experiment, only))
            for (const store::HistoryPoint& point : history.points) {
                at->second.ok.insert(point.session);
                if (history.metric.name == "failed")
                    at->second.failed[history.metric.labels].insert(point.session);
            }
        return at->second;
    }

    bool has_half_of(const std::string& session, const std::string& last) {
        const auto [at, is_new] = halves.try_emplace({session, last});
        if (is_new) at->second = shares_half(session, last);
        return at->second;
    }

  private:
    bool shares_half(const std::string& session, const std::string& last) {
        const auto &before = series_in(last), &after = series_in(session);
        const auto shared = std::count_if(before.begin(), before.end(), [&](const std::string& id) {
            return after.contains(id);
        });
        return 2 * static_cast<std::size_t>(shared) >= before.size();
    }
};

SeriesEnds::SeriesEnds(const store::Store& store) : known_(std::make_unique<Known>(store)) {
    for (store::Session& session : store.sessions())
        if (session.state == "finished" && !session.suspects.contains(store::rerun_mark))
            known_->sessions.push_back(std::move(session));
}

SeriesEnds::~SeriesEnds() = default;

std::optional<TrendEnd> SeriesEnds::of(const Trend& trend) {
    if (trend.points.empty()) return std::nullopt;
    const std::string& last = trend.points.back().session;
    const auto last_of = known_->store.session(last);
    if (!last_of) return std::nullopt;
    const std::string id = store::series_id(store::series_columns(trend.series));
    std::size_t without = 0;
    for (const store::Session& session : known_->sessions) {
        if (known_->places.at(session.id) <= trend.points.back().place) break;
        if (session.machine != last_of->machine) continue;
        if (!known_->series_in(session.id).contains(id)) {
            without += known_->has_half_of(session.id, last) ? 1 : 0;
            continue;
        }
        const Known::SeriesLife& life = known_->life(id, trend.series);
        if (!life.ok.contains(session.id) || life.has_failed(trend.metric, session.id)) break;
        ++without;
    }
    if (without < fewest_without) return std::nullopt;
    return TrendEnd{without};
}

}  // namespace assay::report
