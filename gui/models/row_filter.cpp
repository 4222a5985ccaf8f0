#include "gui/models/row_filter.hpp"

#include <algorithm>

namespace assay::gui {

RowFilter::RowFilter(QAbstractItemModel* source, Keeps matters, QObject* parent)
    : QSortFilterProxyModel(parent), matters_(std::move(matters)) {
    setSourceModel(source);
}

void RowFilter::look_for(const QString& words) {
    words_ = words.split(' ', Qt::SkipEmptyParts);
    invalidateFilter();
}

void RowFilter::only_what_matters(bool only) {
    only_ = only;
    invalidateFilter();
}

bool RowFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
    if (only_ && matters_ && !matters_(row)) return false;
    return std::all_of(words_.begin(), words_.end(), [&](const QString& word) {
        for (int column = 0; column < sourceModel()->columnCount(parent); ++column)
            if (sourceModel()
                    ->index(row, column, parent)
                    .data()
                    .toString()
                    .contains(word, Qt::CaseInsensitive))
                return true;
        return false;
    });
}

}  // namespace assay::gui
