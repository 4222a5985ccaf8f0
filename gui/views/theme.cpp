#include "gui/views/theme.hpp"

#include <QApplication>

#include "gui/plot/painter.hpp"

namespace assay::gui {
namespace {

using namespace report;

QColor colour(Ink ink, Theme theme) { return gui::colour({ink}, theme); }

}  // namespace

QPalette palette_of(Theme theme) {
    const bool dark = theme == Theme::dark;
    const QColor text = colour(Ink::text, theme), page = colour(Ink::background, theme);
    const QColor muted = colour(Ink::muted, theme), grid = colour(Ink::grid, theme);
    const QColor window = dark ? QColor("#1b1f25") : QColor("#f4f6f8");
    QPalette palette;
    palette.setColor(QPalette::Window, window);
    palette.setColor(QPalette::Base, page);
    palette.setColor(QPalette::AlternateBase, dark ? QColor("#1a1e23") : QColor("#f8fafb"));
    palette.setColor(QPalette::Button, dark ? QColor("#262b32") : QColor("#e9edf1"));
    palette.setColor(QPalette::Mid, grid);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText,
                            QPalette::ToolTipText, QPalette::BrightText})
        palette.setColor(role, text);
    palette.setColor(QPalette::ToolTipBase, window);
    palette.setColor(QPalette::PlaceholderText, muted);
    palette.setColor(QPalette::Highlight, dark ? QColor("#1d5f8f") : QColor("#0b5c91"));
    palette.setColor(QPalette::HighlightedText, Qt::white);
    palette.setColor(QPalette::Link, colour(Ink::variant, theme));
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, muted);
    return palette;
}

void apply(Theme theme) {
    QPalette palette = palette_of(theme);
    QApplication::setPalette(palette);
    // The outline of a box is darker than the window: on a dark one only what is inside shows.
    if (theme == Theme::dark) palette.setColor(QPalette::Base, QColor("#454d58"));
    QApplication::setPalette(palette, "QCheckBox");
}

// Qt 6.5 has a property for it; before, the palette of the desktop tells.
Theme preferred_theme() {
    const QPalette desktop = QGuiApplication::palette();
    return desktop.color(QPalette::Window).lightness() <
                   desktop.color(QPalette::WindowText).lightness()
               ? Theme::dark
               : Theme::light;
}

}  // namespace assay::gui
