// What happened at the second kill?
#include <fmt/format.h>

#include "gui/models/tables.hpp"
#include "gui/pages/plot_page.hpp"

namespace assay::gui {
namespace {

constexpr std::size_t painted_width = 1440;  // pixels, for which long curves are thinned out

class TimelinePage : public PlotPage<TimelineMark> {
  public:
    explicit TimelinePage(const PageContext& context)
        : PlotPage(context, make_marks_model, QStringLiteral("What happened, by time"), 4) {}

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
        pane()->set_words(text(sample.spec.experiment + " " + sample.spec.variant),
                          text(fmt::format("{}, {}, {}, seed {}{}", sample.status,
                                           to_string(sample.spec.profile),
                                           to_string(sample.spec.provenance), sample.spec.seed,
                                           faults)),
                          command(fmt::format("replay {:.8}", sample.id)));
        show_plot(std::move(timeline.plot));
        model().set(std::move(timeline.marks));
    }
};

}  // namespace

Page* make_timeline_page(const PageContext& context) { return new TimelinePage(context); }

}  // namespace assay::gui
