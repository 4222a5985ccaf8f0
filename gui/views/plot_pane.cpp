#include "gui/views/plot_pane.hpp"

#include <QClipboard>
#include <QGuiApplication>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

#include "gui/views/table.hpp"

namespace assay::gui {

PlotPane::PlotPane(const Table& table, QWidget* parent)
    : QWidget(parent),
      details_of_(table.details),
      plot_(new PlotView),
      title_(make_words()),
      source_(make_words()),
      command_(make_words()),
      details_(make_words()),
      table_(make_table(table.model, table.name, table.widest)),
      command_row_(new QWidget) {
    QFont large = font();
    large.setPixelSize(16);
    large.setBold(true);
    title_->setFont(large);
    source_->setForegroundRole(QPalette::PlaceholderText);
    command_->setFont(QFont(QStringLiteral("DejaVu Sans Mono")));
    details_->setAccessibleName(QStringLiteral("The chosen row in words"));
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& now) {
                show_details();
                Q_EMIT chosen(now.row());
            });
    connect(table_, &QTableView::activated, this,
            [this](const QModelIndex& row) { Q_EMIT activated(row.row()); });
    connect(table.model, &QAbstractItemModel::dataChanged, this, &PlotPane::show_details);
    connect(table.model, &QAbstractItemModel::modelReset, this, [this] {
        table_->selectRow(0);
        show_details();
        Q_EMIT chosen(chosen_row());
    });

    auto* copy = new QPushButton(QStringLiteral("Copy"));
    copy->setAccessibleName(QStringLiteral("Copy the command"));
    connect(copy, &QPushButton::clicked, this,
            [this] { QGuiApplication::clipboard()->setText(command_->text()); });
    auto* line = new QHBoxLayout(command_row_);
    line->setContentsMargins(0, 0, 0, 0);
    line->addWidget(command_, 1);
    line->addWidget(copy);

    auto* side = new QWidget;
    column_ = new QVBoxLayout(side);
    column_->addWidget(title_);
    column_->addWidget(source_);
    column_->addWidget(command_row_);
    column_->addWidget(table_, 1);
    column_->addWidget(details_);

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
    setFocusProxy(table_);
}

void PlotPane::set_words(const QString& title, const QString& source, const QString& command) {
    title_->setText(title);
    source_->setText(source);
    command_->setText(command);
    command_row_->setVisible(!command.isEmpty());
}

void PlotPane::set_plot(std::shared_ptr<const report::Plot> plot) { plot_->set(std::move(plot)); }

void PlotPane::add_below(QWidget* widget) { column_->addWidget(widget); }

QString PlotPane::command() const { return command_->text(); }

int PlotPane::chosen_row() const { return table_->currentIndex().row(); }

void PlotPane::show_details() { details_->setText(details_of_(chosen_row())); }

}  // namespace assay::gui
