// What did the paper print, what did we get, how, by which command?
#include <QLabel>
#include <QTableView>

#include "gui/data/counted.hpp"
#include "gui/models/tables.hpp"
#include "gui/pages/plot_page.hpp"

namespace assay::gui {
namespace {

class FigurePage : public PlotPage<JudgedClaim> {
  public:
    explicit FigurePage(const PageContext& context)
        : PlotPage(context, make_claims_model, QStringLiteral("Claims of the paper"), 3, nullptr,
                   QStringLiteral("Only what does not hold  ( R )"),
                   [](const JudgedClaim& row) {
                       return row.check.verdict == ClaimVerdict::contradicted;
                   }),
          behind_(make_samples_model(this)),
          heading_(make_words()),
          samples_table_(make_table(behind_, QStringLiteral("Samples behind the claim"), 2)) {
        samples_table_->setTextElideMode(Qt::ElideMiddle);  // cases differ at their ends
        pane()->add_below(heading_);
        pane()->add_below(samples_table_);
        connect(pane(), &PlotPane::chosen, this, &FigurePage::show_samples);
        connect(samples_table_, &QTableView::clicked, this, &FigurePage::open_sample);
        connect(samples_table_, &QTableView::activated, this, &FigurePage::open_sample);
        connect(pane(), &PlotPane::activated, this, [this] { samples_table_->setFocus(); });
    }

    void refresh() override {
        ask([registry = context().registry,
             id = argument()](store::Store& store) { return read_figure(*registry, store, id); },
            [this](FigureContent figure) { show(std::move(figure)); });
    }

  private:
    void show(FigureContent figure) {
        pane()->set_words(text(figure.experiment->id), text(figure.experiment->source),
                          command("run " + figure.experiment->id));
        auto claims = std::move(figure.claims);
        auto whole = std::make_shared<const report::Plot>(std::move(figure.plot));
        figure_ = std::make_shared<const FigureContent>(std::move(figure));
        const bool over_time = figure_->experiment->figure.kind == Figure::Kind::timeline;
        Drawing drawing{.whole = std::move(whole), .zooms_y = !over_time};
        if (over_time) drawing.x_unit = "s";
        if (over_time ? !figure_->samples.empty() : !figure_->data.panels.empty())
            drawing.part = [figure = figure_,
                            registry = context().registry](const report::ViewWindow& window) {
                return draw_figure(*registry, *figure, window);
            };
        show_drawing(std::move(drawing));
        model().set(std::move(claims));
        show_samples(pane()->chosen_row());
    }

    void forget() override {
        figure_.reset();
        PlotPage::forget();
    }

    void show_samples(int row) {
        std::vector<ClaimSample> behind;
        if (figure_ && row >= 0 && row < model().rowCount())
            behind =
                samples_behind(model().rows()[static_cast<std::size_t>(row)], figure_->samples);
        heading_->setText(behind.empty()
                              ? QStringLiteral("No sample here is behind this claim")
                              : counted(qlonglong(behind.size()), "sample") +
                                    QStringLiteral(" behind this claim; a click shows what "
                                                   "happened in one"));
        heading_->setVisible(model().rowCount() > 0);
        samples_table_->setVisible(!behind.empty());
        behind_->set(std::move(behind));
    }

    void open_sample(const QModelIndex& at) {
        if (at.isValid())
            Q_EMIT wanted({View::timeline, behind_->rows()[static_cast<std::size_t>(at.row())].id});
    }

    SamplesModel* behind_;
    QLabel* heading_;
    QTableView* samples_table_;
    std::shared_ptr<const FigureContent> figure_;  // but its claims, which the model has
};

}  // namespace

Page* make_figure_page(const PageContext& context) { return new FigurePage(context); }

}  // namespace assay::gui
