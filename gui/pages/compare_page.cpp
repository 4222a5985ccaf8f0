// What is slower, how sure, what else differs?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gui/models/tables.hpp"
#include "gui/pages/plot_page.hpp"
#include "gui/pages/row_actions.hpp"
#include "gui/plot/ratio_plot.hpp"
#include "suite/base/encoding.hpp"

namespace assay::gui {
namespace {

class ComparePage : public PlotPage<ComparedRow> {
  public:
    explicit ComparePage(const PageContext& context)
        : PlotPage(context, make_rows_model, QStringLiteral("Rows of the comparison"), 0, nullptr,
                   QStringLiteral("Regressions only  ( R )"), [](const ComparedRow& compared) {
                       return compared.row.verdict == compare::RowVerdict::slower ||
                              compared.row.verdict == compare::RowVerdict::failed;
                   }) {
        pane()->table()->setTextElideMode(Qt::ElideMiddle);  // rows differ at their ends
        pane()->add_below(make_row_actions(
            context.database, [this] { return acted_on(); },
            [this](const QString& said) {
                Q_EMIT told(said);
                refresh();
            }));
    }

    void refresh() override {
        ask([registry = context().registry, typed = argument()](
                store::Store& store) { return read_comparison(*registry, store, typed); },
            [this](std::shared_ptr<const Comparison> comparison) { show(std::move(comparison)); });
    }

  private:
    void forget() override {
        PlotPage::forget();
        comparison_.reset();  // a note would go to a session of the one before
    }

    void show(std::shared_ptr<const Comparison> comparison) {
        const auto suspects = differing_suspects(*comparison);
        pane()->set_words(
            text(comparison->a_typed + " against " + comparison->b_typed),
            text((comparison->note.empty() ? "" : comparison->note + "; ") +
                 (suspects.empty() ? "no recorded suspect differs"
                                   : fmt::format("differing: {}", fmt::join(suspects, "; ")))),
            command("compare " + shell_quoted(comparison->a_typed) + " " +
                    shell_quoted(comparison->b_typed)));
        const auto draw = [comparison](const report::ViewWindow& window) {
            return ratio_plot(comparison->a, comparison->b, comparison->rows, window);
        };
        show_drawing({.whole = std::make_shared<const report::Plot>(draw({})), .part = draw});
        model().set(named_rows(*comparison));
        comparison_ = std::move(comparison);  // the rows before pointed into the one before
    }

    ActedOn acted_on() const {
        ActedOn on;
        if (!comparison_) return on;
        const int row = pane()->chosen_row();
        if (row >= 0 && row < model().rowCount())
            on.row = model().rows()[static_cast<std::size_t>(row)].name;
        if (!comparison_->b.sessions.empty()) on.session = comparison_->b.sessions.back().id;
        constexpr std::string_view baseline = "baseline:";
        for (const std::string& side : {comparison_->a_typed, comparison_->b_typed})
            if (side.starts_with(baseline)) on.suite = side.substr(baseline.size());
        return on;
    }

    std::shared_ptr<const Comparison> comparison_;
};

}  // namespace

Page* make_compare_page(const PageContext& context) { return new ComparePage(context); }

}  // namespace assay::gui
