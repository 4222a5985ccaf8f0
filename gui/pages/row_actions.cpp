#include "gui/pages/row_actions.hpp"

#include <QHBoxLayout>
#include <QPushButton>
#include <utility>

#include "gui/models/words.hpp"
#include "gui/views/command_dialog.hpp"
#include "suite/store/store.hpp"

namespace assay::gui {
namespace {

using Command = CommandDialog::Command;

QStringList with_database(QStringList words, const std::filesystem::path& database) {
    if (database != store::default_path()) words << "--db" << text(database.string());
    return words;
}

void add_if(QStringList& words, const QString& option, const QString& value) {
    if (!value.isEmpty()) words << option << value;
}

QString short_id(const std::string& session) { return text(session.substr(0, 8)); }

Command accept_level(const ActedOn& on, const std::filesystem::path& database) {
    return {QStringLiteral("Accept a level"),
            QStringLiteral("From now on nights compare these rows with that session. Open "
                           "regressions of them end."),
            {{QStringLiteral("Suite"), text(on.suite), QStringLiteral("the suite's name"), true},
             {QStringLiteral("Session"), short_id(on.session), QStringLiteral("its newest night")},
             {QStringLiteral("Rows"), text(on.row), QStringLiteral("everything")},
             {QStringLiteral("Why"), {}, QStringLiteral("for those who read it later")}},
            [database](const QStringList& values) {
                QStringList words{"baseline", "accept", values[0]};
                add_if(words, "--session", values[1]);
                add_if(words, "--series", values[2]);
                add_if(words, "--why", values[3]);
                return with_database(words, database);
            }};
}

Command mute(const ActedOn& on, const std::filesystem::path& database) {
    return {
        QStringLiteral("Mute rows"),
        QStringLiteral("These rows are shown, but neither warn nor fail any more."),
        {{QStringLiteral("Rows"), text(on.row), QStringLiteral("a pattern, with * and ?"), true},
         {QStringLiteral("Until"), {}, QStringLiteral("2031-12-31; empty: for good")},
         {QStringLiteral("Why"), {}, QStringLiteral("for those who read it later")}},
        [database](const QStringList& values) {
            QStringList words{"mute", values[0]};
            add_if(words, "--until", values[1]);
            add_if(words, "--why", values[2]);
            return with_database(words, database);
        }};
}

Command annotate(const ActedOn& on, const std::filesystem::path& database) {
    return {QStringLiteral("Write a note"),
            QStringLiteral("The note stays with the session, which is never pruned then."),
            {{QStringLiteral("Session"), short_id(on.session), QStringLiteral("its id"), true},
             {QStringLiteral("Note"), {}, QStringLiteral("new power supply"), true}},
            [database](const QStringList& values) {
                return with_database({"annotate", values[0], values[1]}, database);
            }};
}

}  // namespace

QWidget* make_row_actions(const std::filesystem::path& database, std::function<ActedOn()> chosen,
                          std::function<void(const QString&)> done) {
    auto* bar = new QWidget;
    auto* line = new QHBoxLayout(bar);
    line->setContentsMargins(0, 0, 0, 0);
    const auto add = [&](const char* name, const char* tip, auto make) {
        auto* button = new QPushButton(QString::fromUtf8(name));
        button->setToolTip(QString::fromUtf8(tip));
        button->setAccessibleName(QString::fromUtf8(tip));
        QObject::connect(button, &QPushButton::clicked, bar, [bar, database, chosen, done, make] {
            auto* dialog = new CommandDialog(make(chosen(), database), bar->window());
            QObject::connect(dialog, &CommandDialog::done_now, bar, done);
            dialog->open();
        });
        line->addWidget(button);
    };
    add("&Accept level …", "Compare with this from now on", accept_level);
    add("&Mute …", "Show the row without warning or failing", mute);
    add("&Note …", "Write a note on the session", annotate);
    line->addStretch(1);
    return bar;
}

}  // namespace assay::gui
