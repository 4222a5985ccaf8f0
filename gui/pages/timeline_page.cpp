// What happened at the second kill?
#include <fmt/format.h>

#include <QHeaderView>
#include <QTableView>
#include <algorithm>

#include "gui/data/between.hpp"
#include "gui/models/machine_tables.hpp"
#include "gui/models/tables.hpp"
#include "gui/pages/plot_page.hpp"

namespace assay::gui {
namespace {

constexpr std::size_t painted_width = 720;  // pixels of a plot, for which curves are thinned out

class TimelinePage : public PlotPage<TimelineMark> {
  public:
    explicit TimelinePage(const PageContext& context)
        : PlotPage(context, make_marks_model, QStringLiteral("What happened, by time"), 4,
                   [](const TimelineMark& mark) { return mark.t_s; }),
          devices_(make_devices_model(this)),
          devices_table_(make_table(devices_, QStringLiteral("Hardware readings"), 6)) {
        pane()->add_below(devices_table_);
        connect(devices_, &QAbstractItemModel::modelReset, this, [this] { fit_devices(); });
    }

    void refresh() override {
        ask(
            [registry = context().registry, sample = argument()](store::Store& store) {
                return read_timeline(*registry, store, sample, painted_width);
            },
            [this](Timeline timeline) { show(std::move(timeline)); });
    }

  private:
    void show(Timeline timeline) {
        const store::Sample& sample = timeline.sample;
        Q_EMIT looked_at(sample.spec.experiment);
        const std::string faults =
            sample.spec.scenario.empty() ? "" : "; faults: " + sample.spec.scenario;
        pane()->set_words(
            text(sample.spec.experiment + " " + sample.spec.variant),
            text(fmt::format("{}, {}, {}, seed {}{}", sample.status, to_string(sample.spec.profile),
                             to_string(sample.spec.provenance), sample.spec.seed, faults)),
            command(fmt::format("replay {:.8}", sample.id)));
        model().set(std::move(timeline.marks));
        devices_->set(std::move(timeline.hardware));
        auto whole = std::make_shared<const report::Plot>(std::move(timeline.plot));
        auto kept = std::make_shared<const Timeline>(std::move(timeline));
        show_drawing({.whole = std::move(whole),
                      .part =
                          [kept, registry = context().registry](const report::ViewWindow& window) {
                              return draw_timeline(*registry, *kept, painted_width, window);
                          },
                      .x_unit = "s",
                      .between =
                          [kept](const report::Range& seconds) {
                              return happened_between(kept->sample, seconds);
                          }});
    }

    void forget() override {
        PlotPage::forget();
        devices_->set({});
    }

    // As high as its rows, and gone without any.
    void fit_devices() {
        constexpr int most = 8;
        const int rows = std::min(devices_->rowCount(), most);
        devices_table_->setVisible(rows > 0);
        devices_table_->setFixedHeight(
            (rows + 1) * devices_table_->verticalHeader()->defaultSectionSize() + 6);
    }

    DevicesModel* devices_;
    QTableView* devices_table_;
};

}  // namespace

Page* make_timeline_page(const PageContext& context) { return new TimelinePage(context); }

}  // namespace assay::gui
