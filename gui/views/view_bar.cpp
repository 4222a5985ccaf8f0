#include "gui/views/view_bar.hpp"

#include <QHBoxLayout>
#include <QToolButton>

namespace assay::gui {
namespace {

struct Button {
    View view;
    const char *name, *says;
};
constexpr Button buttons[] = {
    {View::overview, "Overview", "Does it hold? (1)"},
    {View::figure, "Figure", "The figure looked at last (2)"},
    {View::compare, "Compare", "The last two sessions against each other (3)"},
    {View::timeline, "Timeline", "The newest sample of that figure in time (4)"},
    {View::history, "History", "Since when is that figure so, and what changed then? (5)"},
    {View::run, "Run", "What would it take, how far is it? (6)"},
    {View::machine, "Machine", "Is it fit, what differs between two sessions? (7)"}};

bool is_of_a_figure(View view) {
    return view == View::figure || view == View::timeline || view == View::history;
}

QToolButton* make_button(const QString& name, const QString& says) {
    auto* button = new QToolButton;
    button->setText(name);
    button->setToolTip(says);
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::TabFocus);  // a click leaves it where one works
    return button;
}

}  // namespace

ViewBar::ViewBar(QWidget* parent)
    : QWidget(parent), back_(make_button(QStringLiteral("←"), QStringLiteral("Back (Backspace)"))) {
    auto* line = new QHBoxLayout(this);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(2);
    back_->setAccessibleName(QStringLiteral("Back"));
    connect(back_, &QToolButton::clicked, this, &ViewBar::back_wanted);
    line->addWidget(back_);
    for (const Button& one : buttons) {
        QToolButton* button =
            make_button(QString::fromLatin1(one.name), QString::fromLatin1(one.says));
        button->setCheckable(true);
        connect(button, &QToolButton::clicked, this, [this, button, view = one.view] {
            button->toggle();  // the view that is open is down, not the button that was pressed
            Q_EMIT wanted(view);
        });
        views_[one.view] = button;
        line->addWidget(button);
    }
    line->addStretch(1);
    auto* keys = make_button(QStringLiteral("?"), QStringLiteral("The keys (?)"));
    keys->setAccessibleName(QStringLiteral("Keys"));
    connect(keys, &QToolButton::clicked, this, &ViewBar::keys_wanted);
    line->addWidget(keys);
}

void ViewBar::show_place(View open, bool can_go_back, bool has_figure) {
    back_->setEnabled(can_go_back);
    for (const auto& [view, button] : views_) {
        button->setChecked(view == open);
        button->setEnabled(has_figure || view == open || !is_of_a_figure(view));
    }
}

}  // namespace assay::gui
