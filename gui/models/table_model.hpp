// A table of plain values: rows of one kind, columns as functions of a row.
#pragma once

#include <QAbstractTableModel>
#include <QString>
#include <QVariant>
#include <functional>
#include <utility>
#include <vector>

namespace assay::gui {

/// What a row is called, of any of its cells.
constexpr int name_role = Qt::UserRole;

template <class Row>
struct Column {
    QString name;
    std::function<QVariant(const Row&)> shown;
    bool is_number = false;  ///< stands to the right
    QString says = {};       ///< what the column means
};

template <class Row>
class TableModel : public QAbstractTableModel {
  public:
    using Columns = std::vector<Column<Row>>;
    using Words = std::function<QString(const Row&)>;

    /// `details`: words on a whole row, for a line below the table and for those who point at it;
    /// the first line is what the row is called.
    TableModel(Columns columns, Words details, QObject* parent)
        : QAbstractTableModel(parent), columns_(std::move(columns)), details_(std::move(details)) {}

    void set(std::vector<Row> rows) {
        if (rows.size() == rows_.size() && !rows.empty()) {  // what is selected stays
            rows_ = std::move(rows);
            Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
            return;
        }
        beginResetModel();
        rows_ = std::move(rows);
        endResetModel();
    }
    const std::vector<Row>& rows() const { return rows_; }
    QString details(int row) const {
        return row >= 0 && row < rowCount() ? details_(rows_[static_cast<std::size_t>(row)])
                                            : QString();
    }

    int rowCount(const QModelIndex& parent = {}) const override {
        return parent.isValid() ? 0 : static_cast<int>(rows_.size());
    }
    int columnCount(const QModelIndex& parent = {}) const override {
        return parent.isValid() ? 0 : static_cast<int>(columns_.size());
    }
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override {
        if (!index.isValid()) return {};
        const auto& column = columns_[static_cast<std::size_t>(index.column())];
        if (role == Qt::DisplayRole)
            return column.shown(rows_[static_cast<std::size_t>(index.row())]);
        if (role == Qt::ToolTipRole) return details(index.row());
        if (role == name_role) return details(index.row()).section('\n', 0, 0);
        if (role == Qt::TextAlignmentRole)
            return int((column.is_number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
        return {};
    }
    QVariant headerData(int section, Qt::Orientation orientation,
                        int role = Qt::DisplayRole) const override {
        if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
        const auto& column = columns_[static_cast<std::size_t>(section)];
        if (role == Qt::DisplayRole) return column.name;
        if (role == Qt::ToolTipRole && !column.says.isEmpty()) return column.says;
        return {};
    }

  private:
    Columns columns_;
    Words details_;
    std::vector<Row> rows_;
};

}  // namespace assay::gui
