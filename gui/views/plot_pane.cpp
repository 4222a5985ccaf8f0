#include "gui/views/plot_pane.hpp"

#include <QCheckBox>
#include <QClipboard>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>
#include <cmath>

#include "gui/views/table.hpp"

namespace assay::gui {
namespace {

constexpr double nearer = 0.7, further = 1 / nearer, step = 0.2;  // by keys

// Ctrl+Z in it is the window's.
class FilterLine : public QLineEdit {
  protected:
    bool event(QEvent* event) override {
        if (event->type() == QEvent::ShortcutOverride) {
            const auto* key = static_cast<QKeyEvent*>(event);
            if (key->key() == Qt::Key_Z && key->modifiers() & Qt::ControlModifier) return false;
        }
        return QLineEdit::event(event);
    }
};

}  // namespace

PlotPane::PlotPane(const Table& table, QWidget* parent)
    : QWidget(parent),
      shown_(table),
      plot_(new PlotView),
      title_(make_words()),
      source_(make_words()),
      command_(make_words()),
      details_(make_words()),
      measured_(make_words()),
      rows_(new RowFilter(table.model, table.matters, this)),
      filter_(new FilterLine),
      only_(new QCheckBox(table.only)),
      table_(make_table(rows_, table.name, table.widest)),
      command_row_(new QWidget) {
    QFont large = font();
    large.setPixelSize(16);
    large.setBold(true);
    title_->setFont(large);
    source_->setForegroundRole(QPalette::PlaceholderText);
    command_->setFont(QFont(QStringLiteral("DejaVu Sans Mono")));
    details_->setAccessibleName(QStringLiteral("The chosen row in words"));
    measured_->setAccessibleName(QStringLiteral("What is measured between two marks"));
    measured_->setMargin(4);
    measured_->hide();
    connect(plot_, &PlotView::measured, this, [this](const QString& words) {
        measured_->setText(words);
        measured_->setVisible(!words.isEmpty());
    });
    connect(plot_, &PlotView::window_changed, this, [this](const report::ViewWindow& before) {
        Seen was = seen();
        was.window = before;
        Q_EMIT seen_changed(was);
    });
    connect(plot_, &PlotView::picked, this, &PlotPane::choose_nearest);
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] {
        show_details();
        Q_EMIT chosen(chosen_row());
    });
    connect(table_, &QTableView::activated, this, [this] { Q_EMIT activated(chosen_row()); });
    connect(table.model, &QAbstractItemModel::dataChanged, this, &PlotPane::show_details);
    connect(rows_, &QAbstractItemModel::modelAboutToBeReset, this,
            [this] { chosen_before_ = chosen_name(*table_); });
    connect(rows_, &QAbstractItemModel::modelReset, this, [this] {
        if (!choose_named(*table_, chosen_before_)) table_->selectRow(0);
        show_details();
        Q_EMIT chosen(chosen_row());
    });

    filter_->setPlaceholderText(QStringLiteral("Only rows with …"));
    filter_->setToolTip(QStringLiteral("Only rows that have these words (Ctrl+F)"));
    filter_->setAccessibleName(QStringLiteral("Only rows with these words"));
    filter_->setClearButtonEnabled(true);
    if (table.only.isEmpty()) only_->hide();
    connect(filter_, &QLineEdit::textChanged, this, &PlotPane::filter);
    connect(only_, &QCheckBox::toggled, this, &PlotPane::filter);

    auto* copy = new QPushButton(QStringLiteral("Copy"));
    copy->setAccessibleName(QStringLiteral("Copy the command"));
    connect(copy, &QPushButton::clicked, this,
            [this] { QGuiApplication::clipboard()->setText(command_->text()); });
    auto* line = new QHBoxLayout(command_row_);
    line->setContentsMargins(0, 0, 0, 0);
    line->addWidget(command_, 1);
    line->addWidget(copy);
    auto* filters = new QHBoxLayout;
    filters->addWidget(filter_, 1);
    filters->addWidget(only_);

    auto* side = new QWidget;
    column_ = new QVBoxLayout(side);
    column_->addWidget(title_);
    column_->addWidget(source_);
    column_->addWidget(command_row_);
    column_->addLayout(filters);
    column_->addWidget(table_, 1);
    column_->addWidget(details_);

    auto* scroll = new QScrollArea;
    scroll->setWidget(plot_);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setBackgroundRole(QPalette::Base);
    scroll->setFocusPolicy(Qt::NoFocus);
    auto* drawn = new QWidget;
    auto* page = new QVBoxLayout(drawn);
    page->setContentsMargins(0, 0, 0, 0);
    page->addWidget(scroll, 1);
    page->addWidget(measured_);
    auto* splitter = new QSplitter;
    splitter->addWidget(drawn);
    splitter->addWidget(side);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    splitter->setChildrenCollapsible(false);
    splitter->setSizes({840, 560});
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(splitter);
    setFocusProxy(table_);
    add_keys();
}

void PlotPane::add_keys() {
    const auto key = [this](const QKeySequence& keys, auto action) {
        auto* shortcut = new QShortcut(keys, this);
        shortcut->setContext(Qt::WidgetWithChildrenShortcut);
        connect(shortcut, &QShortcut::activated, this, action);
    };
    using Axis = PlotView::Axis;
    key(Qt::Key_W, [this] { plot_->zoom(Axis::x, nearer); });
    key(Qt::Key_S, [this] { plot_->zoom(Axis::x, further); });
    key(Qt::Key_A, [this] { plot_->pan(Axis::x, -step); });
    key(Qt::Key_D, [this] { plot_->pan(Axis::x, step); });
    key(Qt::SHIFT | Qt::Key_W, [this] { plot_->zoom(Axis::y, nearer); });
    key(Qt::SHIFT | Qt::Key_S, [this] { plot_->zoom(Axis::y, further); });
    key(Qt::SHIFT | Qt::Key_A, [this] { plot_->pan(Axis::y, -step); });
    key(Qt::SHIFT | Qt::Key_D, [this] { plot_->pan(Axis::y, step); });
    key(Qt::Key_F, [this] { plot_->fit(); });
    key(Qt::Key_M, [this] { plot_->mark(); });
    key(Qt::Key_Escape, [this] { plot_->clear_marks(); });
    key(Qt::Key_Period, [this] { go_by(1); });
    key(Qt::Key_Comma, [this] { go_by(-1); });
    key(QKeySequence::Find, [this] {
        filter_->setFocus(Qt::ShortcutFocusReason);
        filter_->selectAll();
    });
    if (!shown_.only.isEmpty()) key(Qt::Key_R, [this] { only_->toggle(); });
}

void PlotPane::set_words(const QString& title, const QString& source, const QString& command) {
    title_->setText(title);
    source_->setText(source);
    source_->setVisible(!source.isEmpty());
    command_->setText(command);
    command_row_->setVisible(!command.isEmpty());
}

void PlotPane::set_plot(std::shared_ptr<const report::Plot> plot) { plot_->set(std::move(plot)); }

void PlotPane::add_below(QWidget* widget) { column_->addWidget(widget); }

QString PlotPane::command() const { return command_->text(); }

// ---- rows ---------------------------------------------------------------------------------------

int PlotPane::chosen_row() const { return rows_->mapToSource(table_->currentIndex()).row(); }

void PlotPane::choose_row(int row) {
    const QModelIndex there = rows_->mapFromSource(shown_.model->index(row, 0));
    if (!there.isValid()) return;
    table_->selectRow(there.row());
    table_->scrollTo(there, QAbstractItemView::PositionAtCenter);
}

void PlotPane::go_by(int rows) {
    const int next = table_->currentIndex().row() + rows;
    if (next < 0 || next >= rows_->rowCount()) return;
    const int row = rows_->mapToSource(rows_->index(next, 0)).row();
    choose_row(row);
    if (shown_.x) plot_->point_at(shown_.x(row));
}

void PlotPane::choose_nearest(double x, double within) {
    if (!shown_.x) return;
    int nearest = -1;
    for (int shown = 0; shown < rows_->rowCount(); ++shown) {
        const int row = rows_->mapToSource(rows_->index(shown, 0)).row();
        const double distance = std::abs(shown_.x(row) - x);
        if (distance > within) continue;
        within = distance;
        nearest = row;
    }
    if (nearest >= 0) choose_row(nearest);
}

void PlotPane::show_details() { details_->setText(shown_.details(chosen_row())); }

// ---- what one chose to see ----------------------------------------------------------------------

Seen PlotPane::seen() const { return {plot_->window(), filter_->text(), only_->isChecked()}; }

void PlotPane::set_seen(const Seen& seen) {
    const QSignalBlocker no_words(filter_), no_tick(only_);
    filter_->setText(seen.filter);
    only_->setChecked(seen.only_what_matters);
    rows_->look_for(seen.filter);
    rows_->only_what_matters(seen.only_what_matters);
    if (!table_->currentIndex().isValid()) table_->selectRow(0);
    plot_->set_window(seen.window);
    before_filter_ = seen;
}

void PlotPane::filter() {
    rows_->look_for(filter_->text());
    rows_->only_what_matters(only_->isChecked());
    if (!table_->currentIndex().isValid()) table_->selectRow(0);
    Seen before = std::exchange(before_filter_, seen());
    before.window = plot_->window();
    Q_EMIT seen_changed(before);
}

}  // namespace assay::gui
