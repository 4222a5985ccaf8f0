// Since when, and what changed then?
#include <utility>

#include "gui/models/tables.hpp"
#include "gui/pages/plot_page.hpp"
#include "suite/base/encoding.hpp"

namespace assay::gui {
namespace {

class HistoryPage : public PlotPage<TrendHistory> {
  public:
    explicit HistoryPage(const PageContext& context)
        : PlotPage(context, make_trends_model, QStringLiteral("Rows over the sessions"), 0, nullptr,
                   QStringLiteral("Regressions only  ( R )"), [](const TrendHistory& row) {
                       return !row.trend.changes.empty() &&
                              row.trend.changes.back().turn == report::Turn::worse;
                   }) {
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
    void show_trend(int row) {
        if (row < 0 || row >= model().rowCount()) {
            shown_.clear();
            return;
        }
        const auto trend = std::make_shared<const report::Trend>(
            model().rows()[static_cast<std::size_t>(row)].trend);
        const std::string before = std::exchange(shown_, trend->title());
        if (!before.empty() && before != shown_) pane()->plot_view()->fit();  // other values
        const auto draw = [trend](const report::ViewWindow& window) {
            return report::trend_plot(*trend, report::usual_trend_options().rule, window);
        };
        show_drawing({.whole = std::make_shared<const report::Plot>(draw({})),
                      .part = draw,
                      .zooms_y = true});
    }

    std::string shown_;  // the trend's title
};

}  // namespace

Page* make_history_page(const PageContext& context) { return new HistoryPage(context); }

}  // namespace assay::gui
