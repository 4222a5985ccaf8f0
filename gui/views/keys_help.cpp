#include "gui/views/keys_help.hpp"

#include <QMessageBox>
#include <QString>

namespace assay::gui {
namespace {

struct Key {
    const char *keys, *does;
};
constexpr Key keys[] = {{"1", "overview: does it hold?"},
                        {"2", "the figure looked at last"},
                        {"3", "the last two sessions against each other"},
                        {"4", "its newest sample in time"},
                        {"5", "its history"},
                        {"6", "run it"},
                        {"7", "the machine"},
                        {"/", "search"},
                        {"Ctrl+L", "type a view to go there"},
                        {"Enter", "open"},
                        {"Backspace", "back"},
                        {"Ctrl+C", "copy the value"},
                        {"Ctrl+Shift+C", "copy the row's name"},
                        {"Ctrl+Alt+C", "copy the command"},
                        {"Alt+letter", "the button or field with that letter underlined"},
                        {"W A S D", "zoom and pan along x, with Shift along y; F fits"},
                        {". ,", "next and previous mark; arrows move the cursor"},
                        {"M", "mark; two marks measure, Esc clears"},
                        {"Ctrl+F, R", "only some rows"},
                        {"Ctrl+Z, Ctrl+Shift+Z", "undo and redo zooms and filters"},
                        {"E", "export: SVG, PNG or CSV"},
                        {"T", "light or dark"},
                        {"?", "this"}};

}  // namespace

void show_keys(QWidget* parent) {
    QString rows;
    for (const Key& key : keys)
        rows += QStringLiteral("<tr><td><b>%1</b>&nbsp;&nbsp;</td><td>%2</td></tr>")
                    .arg(QString::fromLatin1(key.keys), QString::fromLatin1(key.does));
    auto* box = new QMessageBox(QMessageBox::NoIcon, QStringLiteral("Keys"),
                                QStringLiteral("<table>") + rows + QStringLiteral("</table>"),
                                QMessageBox::Ok, parent);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
}

}  // namespace assay::gui
