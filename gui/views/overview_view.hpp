// Systems and figures: does it hold?
#pragma once

#include <QWidget>

#include "gui/models/overview_model.hpp"

class QAbstractItemModel;
class QLabel;
class QLineEdit;
class QSortFilterProxyModel;
class QTreeView;

namespace assay::gui {

class OverviewView : public QWidget {
    Q_OBJECT
  public:
    explicit OverviewView(OverviewModel& model, QWidget* parent = nullptr);

    void search();                       ///< puts the cursor where one types what is looked for
    void set_news(const QString& news);  ///< since the last look; empty: there was none before

    const QAbstractItemModel& rows() const;  ///< those that are found

  Q_SIGNALS:
    void opened(const QString& experiment);

  private:
    void open(const QModelIndex& row);
    void unfold();

    QSortFilterProxyModel* found_;
    QLabel* news_;
    QLineEdit* search_;
    QTreeView* tree_;
};

}  // namespace assay::gui
