#include "gui/views/figure_view.hpp"

#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>
#include <memory>

namespace assay::gui {
namespace {

QLabel* wrapped_label() {
    auto* label = new QLabel;
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    label->setTextFormat(Qt::PlainText);
    return label;
}

}  // namespace

FigureView::FigureView(QWidget* parent)
    : QWidget(parent),
      claims_(new ClaimsModel(this)),
      plot_(new PlotView),
      title_(wrapped_label()),
      source_(wrapped_label()),
      command_(wrapped_label()),
      reason_(wrapped_label()),
      table_(new QTableView) {
    QFont large = title_->font();
    large.setPixelSize(16);
    large.setBold(true);
    title_->setFont(large);
    source_->setForegroundRole(QPalette::PlaceholderText);
    command_->setFont(QFont(QStringLiteral("DejaVu Sans Mono")));

    table_->setModel(claims_);
    table_->setAccessibleName(QStringLiteral("Claims of the paper"));
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setSelectionMode(QAbstractItemView::SingleSelection);
    table_->setAlternatingRowColors(true);
    table_->setShowGrid(false);
    table_->setTabKeyNavigation(false);
    table_->verticalHeader()->hide();
    table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table_->horizontalHeader()->setSectionResizeMode(ClaimsModel::says, QHeaderView::Stretch);
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            &FigureView::show_reason);
    connect(claims_, &QAbstractItemModel::modelReset, this, &FigureView::show_reason);

    auto* copy = new QPushButton(QStringLiteral("Copy"));
    copy->setAccessibleName(QStringLiteral("Copy the command"));
    connect(copy, &QPushButton::clicked, this,
            [this] { QGuiApplication::clipboard()->setText(command_->text()); });
    auto* command_row = new QHBoxLayout;
    command_row->addWidget(command_, 1);
    command_row->addWidget(copy);

    auto* side = new QWidget;
    auto* column = new QVBoxLayout(side);
    column->addWidget(title_);
    column->addWidget(source_);
    column->addLayout(command_row);
    column->addWidget(table_, 1);
    column->addWidget(reason_);

    auto* scroll = new QScrollArea;
    scroll->setWidget(plot_);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setBackgroundRole(QPalette::Base);
    auto* splitter = new QSplitter;
    splitter->addWidget(scroll);
    splitter->addWidget(side);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    splitter->setChildrenCollapsible(false);
    splitter->setSizes({840, 560});
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(splitter);
}

void FigureView::set(FigureContent figure) {
    title_->setText(QString::fromStdString(figure.experiment->id));
    source_->setText(QString::fromStdString(figure.experiment->source));
    source_->setToolTip(QString::fromStdString(figure.experiment->says));
    command_->setText(QString::fromStdString(figure.command));
    plot_->set(std::make_shared<const report::Plot>(std::move(figure.plot)));
    claims_->set(std::move(figure.claims));
    if (!table_->currentIndex().isValid() && claims_->rowCount() > 0) table_->selectRow(0);
}

void FigureView::show_reason() {
    const QModelIndex row = table_->currentIndex();
    reason_->setText(row.isValid() ? row.data(ClaimsModel::claim_role).toString() + ": " +
                                         row.data(ClaimsModel::reason_role).toString()
                                   : QString());
}

}  // namespace assay::gui
