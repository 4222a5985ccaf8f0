// Some of a table's rows: those that have the words that are looked for, and, if one wants, only
// those that matter.
#pragma once

#include <QSortFilterProxyModel>
#include <functional>

namespace assay::gui {

class RowFilter : public QSortFilterProxyModel {
    Q_OBJECT
  public:
    using Keeps = std::function<bool(int row)>;  ///< row: of the source

    RowFilter(QAbstractItemModel* source, Keeps matters, QObject* parent);
    /// Each of the words must be in some column, in either case of letters.
    void look_for(const QString& words);
    void only_what_matters(bool only);

  protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

  private:
    Keeps matters_;
    QStringList words_;
    bool only_ = false;
};

}  // namespace assay::gui
