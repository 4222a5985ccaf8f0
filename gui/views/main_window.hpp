// The window: a line that sums up, where one is, the view that is open, and the keys.
#pragma once

#include <QMainWindow>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "gui/data/last_look.hpp"
#include "gui/data/reader.hpp"
#include "gui/data/sample_totals.hpp"
#include "gui/models/overview_model.hpp"
#include "gui/pages/page.hpp"
#include "gui/views/location.hpp"
#include "gui/views/overview_view.hpp"
#include "gui/views/plot_pane.hpp"
#include "gui/views/seen.hpp"
#include "gui/views/view_bar.hpp"

class QLabel;
class QLineEdit;
class QStackedWidget;
class QUndoStack;

namespace assay::gui {

class MainWindow : public QMainWindow {
    Q_OBJECT
  public:
    MainWindow(std::shared_ptr<const Registry> registry, std::filesystem::path database);

    void go(const Location& location);
    void back();
    void set_theme(report::Theme theme);
    /// Takes up what was kept of the last start, and keeps it when it closes.
    void keep_state();
    /// Everything that was asked for is on the screen.
    bool settled() const;
    const Location& location() const { return location_; }
    QString notice() const;  ///< empty: nothing is wrong
    const OverviewModel& overview() const { return *overview_model_; }

  Q_SIGNALS:
    void settled_now();

  protected:
    void closeEvent(QCloseEvent* event) override;

  private:
    void add_pages();
    void add_keys();
    void keep_seen();
    void forget_view();
    void show_location();
    void refresh();
    /// Of a topic of the reader, or of what was done here; empty: nothing is wrong with it.
    void tell(const QString& topic, const QString& notice);
    void read_overview();
    void go_to(View view);  ///< as its key and its button do
    void go_to_newest_sample();
    void show_ways();
    void go_where_typed();
    Page* open_page() const;      ///< null: the overview is open
    PlotPane* open_pane() const;  ///< null: what is open has no plot
    void show_seen(const Location& place, const Seen& seen);
    void export_view();
    void show_news();
    void help();

    std::shared_ptr<const Registry> registry_;
    std::filesystem::path database_;
    // Children, as members would be gone when the window closes its views.
    OverviewModel* overview_model_;
    OverviewView* overview_;
    std::map<View, Page*> pages_;  // all but the overview
    QStackedWidget* views_;
    ViewBar* ways_;
    QLabel *headline_, *running_, *notice_;
    QLineEdit* address_;
    std::map<QString, QString> notices_;  // by topic
    Location location_;
    std::string experiment_;  // the last that was looked at
    std::vector<Location> before_;
    report::Theme theme_ = report::Theme::light;
    bool keeps_state_ = false, overview_read_ = false;
    std::optional<LastLook> last_look_;  // of the start before
    QUndoStack* steps_;                  // zooms and filters, of all views
    std::map<std::string, Seen> seen_;   // by place
    const std::shared_ptr<SampleTotals> totals_ = std::make_shared<SampleTotals>();  // the reader's
    Reader reader_;  // last: its answers find everything else
};

}  // namespace assay::gui
