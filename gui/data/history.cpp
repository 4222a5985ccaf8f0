#include "gui/data/history.hpp"

#include <fmt/format.h>

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

struct NightRow {
    std::string suite;
    store::RowOfNight row;
};

/// Of every suite on every machine that had nights.
std::vector<NightRow> rows_of_nights(const store::Nights& nights) {
    std::set<std::pair<std::string, std::string>> places;
    for (const store::NightRecord& night : nights.nights(""))
        places.emplace(night.suite, night.machine);
    std::vector<NightRow> rows;
    for (const auto& [suite, machine] : places)
        for (store::RowOfNight& row : nights.rows(suite, machine))
            rows.push_back({suite, std::move(row)});
    std::stable_sort(rows.begin(), rows.end(), [](const NightRow& a, const NightRow& b) {
        return a.row.started < b.row.started;
    });
    return rows;
}

std::string change_says(const report::TrendChange& change) {
    const std::string_view turn = to_string(change.turn);
    std::string says = report::change_text(change.at);
    if (!turn.empty()) says += fmt::format(", {}", turn);
    for (const report::SuspectChange& suspect : change.suspects)
        says += fmt::format("; {} {} → {}", suspect.name, suspect.before, suspect.after);
    return says;
}

}  // namespace

std::vector<TrendHistory> read_history(const Registry& registry, store::Store& store,
                                       const std::string& rows) {
    std::vector<TrendHistory> histories;
    std::vector<RowId> ids;
    const store::Nights kept(store);
    const std::vector<NightRow> nights = rows_of_nights(kept);
    const std::vector<store::AcceptedLevel> levels = kept.levels("");
    for (report::Trend& trend :
         cli::selected_trends(registry, store, {.pattern = rows}, report::usual_trend_options())) {
        TrendHistory history{std::move(trend), {}, {}, {}};
        history.notes = notes_of(history.trend, store);
        const RowId id = store::row_id(history.trend.series, history.trend.metric);
        for (const NightRow& night : nights)
            if (night.row.row.id == id) {
                history.nights.push_back(night.row);
                history.suite = night.suite;
            }
        for (const store::AcceptedLevel& level : levels)
            if (level.row ? *level.row == id : level.baseline == history.suite)
                history.levels.push_back(level);
        ids.push_back(id);
        histories.push_back(std::move(history));
    }
    const report::RowNames names(ids);
    for (std::size_t i = 0; i < ids.size(); ++i) histories[i].row = names.of(ids[i]).text();
    return histories;
}

std::vector<TrendEvent> events_of(const TrendHistory& history) {
    std::vector<TrendEvent> events;
    for (const report::TrendChange& change : history.trend.changes)
        events.push_back({history.trend.points[static_cast<std::size_t>(change.at.index)].started,
                          "change", change_says(change)});
    for (const store::RowOfNight& night : history.nights)
        events.push_back(
            {night.started, "night",
             fmt::format("{}{}",
                         night.row.evidence == "none" ? "nothing unusual" : night.row.evidence,
                         night.row.median ? fmt::format(", {:.4g}", *night.row.median) : "")});
    for (const store::AcceptedLevel& level : history.levels)
        events.push_back({level.at, "level",
                          fmt::format("session {:.8} accepted for {}{}", level.session,
                                      level.baseline, level.why.empty() ? "" : ": " + level.why)});
    for (const SessionNote& note : history.notes)
        events.push_back({note.at, "note", fmt::format("{:.8}: {}", note.session, note.text)});
    std::stable_sort(events.begin(), events.end(),
                     [](const TrendEvent& a, const TrendEvent& b) { return a.at > b.at; });
    return events;
}

}  // namespace assay::gui
