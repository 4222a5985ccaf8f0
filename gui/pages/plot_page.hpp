// Pages that are a plot with a table beside it.
#pragma once

#include <QTableView>
#include <QVBoxLayout>
#include <functional>
#include <utility>

#include "gui/models/table_model.hpp"
#include "gui/models/words.hpp"
#include "gui/pages/page.hpp"
#include "gui/views/plot_pane.hpp"
#include "gui/views/table.hpp"

namespace assay::gui {

template <class Row>
class PlotPage : public Page {
  public:
    /// `make`: the table's model; `widest`: its column that takes the room.
    /// `x`: where a row stands in the plot, `only`, `matters`: a filter; as PlotPane has them.
    PlotPage(const PageContext& context, TableModel<Row>* (*make)(QObject*), const QString& name,
             int widest, std::function<double(const Row&)> x = nullptr, const QString& only = {},
             std::function<bool(const Row&)> matters = nullptr)
        : Page(context), model_(make(this)) {
        const auto of_row = [model = model_](auto what) {
            return [model, what](int row) {
                return what(model->rows()[static_cast<std::size_t>(row)]);
            };
        };
        PlotPane::Table table{
            .model = model_, .name = name, .widest = widest, .details = [model = model_](int row) {
                return model->details(row);
            }};
        if (x) table.x = of_row(std::move(x));
        if (matters) table.matters = of_row(std::move(matters));
        table.only = only;
        pane_ = new PlotPane(table);
        auto* layout = new QVBoxLayout(this);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->addWidget(pane_);
        setFocusProxy(pane_);
        add_command_copying(pane_->table(), [this] { return pane_->command(); });
    }

    PlotPane* pane() const override { return pane_; }
    QTableView* table() const override { return pane_->table(); }
    QString name() const override { return pane_->plot() ? text(pane_->plot()->id()) : QString(); }
    void set_theme(report::Theme theme) override { pane_->set_theme(theme); }

  protected:
    void forget() override {
        pane_->set_words(text(argument()), {}, {});
        pane_->set_plot(nullptr);
        model_->set({});
    }
    TableModel<Row>& model() const { return *model_; }
    void show_drawing(Drawing drawing) { pane_->set_drawing(std::move(drawing)); }

  private:
    TableModel<Row>* model_;
    PlotPane* pane_;
};

}  // namespace assay::gui
