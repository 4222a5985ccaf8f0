#include "gui/views/main_window.hpp"

#include <QApplication>
#include <QFileDialog>
#include <QLabel>
#include <QMessageBox>
#include <QPainter>
#include <QSaveFile>
#include <QShortcut>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "gui/data/overview.hpp"
#include "gui/plot/painter.hpp"
#include "gui/views/theme.hpp"
#include "suite/report/figures/svg_writer.hpp"

namespace assay::gui {
namespace {

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

}  // namespace

MainWindow::MainWindow(std::shared_ptr<const Registry> registry, std::filesystem::path database)
    : registry_(std::move(registry)),
      database_(std::move(database)),
      overview_model_(new OverviewModel(this)),
      overview_(new OverviewView(*overview_model_)),
      figure_(new FigureView),
      views_(new QStackedWidget),
      headline_(new QLabel(QStringLiteral("reading …"))),
      running_(new QLabel),
      notice_(new QLabel),
      reader_(database_) {
    setWindowTitle(QStringLiteral("Assay: ") + QString::fromStdString(database_.filename()));
    views_->addWidget(overview_);
    views_->addWidget(figure_);
    QFont bold = headline_->font();
    bold.setBold(true);
    headline_->setFont(bold);
    headline_->setAccessibleName(QStringLiteral("All claims"));
    headline_->setWordWrap(true);
    notice_->setWordWrap(true);
    notice_->setTextFormat(Qt::PlainText);
    notice_->setAccessibleName(QStringLiteral("Notice"));
    notice_->hide();

    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    auto* line = new QHBoxLayout;
    line->addWidget(headline_, 1);
    line->addWidget(running_);
    column->addLayout(line);
    column->addWidget(notice_);
    column->addWidget(views_, 1);
    setCentralWidget(page);
    resize(1440, 900);

    connect(overview_, &OverviewView::opened, this, [this](const QString& experiment) {
        go({View::figure, experiment.toStdString()});
    });
    connect(&reader_, &Reader::changed, this, &MainWindow::refresh);
    connect(&reader_, &Reader::became_idle, this, &MainWindow::settled_now);
    connect(&reader_, &Reader::trouble, this, [this](const QString& why) {
        notice_text_ = why;
        notice_->setText(why);
        notice_->setVisible(!why.isEmpty());
    });
    add_keys();
    show_location();
}

void MainWindow::add_keys() {
    const auto key = [this](const QKeySequence& keys, auto action) {
        connect(new QShortcut(keys, this), &QShortcut::activated, this, action);
    };
    key(Qt::Key_1, [this] { go({View::overview, {}}); });
    key(Qt::Key_Slash, [this] {
        go({View::overview, {}});
        overview_->search();
    });
    key(QKeySequence::Back, [this] { back(); });
    key(Qt::Key_Backspace, [this] { back(); });
    key(Qt::Key_E, [this] { export_picture(); });
    key(Qt::Key_Question, [this] { help(); });
    key(QKeySequence::Quit, [this] { close(); });
}

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

void MainWindow::show_location() {
    QWidget* shown = location_.view == View::figure ? static_cast<QWidget*>(figure_) : overview_;
    views_->setCurrentWidget(shown);
    shown->setFocus();
    refresh();
}

void MainWindow::set_theme(report::Theme theme) {
    QApplication::setPalette(palette_of(theme));
    figure_->set_theme(theme);
}

void MainWindow::refresh() {
    read_overview();  // the line above every view is made of it
    if (location_.view == View::figure) read_figure();
}

void MainWindow::read_overview() {
    reader_.ask(
        QStringLiteral("overview"),
        [registry = registry_](store::Store& store) {
            return gui::read_overview(*registry, store);
        },
        [this](Overview overview) {
            headline_->setText(QString::fromStdString(overview.headline));
            const QString runs = running_text(overview.running);
            const QString worse = regressions_text(overview);
            running_->setText(runs.isEmpty() || worse.isEmpty() ? runs + worse
                                                                : worse + "   " + runs);
            overview_model_->set(std::move(overview));
        });
}

void MainWindow::read_figure() {
    reader_.ask(
        QStringLiteral("figure"),
        [registry = registry_, id = location_.argument](store::Store& store) {
            return gui::read_figure(*registry, store, id);
        },
        [this](FigureContent figure) { figure_->set(std::move(figure)); });
}

// PNG at twice the size, or SVG as `assay report -o` writes it.
void MainWindow::export_picture() {
    const report::Plot* plot = location_.view == View::figure ? figure_->plot().plot() : nullptr;
    if (!plot) return;
    const QString file = QFileDialog::getSaveFileName(this, QStringLiteral("Export the figure"),
                                                      QString::fromStdString(plot->id()) + ".svg",
                                                      QStringLiteral("Pictures (*.svg *.png)"));
    if (file.isEmpty()) return;
    bool written = false;
    if (file.endsWith(".png")) {
        constexpr double scale = 2;
        QImage picture(QSizeF(plot->width() * scale, plot->height() * scale).toSize(),
                       QImage::Format_RGB32);
        QPainter painter(&picture);
        painter.scale(scale, scale);
        paint(painter, *plot, report::Theme::light);
        painter.end();
        written = picture.save(file);
    } else {
        QSaveFile out(file);
        const QByteArray svg = QByteArray::fromStdString(report::to_svg(*plot));
        written = out.open(QIODevice::WriteOnly) && out.write(svg) == svg.size() && out.commit();
    }
    if (!written)
        QMessageBox::warning(this, QStringLiteral("Export"),
                             QStringLiteral("%1 could not be written").arg(file));
}

void MainWindow::help() {
    QMessageBox::information(this, QStringLiteral("Keys"),
                             QStringLiteral("1\toverview\n/\tsearch\nEnter\topen a figure\n"
                                            "Backspace\tback\nE\texport the figure\n?\tthis"));
}

}  // namespace assay::gui
