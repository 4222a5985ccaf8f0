// assay-gui: the window, or what one of its views shows as JSON or as a picture.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <QApplication>
#include <QEventLoop>
#include <QStyleFactory>
#include <QTimer>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "gui/data/assay_program.hpp"
#include "gui/data/catalogue.hpp"
#include "gui/models/dump.hpp"
#include "gui/views/main_window.hpp"
#include "gui/views/theme.hpp"
#include "suite/base/encoding.hpp"
#include "suite/base/error.hpp"

namespace {

using namespace assay;
using namespace assay::gui;

struct Options {
    std::filesystem::path database;
    std::string view, dump;
    std::vector<std::string> screenshot;  // view, file
    std::string size = "1440x900", theme;
    double scale = 1;
};

QSize parse_size(const std::string& text) {
    int width = 0, height = 0, end = 0;
    if (std::sscanf(text.c_str(), "%dx%d%n", &width, &height, &end) != 2 ||
        static_cast<std::size_t>(end) != text.size() || width < 320 || height < 240 ||
        width > 16384 || height > 16384)
        throw UserError(fmt::format("--size '{}': pixels, from 320x240 to 16384x16384", text));
    return {width, height};
}

report::Theme theme_of(const std::string& name) {
    if (name.empty()) return preferred_theme();
    return name == "dark" ? report::Theme::dark : report::Theme::light;
}

nlohmann::json runs_in(const DumpHead& head, const std::string& experiment, const Options& options,
                       const store::Store& store) {
    QObject models;
    RunsModel* runs = make_runs_model(&models);
    runs->set(read_runs(store));
    if (experiment.empty()) return dump(head, *runs, {}, {});
    const QStringList words = run_arguments({.experiments = experiment,
                                             .profile = {},
                                             .mode = {},
                                             .variants = {},
                                             .axes = {},
                                             .more = {}},
                                            options.database);
    const Said said = ask_assay(words + QStringList{"--dry-run", "--json"});
    if (!said.ok) throw UserError(said.why.toStdString());
    return dump(head, *runs, command_text(words), read_plan(said.out));
}

nlohmann::json machine_in(const DumpHead& head, const std::string& session, const Options& options,
                          const store::Store& store) {
    QObject models;
    const MachineContent machine = read_machine(store, session);
    FactsModel* facts = make_facts_model(&models);
    facts->set(machine.facts);
    if (!session.empty()) return dump(head, machine, *facts, nullptr);
    FindingsModel* findings = make_findings_model(&models);
    findings->set(
        read_findings(ask_assay(doctor_arguments(), doctor_environment(options.database)).out));
    return dump(head, machine, *facts, findings);
}

nlohmann::json shown_in(const Location& location, const Options& options, const Registry& registry,
                        store::Store& store) {
    DumpHead head{to_string(location), options.database.string(), store::Store::schema(), {}};
    if (store.is_copy())
        head.notices.push_back(
            "the database lies where nothing may be written: this is of a copy of it");
    QObject models;
    switch (location.view) {
        case View::overview: {
            OverviewModel model;
            model.set(read_overview(registry, store));
            return dump(head, model);
        }
        case View::figure: {
            FigureContent figure = read_figure(registry, store, location.argument);
            ClaimsModel* claims = make_claims_model(&models);
            claims->set(std::move(figure.claims));
            return dump(head, figure.data, *claims);
        }
        case View::compare: {
            const auto comparison = read_comparison(registry, store, location.argument);
            RowsModel* rows = make_rows_model(&models);
            rows->set(named_rows(*comparison));
            return dump(head, *comparison, *rows);
        }
        case View::timeline: {
            const auto width = static_cast<std::size_t>(parse_size(options.size).width());
            const Timeline timeline = read_timeline(registry, store, location.argument, width);
            MarksModel* marks = make_marks_model(&models);
            marks->set(timeline.marks);
            return dump(head, timeline, *marks);
        }
        case View::history: {
            TrendsModel* trends = make_trends_model(&models);
            trends->set(read_history(registry, store, location.argument));
            return dump(head, *trends);
        }
        case View::run:
            return runs_in(head, location.argument, options, store);
        case View::machine:
            return machine_in(head, location.argument, options, store);
    }
    return {};
}

int dump_view(const Options& options, const Registry& registry) {
    const Location location = parse_location(options.dump);
    store::Store store = store::Store::open(options.database, store::Access::read);
    const nlohmann::json shown = shown_in(location, options, registry, store);
    std::cout << shown.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
    return std::cout ? EXIT_SUCCESS : EXIT_FAILURE;
}

void wait_until_settled(MainWindow& window) {
    if (window.settled()) return;
    QEventLoop loop;
    QObject::connect(&window, &MainWindow::settled_now, &loop, &QEventLoop::quit);
    loop.exec();
}

int take_screenshot(const Options& options, std::shared_ptr<const Registry> registry) {
    const Location location = parse_location(options.screenshot[0]);
    const QSize size = parse_size(options.size);
    store::Store::open(options.database, store::Access::read);  // or a sentence says why not
    MainWindow window(std::move(registry), options.database);
    window.set_theme(options.theme == "dark" ? report::Theme::dark : report::Theme::light);
    window.resize(size);
    window.go(location);
    window.show();
    wait_until_settled(window);
    QApplication::processEvents();
    if (!window.notice().isEmpty()) throw UserError(window.notice().toStdString());
    QImage picture(size * options.scale, QImage::Format_RGB32);
    picture.setDevicePixelRatio(options.scale);
    window.render(&picture);
    if (!picture.save(QString::fromStdString(options.screenshot[1])))
        throw UserError(
            fmt::format("{} cannot be written: a picture's name ends in .png, and its "
                        "folder must exist",
                        options.screenshot[1]));
    return EXIT_SUCCESS;
}

int show_window(const Options& options, std::shared_ptr<const Registry> registry) {
    const Location location = parse_location(options.view.empty() ? "overview" : options.view);
    MainWindow window(std::move(registry), options.database);
    window.set_theme(theme_of(options.theme));
    window.keep_state();
    if (!options.theme.empty()) window.set_theme(theme_of(options.theme));
    if (!options.view.empty()) window.go(location);
    window.show();
    return QApplication::exec();
}

void add_options(CLI::App& program, Options& options) {
    program
        .add_option("view", options.view,
                    "overview, figure:EXPERIMENT, compare:A,B, timeline:SAMPLE, history:ROWS, "
                    "run[:EXPERIMENT] or machine[:SESSION] (default: where one was last)")
        ->type_name("VIEW");
    program
        .add_option("--db", options.database,
                    "Results database (default: $ASSAY_DB, else below the XDG data folder)")
        ->type_name("FILE");
    auto* dumps = program.add_option("--dump", options.dump, "Print what a view shows as JSON")
                      ->type_name("VIEW");
    program
        .add_option("--screenshot", options.screenshot,
                    "Write a picture of a view, without a display")
        ->type_name("VIEW FILE")
        ->expected(2)
        ->excludes(dumps);
    program.add_option("--size", options.size, "Of the window, in pixels")
        ->type_name("WxH")
        ->capture_default_str();
    program.add_option("--scale", options.scale, "Pixels of the picture for each of the window")
        ->check(CLI::Range(0.5, 4.0))
        ->capture_default_str();
    program.add_option("--theme", options.theme, "light or dark (default: as the desktop)")
        ->check(CLI::IsMember({"light", "dark"}));
    program.footer(
        "Keys: 1 to 7 views, / search, Enter opens, Backspace goes back, E exports, ? lists all.\n"
        "Examples:\n"
        "  assay-gui\n"
        "  assay-gui figure:lazarus/fig8\n"
        "  assay-gui --dump figure:lazarus/fig8 | jq .claims\n"
        "  assay-gui --screenshot overview overview.png --theme dark");
}

bool is_set(const char* variable) {
    const char* const value = std::getenv(variable);
    return value != nullptr && *value != '\0';
}

// Without a display Qt tells of folders and hints that no picture needs.
void say_what_matters(QtMsgType type, const QMessageLogContext&, const QString& text) {
    if (type == QtCriticalMsg || type == QtFatalMsg)
        std::cerr << "assay-gui: " << text.toStdString() << std::endl;
}

int run(int argc, char** argv, Options options) {
    const bool without_window = !options.dump.empty() || !options.screenshot.empty();
    if (!without_window && !is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY") &&
        !is_set("QT_QPA_PLATFORM"))
        throw UserError(
            "there is no display for a window (DISPLAY and WAYLAND_DISPLAY are not set): "
            "`assay-gui --screenshot VIEW FILE.png` draws a view without one, `assay-gui --dump "
            "VIEW` prints it as JSON, and `assay report` writes a page for a browser");
    if (without_window) {
        setenv("QT_QPA_PLATFORM", "offscreen", 0);
        qInstallMessageHandler(say_what_matters);
    }
    QApplication application(argc, argv);
    QApplication::setStyle(QStyleFactory::create("Fusion"));
    QApplication::setCursorFlashTime(0);
    QFont font(QStringLiteral("DejaVu Sans"));
    font.setPixelSize(13);
    QApplication::setFont(font);
    if (options.database.empty()) options.database = store::default_path();
    const auto registry = std::make_shared<const Registry>(ask_catalogue(find_assay()));
    if (!options.dump.empty()) return dump_view(options, *registry);
    if (!options.screenshot.empty()) return take_screenshot(options, registry);
    return show_window(options, registry);
}

/// Of a text that goes on with a list of what there is, "…; the sessions are:", what comes before.
std::string sentence_of(std::string text) {
    const std::size_t line = text.find('\n');
    if (line == text.npos) return text;
    text.resize(line);
    if (const std::size_t list = text.rfind("; "); text.ends_with(':') && list != text.npos)
        text.resize(list);
    return text;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App program("Every result in one window, as it is written.", "assay-gui");
    add_options(program, options);
    CLI11_PARSE(program, argc, argv);
    try {
        return run(argc, argv, std::move(options));
    } catch (const std::exception& error) {
        std::cerr << "assay-gui: " << sentence_of(error.what()) << std::endl;
        return EXIT_FAILURE;
    }
}
