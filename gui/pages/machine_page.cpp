// Is it fit, what differs between two sessions?
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

#include "gui/data/assay_program.hpp"
#include "gui/data/counted.hpp"
#include "gui/models/machine_tables.hpp"
#include "gui/models/words.hpp"
#include "gui/pages/page.hpp"
#include "gui/views/table.hpp"
#include "suite/base/error.hpp"

namespace assay::gui {
namespace {

/// The content, and what sessions there are to choose from.
struct Shown {
    MachineContent content;
    std::vector<store::Session> sessions;
};

class MachinePage : public Page {
  public:
    explicit MachinePage(const PageContext& context)
        : Page(context),
          findings_(make_findings_model(this)),
          facts_(make_facts_model(this)),
          devices_(make_devices_model(this)),
          title_(make_words()),
          source_(make_words()),
          fitness_(make_words()),
          no_readings_(make_words()),
          now_(new QWidget),
          sessions_(new QComboBox),
          facts_table_(make_table(facts_, QStringLiteral("What the session knows"), 2)),
          devices_table_(make_table(devices_, QStringLiteral("Hardware readings"), 6)) {
        make_heading(title_);
        QLabel* const fit = make_words();
        fit->setText(QStringLiteral("Is this machine fit?"));
        make_heading(fit);
        source_->setForegroundRole(QPalette::PlaceholderText);
        sessions_->setAccessibleName(QStringLiteral("Session"));
        sessions_->setToolTip(QStringLiteral("Another session"));
        sessions_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
        connect(sessions_, &QComboBox::activated, this, [this](int at) {
            Q_EMIT wanted({View::machine, sessions_->itemData(at).toString().toStdString()});
        });
        auto* again = new QPushButton(QStringLiteral("&Look again"));
        again->setAccessibleName(QStringLiteral("Look again whether this machine is fit"));
        connect(again, &QPushButton::clicked, this, &MachinePage::examine);

        auto* left_column = new QVBoxLayout(now_);
        auto* line = new QHBoxLayout;
        line->addWidget(fit, 1);
        line->addWidget(again);
        left_column->addLayout(line);
        left_column->addWidget(fitness_);
        QTableView* const found =
            make_table(findings_, QStringLiteral("What assay doctor finds"), 2);
        left_column->addWidget(found, 1);
        QLabel* const words = make_words();
        words->setAccessibleName(QStringLiteral("The chosen finding in words"));
        left_column->addWidget(words);
        connect(found->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
                [this, words](const QModelIndex& now) {
                    words->setText(findings_->details(now.row()));
                });
        auto* right = new QWidget;
        auto* right_column = new QVBoxLayout(right);
        auto* head = new QHBoxLayout;
        head->addWidget(title_, 1);
        head->addWidget(sessions_);
        right_column->addLayout(head);
        right_column->addWidget(source_);
        right_column->addWidget(facts_table_, 3);
        QLabel* const readings = make_words();
        readings->setText(QStringLiteral("Hardware readings of its samples"));
        make_heading(readings);
        right_column->addWidget(readings);
        right_column->addWidget(no_readings_);
        right_column->addWidget(devices_table_, 1);
        auto* splitter = new QSplitter;
        splitter->addWidget(now_);
        splitter->addWidget(right);
        splitter->setChildrenCollapsible(false);
        splitter->setSizes({540, 860});
        auto* layout = new QVBoxLayout(this);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->addWidget(splitter);
        setFocusProxy(facts_table_);
    }

    void refresh() override {
        ask(
            [session = argument()](store::Store& store) {
                return Shown{read_machine(store, session), store.sessions()};
            },
            [this](Shown shown) { show(shown); });
    }
    bool settled() const override { return !doctor_.busy(); }
    QTableView* table() const override { return facts_table_; }
    QString name() const override { return QStringLiteral("machine"); }

  protected:
    void forget() override {
        title_->setText(QStringLiteral("No session yet"));
        source_->setText(QStringLiteral(
            "nothing is stored here yet: `assay run lazarus/fig10b` takes a moment, and key 6 runs "
            "it from here"));
        facts_->set({});
        devices_->set({});
        no_readings_->hide();
        sessions_->clear();
        sessions_->setEnabled(false);
        now_->setVisible(argument().empty());  // of a session asked for, only what is stored
        if (argument().empty()) examine();
    }

  private:
    static void make_heading(QLabel* label) {
        QFont large = label->font();
        large.setPixelSize(16);
        large.setBold(true);
        label->setFont(large);
    }

    void examine() {
        fitness_->setText(QStringLiteral("looking …"));
        doctor_.ask(
            doctor_arguments(), [this](const Said& said) { show_findings(said); },
            doctor_environment(context().database));
    }

    // It ends with 1 where something keeps everything from running, and says so all the same.
    void show_findings(const Said& said) {
        try {
            findings_->set(read_findings(said.out));
            long warnings = 0, failures = 0;
            for (const Finding& finding : findings_->rows()) {
                warnings += finding.level == "warn";
                failures += finding.level == "fail";
            }
            fitness_->setText(
                failures > 0 ? QStringLiteral("✗ no: nothing can run, for %1")
                                   .arg(counted(failures, "reason"))
                : warnings > 0 ? QStringLiteral("! with %1: something is missing, or will disturb")
                                     .arg(counted(warnings, "warning"))
                               : QStringLiteral("✓ yes"));
        } catch (const UserError& error) {
            fitness_->setText(said.why.isEmpty() ? QString::fromUtf8(error.what()) : said.why);
        }
        Q_EMIT settled_now();
    }

    void show(const Shown& shown) {
        const MachineContent& content = shown.content;
        if (!content.session) return;
        const auto of = [](const store::Session& session) {
            return text(session.id.substr(0, 8) + " of " + session.started.substr(0, 10) + " " +
                        session.started.substr(11, 5));
        };
        title_->setText(QStringLiteral("Session ") + of(*content.session));
        QStringList beside;
        if (content.before)
            beside << QStringLiteral("before, same machine: ") + of(*content.before);
        else
            beside << QStringLiteral("no session before it on this machine");
        if (content.elsewhere)
            beside << QStringLiteral("another machine: ") + of(*content.elsewhere);
        else
            beside << QStringLiteral("no session of another machine");
        source_->setText(beside.join(QStringLiteral(";  ")));
        facts_->set(content.facts);
        facts_table_->setColumnHidden(3, !content.before);
        facts_table_->setColumnHidden(4, !content.elsewhere);
        devices_->set(content.hardware);
        no_readings_->setText(QStringLiteral(
            "none: only measured and emulated samples are watched, and not on every machine"));
        no_readings_->setVisible(content.hardware.empty());
        devices_table_->setVisible(!content.hardware.empty());
        if (sessions_->count() == static_cast<int>(shown.sessions.size()) &&
            sessions_->currentData().toString() == text(content.session->id))
            return;
        const QSignalBlocker quiet(sessions_);
        sessions_->clear();
        for (const store::Session& session : shown.sessions) {
            sessions_->addItem(of(session), text(session.id));
            if (session.id == content.session->id)
                sessions_->setCurrentIndex(sessions_->count() - 1);
        }
        sessions_->setEnabled(true);
    }

    FindingsModel* findings_;
    FactsModel* facts_;
    DevicesModel* devices_;
    QLabel *title_, *source_, *fitness_, *no_readings_;
    QWidget* now_;
    QComboBox* sessions_;
    QTableView *facts_table_, *devices_table_;
    AssayProgram doctor_;
};

}  // namespace

Page* make_machine_page(const PageContext& context) { return new MachinePage(context); }

}  // namespace assay::gui
