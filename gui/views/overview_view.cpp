#include "gui/views/overview_view.hpp"

#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QSortFilterProxyModel>
#include <QTreeView>
#include <QVBoxLayout>

#include "gui/views/table.hpp"

namespace assay::gui {

OverviewView::OverviewView(OverviewModel& model, QWidget* parent)
    : QWidget(parent),
      found_(new QSortFilterProxyModel(this)),
      news_(make_words()),
      search_(new QLineEdit),
      tree_(new QTreeView) {
    found_->setSourceModel(&model);
    found_->setRecursiveFilteringEnabled(true);
    found_->setAutoAcceptChildRows(true);
    found_->setFilterCaseSensitivity(Qt::CaseInsensitive);
    found_->setFilterKeyColumn(OverviewModel::title);

    search_->setPlaceholderText(QStringLiteral("Search figures and systems  ( / )"));
    search_->setClearButtonEnabled(true);
    search_->setAccessibleName(QStringLiteral("Search"));
    connect(search_, &QLineEdit::textChanged, this, [this](const QString& text) {
        found_->setFilterFixedString(text);
        unfold();
    });

    tree_->setModel(found_);
    tree_->setAccessibleName(QStringLiteral("Systems and figures"));
    tree_->setAlternatingRowColors(true);
    tree_->setUniformRowHeights(true);
    tree_->setFrameShape(QFrame::NoFrame);
    tree_->setExpandsOnDoubleClick(false);
    add_copying(tree_);
    QHeaderView* header = tree_->header();
    header->setStretchLastSection(false);
    header->setSectionResizeMode(QHeaderView::ResizeToContents);
    header->setSectionResizeMode(OverviewModel::title, QHeaderView::Stretch);
    header->setSectionsMovable(false);
    connect(tree_, &QTreeView::activated, this, &OverviewView::open);
    connect(found_, &QAbstractItemModel::modelReset, this, &OverviewView::unfold);

    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    news_->setAccessibleName(QStringLiteral("New since the last look"));
    news_->hide();
    layout->addWidget(news_);
    layout->addWidget(search_);
    layout->addWidget(tree_, 1);
    setFocusProxy(tree_);
    unfold();
}

void OverviewView::set_news(const QString& news) {
    news_->setText(news);
    news_->setVisible(!news.isEmpty());
}

const QAbstractItemModel& OverviewView::rows() const { return *found_; }

void OverviewView::search() {
    search_->setFocus(Qt::ShortcutFocusReason);
    search_->selectAll();
}

void OverviewView::open(const QModelIndex& row) {
    const QVariant id = row.siblingAtColumn(0).data(OverviewModel::id_role);
    if (id.isValid())
        Q_EMIT opened(id.toString());
    else
        tree_->setExpanded(row.siblingAtColumn(0), !tree_->isExpanded(row.siblingAtColumn(0)));
}

void OverviewView::unfold() { tree_->expandAll(); }

}  // namespace assay::gui
