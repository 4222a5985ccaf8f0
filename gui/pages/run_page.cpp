// What would it take, how far is it?
#include <fmt/format.h>

#include <QClipboard>
#include <QGuiApplication>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QTableView>
#include <QTimer>
#include <QVBoxLayout>
#include <optional>

#include "gui/data/assay_program.hpp"
#include "gui/data/kept_state.hpp"
#include "gui/models/run_tables.hpp"
#include "gui/models/words.hpp"
#include "gui/pages/page.hpp"
#include "gui/pages/run_form.hpp"
#include "gui/views/table.hpp"
#include "suite/base/error.hpp"
#include "suite/base/quantity_text.hpp"

namespace assay::gui {
namespace {

constexpr int typing_pause_ms = 300;  // before the plan is asked for
constexpr int look_every_ms = 500;    // whether a run that was started here still lives

class RunPage : public Page {
  public:
    explicit RunPage(const PageContext& context)
        : Page(context),
          plan_(make_plan_model(this)),
          runs_(make_runs_model(this)),
          form_(new RunForm(context.registry)),
          command_(make_words()),
          summary_(make_words()),
          details_(make_words()),
          start_(new QPushButton(QStringLiteral("&Start"))),
          stop_(new QPushButton(QStringLiteral("S&top"))),
          runs_table_(make_table(runs_, QStringLiteral("Runs"), 5)) {
        command_->setFont(QFont(QStringLiteral("DejaVu Sans Mono")));
        command_->setAccessibleName(QStringLiteral("The command"));
        summary_->setAccessibleName(QStringLiteral("What it takes"));
        details_->setAccessibleName(QStringLiteral("The chosen run in words"));
        auto* copy = new QPushButton(QStringLiteral("&Copy"));
        copy->setAccessibleName(QStringLiteral("Copy the command"));
        start_->setAccessibleName(QStringLiteral("Start the run"));
        start_->setToolTip(
            QStringLiteral("It goes on when this window is closed, and can be followed here"));
        stop_->setAccessibleName(QStringLiteral("Stop the chosen run"));
        stop_->setToolTip(
            QStringLiteral("It ends cleanly, as by Ctrl-C; the same command goes on from there"));
        connect(copy, &QPushButton::clicked, this,
                [this] { QGuiApplication::clipboard()->setText(command_->text()); });
        connect(start_, &QPushButton::clicked, this, &RunPage::start);
        connect(stop_, &QPushButton::clicked, this, &RunPage::stop);
        connect(form_, &RunForm::changed, this, &RunPage::show_command);
        connect(runs_table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
                &RunPage::show_run);
        connect(runs_, &QAbstractItemModel::dataChanged, this, &RunPage::show_run);
        connect(runs_, &QAbstractItemModel::modelReset, this, [this] {
            runs_table_->selectRow(0);
            show_run();
        });
        typing_.setSingleShot(true);
        typing_.setInterval(typing_pause_ms);
        connect(&typing_, &QTimer::timeout, this, &RunPage::ask_plan);
        watching_.setInterval(look_every_ms);
        connect(&watching_, &QTimer::timeout, this, &RunPage::watch);

        auto* right = new QWidget;
        auto* column = new QVBoxLayout(right);
        auto* line = new QHBoxLayout;
        line->addWidget(command_, 1);
        line->addWidget(copy);
        line->addWidget(start_);
        column->addLayout(line);
        column->addWidget(summary_);
        column->addWidget(make_table(plan_, QStringLiteral("The plan, sample by sample"), 3), 1);
        auto* above = new QSplitter;
        above->addWidget(form_);
        above->addWidget(right);
        above->setChildrenCollapsible(false);
        above->setSizes({420, 980});
        auto* below = new QWidget;
        auto* runs = new QVBoxLayout(below);
        auto* row = new QHBoxLayout;
        row->addWidget(details_, 1);
        row->addWidget(stop_, 0, Qt::AlignTop);
        runs->addWidget(runs_table_, 1);
        runs->addLayout(row);
        auto* splitter = new QSplitter(Qt::Vertical);
        splitter->addWidget(above);
        splitter->addWidget(below);
        splitter->setChildrenCollapsible(false);
        splitter->setSizes({520, 300});
        auto* layout = new QVBoxLayout(this);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->addWidget(splitter);
        setFocusProxy(form_);
    }

    void refresh() override {
        ask([](store::Store& store) { return read_runs(store); },
            [this](std::vector<Run> runs) {
                const QString chosen = chosen_name(*runs_table_);
                runs_->set(std::move(runs));
                choose_named(*runs_table_, chosen);  // others have come, gone or ended meanwhile
                show_run();
            });
    }
    bool settled() const override { return !typing_.isActive() && !planner_.busy(); }
    QTableView* table() const override { return runs_table_; }
    QString name() const override { return QStringLiteral("runs"); }

  protected:
    void forget() override {
        runs_->set({});
        form_->set_experiments(text(argument()));
        show_command();
    }

  private:
    QStringList arguments() const { return run_arguments(form_->choice(), context().database); }

    void show_command() {
        const bool anything = !form_->choice().experiments.empty();
        planner_.drop();  // its plan is of the command before
        command_->setText(anything ? command_text(arguments()) : QString());
        start_->setEnabled(false);  // until the plan says that it can be run
        plan_->set({});
        summary_->setText(anything ? QStringLiteral("planning …")
                                   : QStringLiteral("Choose an experiment: what it takes and by "
                                                    "which command comes here."));
        if (anything) return typing_.start();
        typing_.stop();
        Q_EMIT settled_now();
    }

    void ask_plan() {
        planner_.ask(arguments() + QStringList{"--dry-run", "--json"}, [this](const Said& said) {
            show_plan(said);
            Q_EMIT settled_now();
        });
    }

    void show_plan(const Said& said) {
        if (!said.ok) return summary_->setText(said.why);
        try {
            RunPlan plan = read_plan(said.out);
            const std::size_t n = plan.samples.size();
            QString words =
                text(fmt::format("{} sample{}, about {}, {} of disk", n, n == 1 ? "" : "s",
                                 duration_text(plan.seconds), bytes_text(plan.bytes)));
            for (const std::string& sentence : plan.left_out)
                words += "\nleft out: " + text(sentence);
            summary_->setText(words);
            start_->setEnabled(n > 0);
            plan_->set(std::move(plan.samples));
        } catch (const std::exception& error) {
            summary_->setText(QString::fromUtf8(error.what()));
        }
    }

    void start() {
        try {
            started_ = start_run(arguments(), state_folder() / "runs");
            start_->setEnabled(false);
            summary_->setText(QStringLiteral("started, process %1; it goes on without this window")
                                  .arg(started_->process));
            watching_.start();
        } catch (const UserError& error) {
            Q_EMIT told(QString::fromUtf8(error.what()));
        }
    }

    // What it stores is read as of any run; here only what keeps it from storing anything.
    void watch() {
        if (started_ && is_alive(started_->process)) return;
        watching_.stop();
        if (started_)
            if (const QString why = complaint_of(*started_); !why.isEmpty()) Q_EMIT told(why);
        started_.reset();
        refresh();
        show_command();
    }

    const Run* chosen() const {
        const int row = runs_table_->currentIndex().row();
        return row >= 0 && row < runs_->rowCount() ? &runs_->rows()[static_cast<std::size_t>(row)]
                                                   : nullptr;
    }

    void show_run() {
        const Run* run = chosen();
        details_->setText(run ? runs_->details(runs_table_->currentIndex().row())
                              : QStringLiteral("No runs are stored here yet."));
        stop_->setEnabled(run && run->runs);
    }

    void stop() {
        const Run* run = chosen();
        if (!run) return;
        try {
            stop_run(context().database, run->session.id);
            Q_EMIT told({});
        } catch (const UserError& error) {
            Q_EMIT told(QString::fromUtf8(error.what()));
        }
    }

    PlanModel* plan_;
    RunsModel* runs_;
    RunForm* form_;
    QLabel *command_, *summary_, *details_;
    QPushButton *start_, *stop_;
    QTableView* runs_table_;
    QTimer typing_, watching_;
    AssayProgram planner_;
    std::optional<StartedRun> started_;
};

}  // namespace

Page* make_run_page(const PageContext& context) { return new RunPage(context); }

}  // namespace assay::gui
