#include "gui/views/main_window.hpp"

#include <fmt/format.h>

#include <QApplication>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QShortcut>
#include <QStackedWidget>
#include <QTableView>
#include <QUndoStack>
#include <QVBoxLayout>

#include "gui/data/counted.hpp"
#include "gui/data/kept_state.hpp"
#include "gui/data/overview.hpp"
#include "gui/models/words.hpp"
#include "gui/views/export.hpp"
#include "gui/views/keys_help.hpp"
#include "gui/views/theme.hpp"
#include "suite/base/error.hpp"

namespace assay::gui {
namespace {

// Of questions to the reader, and of what is done here.
const QString newest_topic = QStringLiteral("newest sample"), here = QStringLiteral("here");

QString running_text(const std::vector<RunningSession>& running) {
    if (running.empty()) return {};
    const RunningSession& first = running.front();
    QString text = QStringLiteral("running: %1 of %2 samples").arg(first.done).arg(first.planned);
    if (running.size() > 1)
        text += QStringLiteral(", and ") + counted(qlonglong(running.size()) - 1, "more run");
    return text;
}

QString regressions_text(const Overview& overview) {
    if (overview.candidates + overview.confirmed == 0) return {};
    return QStringLiteral("regressions: %1 confirmed, %2 to confirm")
        .arg(overview.confirmed)
        .arg(overview.candidates);
}

}  // namespace

MainWindow::MainWindow(std::shared_ptr<const Registry> registry, std::filesystem::path database)
    : registry_(std::move(registry)),
      database_(std::move(database)),
      overview_model_(new OverviewModel(this)),
      overview_(new OverviewView(*overview_model_)),
      views_(new QStackedWidget),
      ways_(new ViewBar),
      headline_(new QLabel(QStringLiteral("reading …"))),
      running_(new QLabel),
      notice_(new QLabel),
      address_(new QLineEdit),
      steps_(new QUndoStack(this)),
      reader_(database_) {
    setWindowTitle(QStringLiteral("Assay: ") + text(database_.filename().string()));
    add_pages();
    QFont bold = headline_->font();
    bold.setBold(true);
    headline_->setFont(bold);
    headline_->setAccessibleName(QStringLiteral("All claims"));
    headline_->setWordWrap(true);
    notice_->setWordWrap(true);
    notice_->setTextFormat(Qt::PlainText);
    notice_->setAccessibleName(QStringLiteral("Notice"));
    notice_->setAutoFillBackground(true);
    notice_->setBackgroundRole(QPalette::Highlight);
    notice_->setForegroundRole(QPalette::HighlightedText);
    notice_->setMargin(6);
    notice_->hide();
    address_->setAccessibleName(QStringLiteral("View"));
    address_->setToolTip(QStringLiteral("Where this is; type another view to go there (Ctrl+L)"));
    address_->setMinimumWidth(200);
    address_->setMaximumWidth(420);

    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    auto* line = new QHBoxLayout;
    line->addWidget(headline_, 1);
    line->addWidget(running_);
    auto* place = new QHBoxLayout;
    place->addWidget(ways_);
    place->addWidget(address_, 1);
    column->addLayout(line);
    column->addLayout(place);
    column->addWidget(notice_);
    column->addWidget(views_, 1);
    setCentralWidget(page);
    resize(1440, 900);

    connect(overview_, &OverviewView::opened, this, [this](const QString& experiment) {
        go({View::figure, experiment.toStdString()});
    });
    connect(ways_, &ViewBar::wanted, this, &MainWindow::go_to);
    connect(ways_, &ViewBar::back_wanted, this, &MainWindow::back);
    connect(ways_, &ViewBar::keys_wanted, this, &MainWindow::help);
    connect(address_, &QLineEdit::returnPressed, this, &MainWindow::go_where_typed);
    connect(&reader_, &Reader::changed, this, &MainWindow::refresh);
    connect(&reader_, &Reader::became_idle, this, [this] {
        if (settled()) Q_EMIT settled_now();
    });
    connect(&reader_, &Reader::trouble, this, &MainWindow::tell);
    add_keys();
    show_location();
}

QString MainWindow::notice() const {
    for (const auto& [topic, words] : notices_)
        if (!words.isEmpty()) return words;
    return {};
}

void MainWindow::tell(const QString& topic, const QString& notice) {
    notices_[topic] = notice;
    notice_->setText(this->notice());
    notice_->setVisible(!notice_->text().isEmpty());
}

void MainWindow::add_pages() {
    const PageContext context{reader_, registry_, database_};
    pages_ = {
        {View::figure, make_figure_page(context)},     {View::compare, make_compare_page(context)},
        {View::timeline, make_timeline_page(context)}, {View::history, make_history_page(context)},
        {View::run, make_run_page(context)},           {View::machine, make_machine_page(context)}};
    views_->addWidget(overview_);
    for (const auto& [view, page] : pages_) {
        views_->addWidget(page);
        connect(page, &Page::wanted, this, &MainWindow::go);
        connect(page, &Page::told, this, [this](const QString& words) { tell(here, words); });
        connect(page, &Page::looked_at, this, [this](const std::string& experiment) {
            experiment_ = experiment;
            show_ways();
        });
        connect(page, &Page::settled_now, this, [this] {
            if (settled()) Q_EMIT settled_now();
        });
        PlotPane* pane = page->pane();
        if (!pane) continue;
        connect(pane, &PlotPane::seen_changed, this, [this, pane](const Seen& before) {
            if (pane != open_pane()) return;
            const Seen& now = seen_[to_string(location_)] = pane->seen();
            steps_->push(new SeenCommand(
                location_, before, now,
                [this](const Location& place, const Seen& seen) { show_seen(place, seen); }));
        });
    }
}

bool MainWindow::settled() const {
    return reader_.idle() && (!open_page() || open_page()->settled());
}

void MainWindow::add_keys() {
    const auto key = [this](const QKeySequence& keys, auto action) {
        connect(new QShortcut(keys, this), &QShortcut::activated, this, action);
    };
    for (const auto& [digit, view] : {std::pair(Qt::Key_1, View::overview),
                                      {Qt::Key_2, View::figure},
                                      {Qt::Key_3, View::compare},
                                      {Qt::Key_4, View::timeline},
                                      {Qt::Key_5, View::history},
                                      {Qt::Key_6, View::run},
                                      {Qt::Key_7, View::machine}})
        key(digit, [this, view = view] { go_to(view); });
    key(Qt::Key_T, [this] {
        set_theme(theme_ == report::Theme::dark ? report::Theme::light : report::Theme::dark);
    });
    key(Qt::Key_Slash, [this] {
        go({View::overview, {}});
        overview_->search();
    });
    key(Qt::CTRL | Qt::Key_L, [this] {
        address_->setFocus(Qt::ShortcutFocusReason);
        address_->selectAll();
    });
    key(QKeySequence::Back, [this] { back(); });
    key(Qt::Key_Backspace, [this] { back(); });
    key(QKeySequence::Undo, [this] { steps_->undo(); });
    key(Qt::CTRL | Qt::SHIFT | Qt::Key_Z, [this] { steps_->redo(); });
    key(Qt::Key_E, [this] { export_view(); });
    key(Qt::Key_Question, [this] { help(); });
    key(QKeySequence::Quit, [this] { close(); });
}

// ---- where one is -------------------------------------------------------------------------------

void MainWindow::go(const Location& location) {
    if (location == location_) return;
    keep_seen();
    before_.push_back(location_);
    location_ = location;
    show_location();
}

void MainWindow::go_to(View view) {
    switch (view) {
        case View::figure:
        case View::history:
            if (!experiment_.empty()) go({view, experiment_});
            break;
        case View::compare:
            go({view, "latest~1,latest"});
            break;
        case View::timeline:
            go_to_newest_sample();
            break;
        case View::run:
            go({view, experiment_});
            break;
        case View::overview:
        case View::machine:
            go({view, {}});
    }
}

void MainWindow::back() {
    if (before_.empty()) return;
    keep_seen();
    location_ = before_.back();
    before_.pop_back();
    show_location();
}

void MainWindow::go_where_typed() {
    try {
        go(parse_location(address_->text().trimmed().toStdString()));
    } catch (const UserError& error) {
        tell(here, QString::fromUtf8(error.what()));
    }
}

void MainWindow::go_to_newest_sample() {
    if (experiment_.empty()) return;
    reader_.ask(
        newest_topic,
        [id = experiment_](store::Store& store) {
            const auto samples = store.newest_samples(id);
            if (samples.empty())
                throw UserError(
                    fmt::format("there is no sample of {} yet; `assay run {}` makes "
                                "some",
                                id, id));
            return samples.front().id;
        },
        [this](const std::string& sample) {
            go({View::timeline, sample});
        });
}

Page* MainWindow::open_page() const {
    const auto page = pages_.find(location_.view);
    return page == pages_.end() ? nullptr : page->second;
}

PlotPane* MainWindow::open_pane() const { return open_page() ? open_page()->pane() : nullptr; }

void MainWindow::show_location() {
    QWidget* shown = open_page() ? static_cast<QWidget*>(open_page()) : overview_;
    views_->setCurrentWidget(shown);
    shown->setFocus();
    address_->setText(text(to_string(location_)));
    address_->setCursorPosition(0);
    if (registry_->experiment(location_.argument)) experiment_ = location_.argument;
    show_ways();
    forget_view();
    refresh();
}

void MainWindow::keep_seen() {
    if (open_pane()) seen_[to_string(location_)] = open_pane()->seen();
}

void MainWindow::show_ways() {
    ways_->show_place(location_.view, !before_.empty(), !experiment_.empty());
}

// What was shown before is not of this place, nor what was wrong there.
void MainWindow::forget_view() {
    for (const QString& topic : {view_topic, newest_topic, here}) {
        reader_.drop(topic);
        tell(topic, {});
    }
    if (Page* page = open_page()) page->open(location_.argument);
    if (open_pane()) open_pane()->set_seen(seen_[to_string(location_)]);
}

void MainWindow::set_theme(report::Theme theme) {
    theme_ = theme;
    apply(theme);
    for (const auto& [view, page] : pages_) page->set_theme(theme);
}

// What one undoes is where one did it.
void MainWindow::show_seen(const Location& place, const Seen& seen) {
    seen_[to_string(place)] = seen;
    if (place != location_)
        go(place);
    else if (open_pane())
        open_pane()->set_seen(seen);
}

// ---- what is shown ------------------------------------------------------------------------------

void MainWindow::refresh() {
    read_overview();  // the line above every view is made of it
    if (Page* page = open_page()) page->refresh();
}

void MainWindow::read_overview() {
    reader_.ask(
        QStringLiteral("overview"),
        [registry = registry_, totals = totals_](store::Store& store) {
            return gui::read_overview(*registry, store, *totals);
        },
        [this](Overview overview) {
            headline_->setText(text(overview.headline));
            const QString runs = running_text(overview.running);
            const QString worse = regressions_text(overview);
            running_->setText(runs.isEmpty() || worse.isEmpty() ? runs + worse
                                                                : worse + "   " + runs);
            overview_model_->set(std::move(overview));
            overview_read_ = true;
            show_news();
        });
}

void MainWindow::export_view() {
    const QString name = open_page() ? open_page()->name() : QStringLiteral("overview");
    const report::Plot* plot = open_pane() ? open_pane()->plot() : nullptr;
    const QString kinds = plot ? QStringLiteral("Picture (*.svg *.png);;Table (*.csv)")
                               : QStringLiteral("Table (*.csv)");
    const QString file = QFileDialog::getSaveFileName(
        this, QStringLiteral("Export what is shown"),
        (name.isEmpty() ? QStringLiteral("assay") : name) + (plot ? ".svg" : ".csv"), kinds);
    if (file.isEmpty()) return;
    const QAbstractItemModel& rows =
        open_page() ? *open_page()->table()->model() : overview_->rows();
    if (!(file.endsWith(".csv") ? save_table(rows, file) : plot && save_picture(*plot, file)))
        tell(here, QStringLiteral("%1 could not be written: a name ends in .svg, .png or .csv, "
                                  "and its folder must exist")
                       .arg(file));
}

// ---- what is kept between two starts ------------------------------------------------------------

void MainWindow::keep_state() {
    const KeptState state = read_state(database_);
    keeps_state_ = true;
    last_look_ = state.look;
    if (!state.geometry.isEmpty()) restoreGeometry(state.geometry);
    if (!state.theme.isEmpty())
        set_theme(state.theme == "dark" ? report::Theme::dark : report::Theme::light);
    try {
        if (!state.view.isEmpty()) go(parse_location(state.view.toStdString()));
    } catch (const UserError&) {  // of a program that had another view
    }
}

void MainWindow::show_news() {
    if (!last_look_) return;
    const QStringList news = news_since(*last_look_, overview_model_->overview());
    const QString since =
        QString(last_look_->at).left(16).replace('T', ' ') + QStringLiteral(" UTC");
    overview_->set_news(
        news.isEmpty()
            ? QStringLiteral("Nothing new since the last look, ") + since
            : QStringLiteral("New since %1: %2").arg(since, news.join(QStringLiteral("; "))));
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (keeps_state_) {
        KeptState state{
            saveGeometry(), text(to_string(location_)),
            theme_ == report::Theme::dark ? QStringLiteral("dark") : QStringLiteral("light"),
            last_look_};
        if (overview_read_)
            state.look = look_at(overview_model_->overview(), text(store::now_utc()));
        write_state(database_, state);
    }
    QMainWindow::closeEvent(event);
}

void MainWindow::help() { show_keys(this); }

}  // namespace assay::gui
