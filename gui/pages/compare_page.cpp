// What is slower, how sure, what else differs?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gui/models/tables.hpp"
#include "gui/pages/plot_page.hpp"
#include "gui/plot/ratio_plot.hpp"
#include "suite/base/encoding.hpp"

namespace assay::gui {
namespace {

class ComparePage : public PlotPage<compare::Row> {
  public:
    explicit ComparePage(const PageContext& context)
        : PlotPage(context, make_rows_model, QStringLiteral("Rows of the comparison"), 0, nullptr,
                   QStringLiteral("Regressions only  ( R )"), [](const compare::Row& row) {
                       return row.verdict == compare::RowVerdict::slower ||
                              row.verdict == compare::RowVerdict::failed;
                   }) {}

    void refresh() override {
        ask([registry = context().registry, file = context().database,
             typed = argument()](store::Store&) { return read_comparison(*registry, file, typed); },
            [this](std::shared_ptr<const Comparison> comparison) { show(std::move(comparison)); });
    }

  private:
    void show(std::shared_ptr<const Comparison> comparison) {
        const auto suspects = differing_suspects(*comparison);
        pane()->set_words(
            text(comparison->a_typed + " against " + comparison->b_typed),
            text(suspects.empty() ? "no recorded suspect differs"
                                  : fmt::format("differing: {}", fmt::join(suspects, "; "))),
            command("compare " + shell_quoted(comparison->a_typed) + " " +
                    shell_quoted(comparison->b_typed)));
        const auto draw = [comparison](const report::ViewWindow& window) {
            return ratio_plot(comparison->a, comparison->b, comparison->rows, window);
        };
        show_drawing({.whole = std::make_shared<const report::Plot>(draw({})), .part = draw});
        model().set(comparison->rows);
        comparison_ = std::move(comparison);  // the rows before pointed into the one before
    }

    std::shared_ptr<const Comparison> comparison_;
};

}  // namespace

Page* make_compare_page(const PageContext& context) { return new ComparePage(context); }

}  // namespace assay::gui
