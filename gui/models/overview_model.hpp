// The overview as a tree: systems, below them their experiments.
#pragma once

#include <QAbstractItemModel>

#include "gui/data/overview.hpp"

namespace assay::gui {

class OverviewModel : public QAbstractItemModel {
    Q_OBJECT
  public:
    enum Column { title, hold, contradicted, undecided, calibrated, open, samples, columns };
    static constexpr int id_role = Qt::UserRole;  ///< an experiment's id, of whole rows

    explicit OverviewModel(QObject* parent = nullptr) : QAbstractItemModel(parent) {}

    /// Rows that stay keep their indices: what is selected and unfolded is not lost.
    void set(Overview overview);
    const Overview& overview() const { return overview_; }
    /// Invalid where there is no such experiment.
    QModelIndex index_of(const QString& experiment) const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation, int role = Qt::DisplayRole) const override;

  private:
    Overview overview_;
};

/// "29 ok, 2 failed"
QString samples_text(const std::map<std::string, long>& samples);

}  // namespace assay::gui
