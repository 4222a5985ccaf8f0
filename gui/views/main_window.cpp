#include "gui/views/main_window.hpp"

#include <fmt/format.h>

#include <QApplication>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPainter>
#include <QSaveFile>
#include <QShortcut>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "gui/data/overview.hpp"
#include "gui/models/words.hpp"
#include "gui/plot/painter.hpp"
#include "gui/plot/ratio_plot.hpp"
#include "gui/views/theme.hpp"
#include "suite/base/encoding.hpp"
#include "suite/base/error.hpp"
#include "suite/report/figures/svg_writer.hpp"

namespace assay::gui {
namespace {

// Of questions to the reader, and of what is done here.
const QString view_topic = QStringLiteral("view"), newest_topic = QStringLiteral("newest sample"),
              here = QStringLiteral("here");
constexpr std::size_t painted_width = 1440;  // pixels, for which long curves are thinned out

QString running_text(const std::vector<RunningSession>& running) {
    if (running.empty()) return {};
    const RunningSession& first = running.front();
    QString text = QStringLiteral("running: %1 of %2 samples").arg(first.done).arg(first.planned);
    if (running.size() > 1) text += QStringLiteral(", and %1 more runs").arg(running.size() - 1);
    return text;
}

QString regressions_text(const Overview& overview) {
    if (overview.candidates + overview.confirmed == 0) return {};
    return QStringLiteral("regressions: %1 confirmed, %2 to confirm")
        .arg(overview.confirmed)
        .arg(overview.candidates);
}

template <class Row>
PlotPane* pane_of(TableModel<Row>* model, const QString& name, int widest) {
    return new PlotPane(
        {.model = model, .name = name, .widest = widest, .details = [model](int row) {
             return model->details(row);
         }});
}

bool save_picture(const report::Plot& plot, const QString& file) {
    if (!file.endsWith(".png")) {
        QSaveFile out(file);
        const QByteArray svg = QByteArray::fromStdString(report::to_svg(plot));
        return out.open(QIODevice::WriteOnly) && out.write(svg) == svg.size() && out.commit();
    }
    constexpr double scale = 2;
    QImage picture(QSizeF(plot.width() * scale, plot.height() * scale).toSize(),
                   QImage::Format_RGB32);
    QPainter painter(&picture);
    painter.scale(scale, scale);
    paint(painter, plot, report::Theme::light);
    painter.end();
    return picture.save(file);
}

}  // namespace

MainWindow::MainWindow(std::shared_ptr<const Registry> registry, std::filesystem::path database)
    : registry_(std::move(registry)),
      database_(std::move(database)),
      overview_model_(new OverviewModel(this)),
      claims_(make_claims_model(this)),
      rows_(make_rows_model(this)),
      marks_(make_marks_model(this)),
      trends_(make_trends_model(this)),
      overview_(new OverviewView(*overview_model_)),
      figure_(pane_of(claims_, QStringLiteral("Claims of the paper"), 3)),
      compare_(pane_of(rows_, QStringLiteral("Rows of the comparison"), 0)),
      timeline_(pane_of(marks_, QStringLiteral("What happened, by time"), 4)),
      history_(pane_of(trends_, QStringLiteral("Rows over the sessions"), 0)),
      views_(new QStackedWidget),
      headline_(new QLabel(QStringLiteral("reading …"))),
      running_(new QLabel),
      notice_(new QLabel),
      address_(new QLineEdit),
      reader_(database_) {
    setWindowTitle(QStringLiteral("Assay: ") + text(database_.filename().string()));
    for (QWidget* view :
         std::initializer_list<QWidget*>{overview_, figure_, compare_, timeline_, history_})
        views_->addWidget(view);
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
    address_->setMaximumWidth(420);

    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    auto* line = new QHBoxLayout;
    line->addWidget(headline_, 1);
    line->addWidget(running_);
    line->addWidget(address_);
    column->addLayout(line);
    column->addWidget(notice_);
    column->addWidget(views_, 1);
    setCentralWidget(page);
    resize(1440, 900);

    connect(overview_, &OverviewView::opened, this, [this](const QString& experiment) {
        go({View::figure, experiment.toStdString()});
    });
    connect(history_, &PlotPane::chosen, this, &MainWindow::show_trend);
    connect(address_, &QLineEdit::returnPressed, this, &MainWindow::go_where_typed);
    connect(&reader_, &Reader::changed, this, &MainWindow::refresh);
    connect(&reader_, &Reader::became_idle, this, &MainWindow::settled_now);
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

QString MainWindow::command(const std::string& words) const {
    const bool usual = database_ == store::default_path();
    return text("assay " + words + (usual ? "" : " --db " + shell_quoted(database_.string())));
}

void MainWindow::add_keys() {
    const auto key = [this](const QKeySequence& keys, auto action) {
        connect(new QShortcut(keys, this), &QShortcut::activated, this, action);
    };
    key(Qt::Key_1, [this] { go({View::overview, {}}); });
    key(Qt::Key_2, [this] {
        if (!experiment_.empty()) go({View::figure, experiment_});
    });
    key(Qt::Key_3, [this] { go({View::compare, "latest~1,latest"}); });
    key(Qt::Key_4, [this] { go_to_newest_sample(); });
    key(Qt::Key_5, [this] {
        if (!experiment_.empty()) go({View::history, experiment_});
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
    key(Qt::Key_E, [this] { export_picture(); });
    key(Qt::Key_Question, [this] { help(); });
    key(QKeySequence::Quit, [this] { close(); });
}

// ---- where one is -------------------------------------------------------------------------------

void MainWindow::go(const Location& location) {
    if (location == location_) return;
    before_.push_back(location_);
    location_ = location;
    show_location();
}

void MainWindow::back() {
    if (before_.empty()) return;
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

PlotPane* MainWindow::open_pane() const {
    switch (location_.view) {
        case View::overview:
            return nullptr;
        case View::figure:
            return figure_;
        case View::compare:
            return compare_;
        case View::timeline:
            return timeline_;
        case View::history:
            return history_;
    }
    return nullptr;
}

void MainWindow::show_location() {
    if (location_.view == View::figure) experiment_ = location_.argument;
    QWidget* shown = open_pane() ? static_cast<QWidget*>(open_pane()) : overview_;
    views_->setCurrentWidget(shown);
    shown->setFocus();
    address_->setText(text(to_string(location_)));
    address_->setCursorPosition(0);
    forget_view();
    refresh();
}

// What was shown before is not of this place, nor what was wrong there.
void MainWindow::forget_view() {
    for (const QString& topic : {view_topic, newest_topic, here}) tell(topic, {});
    if (PlotPane* pane = open_pane()) {
        pane->set_words(text(location_.argument), {}, {});
        pane->set_plot(nullptr);
    }
    claims_->set({});
    rows_->set({});
    marks_->set({});
    trends_->set({});
}

void MainWindow::set_theme(report::Theme theme) {
    QApplication::setPalette(palette_of(theme));
    for (PlotPane* pane : {figure_, compare_, timeline_, history_}) pane->set_theme(theme);
}

// ---- what is shown ------------------------------------------------------------------------------

void MainWindow::refresh() {
    read_overview();  // the line above every view is made of it
    switch (location_.view) {
        case View::overview:
            return;
        case View::figure:
            return read_figure();
        case View::compare:
            return read_comparison();
        case View::timeline:
            return read_timeline();
        case View::history:
            return read_history();
    }
}

void MainWindow::read_overview() {
    reader_.ask(
        QStringLiteral("overview"),
        [registry = registry_](store::Store& store) {
            return gui::read_overview(*registry, store);
        },
        [this](Overview overview) {
            headline_->setText(text(overview.headline));
            const QString runs = running_text(overview.running);
            const QString worse = regressions_text(overview);
            running_->setText(runs.isEmpty() || worse.isEmpty() ? runs + worse
                                                                : worse + "   " + runs);
            overview_model_->set(std::move(overview));
        });
}

void MainWindow::read_figure() {
    reader_.ask(
        view_topic,
        [registry = registry_, id = location_.argument](store::Store& store) {
            return gui::read_figure(*registry, store, id);
        },
        [this](FigureContent figure) {
            figure_->set_words(text(figure.experiment->id), text(figure.experiment->source),
                               command("run " + figure.experiment->id));
            figure_->set_plot(std::make_shared<const report::Plot>(std::move(figure.plot)));
            claims_->set(std::move(figure.claims));
        });
}

void MainWindow::read_comparison() {
    reader_.ask(
        view_topic,
        [registry = registry_, file = database_, typed = location_.argument](store::Store&) {
            return gui::read_comparison(*registry, file, typed);
        },
        [this](std::shared_ptr<const Comparison> comparison) {
            const auto suspects = differing_suspects(*comparison);
            compare_->set_words(
                text(comparison->a_typed + " against " + comparison->b_typed),
                text(suspects.empty() ? "no recorded suspect differs"
                                      : fmt::format("differing: {}", fmt::join(suspects, "; "))),
                command("compare " + shell_quoted(comparison->a_typed) + " " +
                        shell_quoted(comparison->b_typed)));
            compare_->set_plot(std::make_shared<const report::Plot>(
                ratio_plot(comparison->a, comparison->b, comparison->rows)));
            rows_->set(comparison->rows);
            comparison_ = std::move(comparison);  // the rows before pointed into the one before
        });
}

void MainWindow::read_timeline() {
    reader_.ask(
        view_topic,
        [registry = registry_, sample = location_.argument](store::Store& store) {
            return gui::read_timeline(*registry, store, sample, painted_width);
        },
        [this](Timeline timeline) {
            const store::Sample& sample = timeline.sample;
            experiment_ = sample.spec.experiment;
            const std::string faults =
                sample.spec.scenario.empty() ? "" : "; faults: " + sample.spec.scenario;
            timeline_->set_words(
                text(sample.spec.experiment + " " + sample.spec.variant),
                text(fmt::format("{}, {}, {}, seed {}{}", sample.status,
                                 to_string(sample.spec.profile), to_string(sample.spec.provenance),
                                 sample.spec.seed, faults)),
                command(fmt::format("replay {:.8}", sample.id)));
            timeline_->set_plot(std::make_shared<const report::Plot>(std::move(timeline.plot)));
            marks_->set(std::move(timeline.marks));
        });
}

void MainWindow::read_history() {
    reader_.ask(
        view_topic,
        [registry = registry_, rows = location_.argument](store::Store& store) {
            return gui::read_history(*registry, store, rows);
        },
        [this, rows = location_.argument](std::vector<TrendHistory> histories) {
            history_->set_words(text(rows), {}, command("history " + shell_quoted(rows)));
            trends_->set(std::move(histories));
            show_trend(history_->chosen_row());
        });
}

void MainWindow::show_trend(int row) {
    if (row < 0 || row >= trends_->rowCount()) return;
    const report::Trend& trend = trends_->rows()[static_cast<std::size_t>(row)].trend;
    history_->set_plot(std::make_shared<const report::Plot>(
        report::trend_plot(trend, report::usual_trend_options().rule)));
}

void MainWindow::export_picture() {
    const PlotPane* pane = open_pane();
    const report::Plot* plot = pane ? pane->plot() : nullptr;
    if (!plot) return;
    const QString file = QFileDialog::getSaveFileName(this, QStringLiteral("Export the figure"),
                                                      text(plot->id()) + ".svg",
                                                      QStringLiteral("Pictures (*.svg *.png)"));
    if (!file.isEmpty() && !save_picture(*plot, file))
        tell(here, QStringLiteral("%1 could not be written").arg(file));
}

void MainWindow::help() {
    QMessageBox::information(
        this, QStringLiteral("Keys"),
        QStringLiteral("1\toverview\n2\tthe figure looked at last\n3\tthe last two sessions\n"
                       "4\tits newest sample in time\n5\tits history\n/\tsearch\nCtrl+L\tgo to a "
                       "view\nEnter\topen\nBackspace\tback\nE\texport the figure\n?\tthis"));
}

}  // namespace assay::gui
