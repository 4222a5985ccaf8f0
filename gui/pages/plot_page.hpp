// Pages that are a plot with a table beside it.
#pragma once

#include <QVBoxLayout>

#include "gui/models/table_model.hpp"
#include "gui/models/words.hpp"
#include "gui/pages/page.hpp"
#include "gui/views/plot_pane.hpp"

namespace assay::gui {

template <class Row>
class PlotPage : public Page {
  public:
    /// `make`: the table's model; `widest`: its column that takes the room.
    PlotPage(const PageContext& context, TableModel<Row>* (*make)(QObject*), const QString& name,
             int widest)
        : Page(context), model_(make(this)) {
        pane_ = new PlotPane({.model = model_, .name = name, .widest = widest,
                              .details = [model = model_](int row) { return model->details(row); }});
        auto* layout = new QVBoxLayout(this);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->addWidget(pane_);
        setFocusProxy(pane_);
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
    void show_plot(report::Plot plot) {
        pane_->set_plot(std::make_shared<const report::Plot>(std::move(plot)));
    }

  private:
    TableModel<Row>* model_;
    PlotPane* pane_;
};

}  // namespace assay::gui
