// What did the paper print, what did we get, how, by which command?
#include "gui/models/tables.hpp"
#include "gui/pages/plot_page.hpp"

namespace assay::gui {
namespace {

class FigurePage : public PlotPage<JudgedClaim> {
  public:
    explicit FigurePage(const PageContext& context)
        : PlotPage(context, make_claims_model, QStringLiteral("Claims of the paper"), 3, nullptr,
                   QStringLiteral("Only what does not hold  ( R )"), [](const JudgedClaim& row) {
                       return row.check.verdict == ClaimVerdict::contradicted ||
                              row.check.verdict == ClaimVerdict::open_discrepancy;
                   }) {}

    void refresh() override {
        Q_EMIT looked_at(argument());
        ask([registry = context().registry,
             id = argument()](store::Store& store) { return read_figure(*registry, store, id); },
            [this](FigureContent figure) { show(std::move(figure)); });
    }

  private:
    void show(FigureContent figure) {
        pane()->set_words(text(figure.experiment->id), text(figure.experiment->source),
                          command("run " + figure.experiment->id));
        model().set(std::move(figure.claims));
        auto whole = std::make_shared<const report::Plot>(std::move(figure.plot));
        auto kept = std::make_shared<const FigureContent>(std::move(figure));
        const bool over_time = kept->experiment->figure.kind == Figure::Kind::timeline;
        Drawing drawing{.whole = std::move(whole), .zooms_y = !over_time};
        if (over_time) drawing.x_unit = "s";
        if (!kept->samples.empty() || !kept->data.panels.empty())
            drawing.part = [kept, registry = context().registry](const report::ViewWindow& window) {
                return draw_figure(*registry, *kept, window);
            };
        show_drawing(std::move(drawing));
    }
};

}  // namespace

Page* make_figure_page(const PageContext& context) { return new FigurePage(context); }

}  // namespace assay::gui
