// Since when, and what changed then?
#include <QTableView>
#include <utility>

#include "gui/models/tables.hpp"
#include "gui/pages/plot_page.hpp"
#include "gui/pages/row_actions.hpp"
#include "suite/base/encoding.hpp"

namespace assay::gui {
namespace {

class HistoryPage : public PlotPage<TrendHistory> {
  public:
    explicit HistoryPage(const PageContext& context)
        : PlotPage(context, make_trends_model, QStringLiteral("Rows over the sessions"), 0, nullptr,
                   QStringLiteral("Regressions only  ( R )"),
                   [](const TrendHistory& row) {
                       return !row.trend.changes.empty() &&
                              row.trend.changes.back().turn == report::Turn::worse;
                   }),
          events_(make_trend_events_model(this)),
          events_table_(make_table(
              events_, QStringLiteral("Changes, nights, levels and notes of the chosen row"), 2)) {
        pane()->table()->setTextElideMode(Qt::ElideMiddle);  // rows differ at their ends
        pane()->add_below(events_table_);
        pane()->add_below(make_row_actions(
            context.database, [this] { return acted_on(); },
            [this](const QString& said) {
                Q_EMIT told(said);
                refresh();
            }));
        connect(pane(), &PlotPane::chosen, this, &HistoryPage::show_trend);
    }

    void refresh() override {
        ask([registry = context().registry, rows = argument()](
                store::Store& store) { return read_history(*registry, store, rows); },
            [this, rows = argument()](std::vector<TrendHistory> histories) {
                pane()->set_words(text(rows), {}, command("history " + shell_quoted(rows)));
                model().set(std::move(histories));
                show_trend(pane()->chosen_row());
            });
    }

  private:
    const TrendHistory* at(int row) const {
        return row >= 0 && row < model().rowCount() ? &model().rows()[static_cast<std::size_t>(row)]
                                                    : nullptr;
    }

    void show_trend(int row) {
        const TrendHistory* const chosen = at(row);
        events_->set(chosen ? events_of(*chosen) : std::vector<TrendEvent>());
        events_table_->setVisible(events_->rowCount() > 0);
        if (!chosen) {
            shown_.clear();
            return;
        }
        const auto trend = std::make_shared<const report::Trend>(chosen->trend);
        const std::string before = std::exchange(shown_, trend->title());
        if (!before.empty() && before != shown_)
            pane()->plot_view()->set_window({});  // other values
        const auto draw = [trend](const report::ViewWindow& window) {
            return report::trend_plot(*trend, report::usual_trend_options().rule, window);
        };
        show_drawing({.whole = std::make_shared<const report::Plot>(draw({})),
                      .part = draw,
                      .zooms_y = true});
    }

    ActedOn acted_on() const {
        const TrendHistory* chosen = at(pane()->chosen_row());
        return chosen ? ActedOn{chosen->row, chosen->trend.points.back().session, chosen->suite}
                      : ActedOn();
    }

    TrendEventsModel* events_;
    QTableView* events_table_;
    std::string shown_;  // the trend's title
};

}  // namespace

Page* make_history_page(const PageContext& context) { return new HistoryPage(context); }

}  // namespace assay::gui
