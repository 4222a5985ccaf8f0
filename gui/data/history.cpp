#include "gui/data/history.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "suite/cli/results/history_selection.hpp"
#include "suite/report/text/row_name.hpp"
#include "suite/store/ids.hpp"

namespace assay::gui {
namespace {

std::vector<SessionNote> notes_of(const report::Trend& trend, const store::Store& store) {
    std::vector<SessionNote> notes;
    for (const store::HistoryPoint& point : trend.points)
        for (const store::Annotation& note : store.annotations(point.session))
            notes.push_back({note.at, point.session, note.text});
    std::stable_sort(notes.begin(), notes.end(),
                     [](const SessionNote& a, const SessionNote& b) { return a.at < b.at; });
    return notes;
}

/// Of every suite on every machine that had nights.
std::vector<store::RowOfNight> rows_of_nights(store::Store& store) {
    const store::Nights nights(store);
    std::set<std::pair<std::string, std::string>> places;
    for (const store::NightRecord& night : nights.nights(""))
        places.emplace(night.suite, night.machine);
    std::vector<store::RowOfNight> rows;
    for (const auto& [suite, machine] : places)
        for (store::RowOfNight& row : nights.rows(suite, machine)) rows.push_back(std::move(row));
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.started < b.started; });
    return rows;
}

}  // namespace

std::vector<TrendHistory> read_history(const Registry& registry, store::Store& store,
                                       const std::string& rows) {
    std::vector<TrendHistory> histories;
    std::vector<RowId> ids;
    const std::vector<store::RowOfNight> nights = rows_of_nights(store);
    for (report::Trend& trend :
         cli::selected_trends(registry, store, {.pattern = rows}, report::usual_trend_options())) {
        TrendHistory history{std::move(trend), {}, {}, {}};
        history.notes = notes_of(history.trend, store);
        const RowId id = store::row_id(history.trend.series, history.trend.metric);
        for (const store::RowOfNight& night : nights)
            if (night.row.id == id) history.nights.push_back(night);
        ids.push_back(id);
        histories.push_back(std::move(history));
    }
    const report::RowNames names(ids);
    for (std::size_t i = 0; i < ids.size(); ++i) histories[i].row = names.of(ids[i]).text();
    return histories;
}

}  // namespace assay::gui
