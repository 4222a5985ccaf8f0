#include "gui/data/assay_program.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QProcessEnvironment>

#include "gui/data/catalogue.hpp"
#include "suite/base/encoding.hpp"
#include "suite/base/error.hpp"

namespace assay::gui {
namespace {

constexpr int longest_answer_ms = 120'000;

void prepare(QProcess& process, const QStringList& arguments, const QStringList& environment) {
    process.setProgram(QString::fromStdString(find_assay().string()));
    process.setArguments(arguments);
    process.setStandardInputFile(QProcess::nullDevice());
    QProcessEnvironment all = QProcessEnvironment::systemEnvironment();
    for (const QString& one : environment) all.insert(one.section('=', 0, 0), one.section('=', 1));
    process.setProcessEnvironment(all);
}

/// Its complaint without the name in front, on one line.
QString complaint(const QByteArray& words) {
    for (const QByteArray& line : words.split('\n'))
        if (line.startsWith("assay: ")) return QString::fromUtf8(line.mid(7)).trimmed();
    return QString::fromUtf8(words).simplified();
}

Said said_by(QProcess& process) {
    Said said{process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0,
              process.readAllStandardOutput(),
              {}};
    if (!said.ok) said.why = complaint(process.readAllStandardError());
    if (!said.ok && said.why.isEmpty())
        said.why = process.exitStatus() == QProcess::NormalExit
                       ? QStringLiteral("assay ended with code %1").arg(process.exitCode())
                       : process.errorString();
    return said;
}

}  // namespace

QString command_text(const QStringList& arguments) {
    QString text = QStringLiteral("assay");
    for (const QString& word : arguments)
        text += ' ' + QString::fromStdString(shell_quoted(word.toStdString()));
    return text;
}

Said ask_assay(const QStringList& arguments, const QStringList& environment) {
    QProcess process;
    prepare(process, arguments, environment);
    process.start();
    if (!process.waitForFinished(longest_answer_ms)) return {false, {}, process.errorString()};
    return said_by(process);
}

AssayProgram::~AssayProgram() { drop(); }

void AssayProgram::drop() {
    if (!process_) return;
    process_->disconnect(this);
    process_->kill();
    process_->waitForFinished(1000);
    process_.reset();
}

void AssayProgram::ask(const QStringList& arguments, std::function<void(const Said&)> then,
                       const QStringList& environment) {
    drop();
    process_ = std::make_unique<QProcess>();
    QProcess* const asked = process_.get();
    // Once: a program that cannot be started does not end either.
    const auto end = [this, asked, then = std::move(then)](const QString& why) {
        if (process_.get() != asked) return;
        const Said said = why.isEmpty() ? said_by(*asked) : Said{false, {}, why};
        process_.release()->deleteLater();
        then(said);
    };
    connect(asked, &QProcess::finished, this, [end] { end({}); });
    connect(asked, &QProcess::errorOccurred, this, [end, asked](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart) end(asked->errorString());
    });
    try {
        prepare(*asked, arguments, environment);
    } catch (const UserError& error) {
        const QString why = QString::fromUtf8(error.what());
        QMetaObject::invokeMethod(
            this, [end, why] { end(why); }, Qt::QueuedConnection);
        return;
    }
    asked->start();
}

// ---- runs that outlive the window ---------------------------------------------------------------

// Pipes would break when the window is closed, and the run with them: it writes to files.
StartedRun start_run(const QStringList& arguments, const std::filesystem::path& folder) {
    const QString here = QString::fromStdString(folder.string());
    if (!QDir().mkpath(here))
        throw UserError(fmt::format("{} cannot be made, where a run's events go", folder.string()));
    const QString name =
        here + '/' + QDateTime::currentDateTimeUtc().toString("yyyyMMdd-HHmmss-zzz");
    StartedRun run{0, name + ".jsonl", name + ".txt"};
    QProcess process;
    prepare(process, arguments + QStringList{"--events", "jsonl"}, {});
    process.setStandardOutputFile(run.events);
    process.setStandardErrorFile(run.words);
    if (!process.startDetached(&run.process))  // with setsid()
        throw UserError(
            fmt::format("the run could not be started: {}", process.errorString().toStdString()));
    return run;
}

bool is_alive(qint64 process) {
    if (::kill(static_cast<pid_t>(process), 0) != 0) return false;
    QFile status(QStringLiteral("/proc/%1/stat").arg(process));
    if (!status.open(QIODevice::ReadOnly)) return false;
    const QByteArray line = status.readAll();
    return line.mid(line.lastIndexOf(')') + 2, 1) != "Z";
}

QString complaint_of(const StartedRun& run) {
    QFile words(run.words);
    if (!words.open(QIODevice::ReadOnly)) return {};
    const QByteArray text = words.readAll();
    return text.contains("assay: ") ? complaint(text) : QString();
}

}  // namespace assay::gui
