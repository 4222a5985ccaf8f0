// The claims on one figure as a table: what the paper says, what came out, and why.
#pragma once

#include <QAbstractTableModel>

#include "gui/data/figure.hpp"

namespace assay::gui {

class ClaimsModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { verdict, paper, ours, says, columns };
    static constexpr int claim_role = Qt::UserRole;       ///< its id, of whole rows
    static constexpr int reason_role = Qt::UserRole + 1;  ///< what was compared, and why it fails

    explicit ClaimsModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    void set(std::vector<JudgedClaim> claims);
    const std::vector<JudgedClaim>& claims() const { return claims_; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation, int role = Qt::DisplayRole) const override;

  private:
    std::vector<JudgedClaim> claims_;
};

}  // namespace assay::gui
