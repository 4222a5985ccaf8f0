// Since when, and what changed then?
#include "gui/models/tables.hpp"
#include "gui/pages/plot_page.hpp"
#include "suite/base/encoding.hpp"

namespace assay::gui {
namespace {

class HistoryPage : public PlotPage<TrendHistory> {
  public:
    explicit HistoryPage(const PageContext& context)
        : PlotPage(context, make_trends_model, QStringLiteral("Rows over the sessions"), 0) {
        connect(pane(), &PlotPane::chosen, this, &HistoryPage::show_trend);
    }

    void refresh() override {
        ask(
            [registry = context().registry, rows = argument()](store::Store& store) {
                return read_history(*registry, store, rows);
            },
            [this, rows = argument()](std::vector<TrendHistory> histories) {
                pane()->set_words(text(rows), {}, command("history " + shell_quoted(rows)));
                model().set(std::move(histories));
                show_trend(pane()->chosen_row());
            });
    }

  private:
    void show_trend(int row) {
        if (row < 0 || row >= model().rowCount()) return;
        const TrendHistory& chosen = model().rows()[static_cast<std::size_t>(row)];
        show_plot(report::trend_plot(chosen.trend, report::usual_trend_options().rule));
    }
};

}  // namespace

Page* make_history_page(const PageContext& context) { return new HistoryPage(context); }

}  // namespace assay::gui
