// The window: a line that sums up, the view that is open, and the keys.
#pragma once

#include <QMainWindow>
#include <memory>
#include <vector>

#include "gui/data/reader.hpp"
#include "gui/models/overview_model.hpp"
#include "gui/views/figure_view.hpp"
#include "gui/views/location.hpp"
#include "gui/views/overview_view.hpp"

class QLabel;
class QStackedWidget;

namespace assay::gui {

class MainWindow : public QMainWindow {
    Q_OBJECT
  public:
    MainWindow(std::shared_ptr<const Registry> registry, std::filesystem::path database);

    void go(const Location& location);
    void back();
    void set_theme(report::Theme theme);
    /// Everything that was asked for is on the screen.
    bool settled() const { return reader_.idle(); }
    const Location& location() const { return location_; }
    const QString& notice() const { return notice_text_; }
    const OverviewModel& overview() const { return *overview_model_; }

  signals:
    void settled_now();

  private:
    void add_keys();
    void show_location();
    void refresh();
    void read_overview();
    void read_figure();
    void export_picture();
    void help();

    std::shared_ptr<const Registry> registry_;
    std::filesystem::path database_;
    OverviewModel* overview_model_;  // a child, which outlives the views of it
    OverviewView* overview_;
    FigureView* figure_;
    QStackedWidget* views_;
    QLabel *headline_, *running_, *notice_;
    QString notice_text_;
    Location location_;
    std::vector<Location> before_;
    Reader reader_;  // last: its answers find everything else
};

}  // namespace assay::gui
