#include "gui/views/table.hpp"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLabel>
#include <QTableView>

#include "gui/models/table_model.hpp"

namespace assay::gui {
namespace {

void add_copy(QAbstractItemView* view, const char* name, const QKeySequence& keys,
              std::function<QString()> words) {
    auto* action = new QAction(QString::fromLatin1(name), view);
    action->setShortcut(keys);
    action->setShortcutContext(Qt::WidgetShortcut);
    QObject::connect(action, &QAction::triggered, view, [words = std::move(words)] {
        if (const QString found = words(); !found.isEmpty())
            QGuiApplication::clipboard()->setText(found);
    });
    view->addAction(action);
}

}  // namespace

QTableView* make_table(QAbstractItemModel* model, const QString& name, int widest) {
    auto* table = new QTableView;
    table->setModel(model);
    table->setAccessibleName(name);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setSelectionMode(QAbstractItemView::SingleSelection);
    table->setAlternatingRowColors(true);
    table->setShowGrid(false);
    table->setWordWrap(false);
    table->setTabKeyNavigation(false);
    table->setFrameShape(QFrame::NoFrame);
    table->verticalHeader()->hide();
    table->verticalHeader()->setDefaultSectionSize(24);
    QHeaderView* header = table->horizontalHeader();
    header->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    header->setHighlightSections(false);
    header->setSectionResizeMode(QHeaderView::ResizeToContents);
    header->setSectionResizeMode(widest, QHeaderView::Stretch);
    add_copying(table);
    return table;
}

QString chosen_name(const QAbstractItemView& table) {
    return table.currentIndex().siblingAtColumn(0).data(name_role).toString();
}

bool choose_named(QTableView& table, const QString& name) {
    if (name.isEmpty()) return false;
    if (chosen_name(table) == name) return true;
    for (int row = 0; row < table.model()->rowCount(); ++row)
        if (table.model()->index(row, 0).data(name_role).toString() == name) {
            table.selectRow(row);
            return true;
        }
    return false;
}

void add_copying(QAbstractItemView* view) {
    view->setContextMenuPolicy(Qt::ActionsContextMenu);
    add_copy(view, "Copy value", Qt::CTRL | Qt::Key_C,
             [view] { return view->currentIndex().data().toString(); });
    add_copy(view, "Copy name", Qt::CTRL | Qt::SHIFT | Qt::Key_C, [view] {
        const QVariant name = view->currentIndex().siblingAtColumn(0).data(name_role);
        return name.isValid() ? name.toString() : view->currentIndex().data().toString();
    });
}

void add_command_copying(QAbstractItemView* view, std::function<QString()> command) {
    add_copy(view, "Copy command", Qt::CTRL | Qt::ALT | Qt::Key_C, std::move(command));
}

QLabel* make_words() {
    auto* label = new QLabel;
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    label->setTextFormat(Qt::PlainText);
    return label;
}

}  // namespace assay::gui
