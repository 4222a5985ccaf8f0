#include "gui/views/command_dialog.hpp"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "gui/views/table.hpp"

namespace assay::gui {

CommandDialog::CommandDialog(Command command, QWidget* parent)
    : QDialog(parent),
      command_(std::move(command)),
      shown_(make_words()),
      trouble_(make_words()),
      buttons_(new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel)) {
    setWindowTitle(command_.title);
    setAttribute(Qt::WA_DeleteOnClose);
    QLabel* says = make_words();
    says->setText(command_.says);
    shown_->setFont(QFont(QStringLiteral("DejaVu Sans Mono")));
    shown_->setAccessibleName(QStringLiteral("The command"));
    trouble_->setAccessibleName(QStringLiteral("What went wrong"));
    trouble_->hide();
    auto* form = new QFormLayout;
    for (const CommandField& field : command_.fields) {
        auto* line = new QLineEdit(field.value);
        line->setPlaceholderText(field.hint);
        line->setAccessibleName(field.label);
        form->addRow(field.label, line);
        fields_.push_back(line);
        connect(line, &QLineEdit::textChanged, this, &CommandDialog::show_command);
    }
    buttons_->button(QDialogButtonBox::Ok)->setText(QStringLiteral("Run this command"));
    connect(buttons_, &QDialogButtonBox::accepted, this, &CommandDialog::run);
    connect(buttons_, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* column = new QVBoxLayout(this);
    column->setSpacing(10);
    column->addWidget(says);
    column->addLayout(form);
    column->addWidget(shown_);
    column->addWidget(trouble_);
    column->addWidget(buttons_);
    setMinimumWidth(560);
    show_command();
}

QStringList CommandDialog::values() const {
    QStringList values;
    for (const QLineEdit* line : fields_) values << line->text().trimmed();
    return values;
}

QString CommandDialog::command() const { return command_text(command_.arguments(values())); }

void CommandDialog::show_command() {
    shown_->setText(command());
    bool complete = true;
    for (std::size_t i = 0; i < fields_.size(); ++i)
        complete &= !command_.fields[i].is_needed || !fields_[i]->text().trimmed().isEmpty();
    buttons_->button(QDialogButtonBox::Ok)->setEnabled(complete);
}

void CommandDialog::reject() {
    if (!program_.busy()) QDialog::reject();
}

void CommandDialog::run() {
    buttons_->setEnabled(false);
    program_.ask(command_.arguments(values()), [this](const Said& said) {
        buttons_->setEnabled(true);
        trouble_->setText(said.why);
        trouble_->setVisible(!said.ok);
        if (!said.ok) return;
        Q_EMIT done_now(QString::fromUtf8(said.out).trimmed());
        accept();
    });
}

}  // namespace assay::gui
