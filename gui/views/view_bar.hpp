// The views as buttons, for those who go by mouse: back, one per view, the keys.
#pragma once

#include <QWidget>
#include <map>

#include "gui/views/location.hpp"

class QToolButton;

namespace assay::gui {

class ViewBar : public QWidget {
    Q_OBJECT
  public:
    explicit ViewBar(QWidget* parent = nullptr);

    /// `has_figure`: one was looked at, of which there are a timeline and a history.
    void show_place(View open, bool can_go_back, bool has_figure);

  Q_SIGNALS:
    void wanted(View view);
    void back_wanted();
    void keys_wanted();

  private:
    QToolButton* back_;
    std::map<View, QToolButton*> views_;
};

}  // namespace assay::gui
