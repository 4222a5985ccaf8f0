// What did the paper print, what did we get, how, by which command?
#include "gui/models/tables.hpp"
#include "gui/pages/plot_page.hpp"

namespace assay::gui {
namespace {

class FigurePage : public PlotPage<JudgedClaim> {
  public:
    explicit FigurePage(const PageContext& context)
        : PlotPage(context, make_claims_model, QStringLiteral("Claims of the paper"), 3) {}

    void refresh() override {
        Q_EMIT looked_at(argument());
        ask(
            [registry = context().registry, id = argument()](store::Store& store) {
                return read_figure(*registry, store, id);
            },
            [this](FigureContent figure) { show(std::move(figure)); });
    }

  private:
    void show(FigureContent figure) {
        pane()->set_words(text(figure.experiment->id), text(figure.experiment->source),
                          command("run " + figure.experiment->id));
        show_plot(std::move(figure.plot));
        model().set(std::move(figure.claims));
    }
};

}  // namespace

Page* make_figure_page(const PageContext& context) { return new FigurePage(context); }

}  // namespace assay::gui
