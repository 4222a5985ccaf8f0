#include "gui/data/catalogue.hpp"

#include <fmt/format.h>

#include <QCoreApplication>
#include <QProcess>
#include <QStandardPaths>
#include <nlohmann/json.hpp>

#include "suite/base/error.hpp"
#include "suite/experiment/catalogue.hpp"

namespace assay::gui {
namespace {

constexpr int longest_answer_ms = 60'000;  // it takes a tenth of a second

}  // namespace

std::filesystem::path find_assay() {
    const QString name = QStringLiteral("assay");
    QString found = QStandardPaths::findExecutable(name, {QCoreApplication::applicationDirPath()});
    if (found.isEmpty()) found = QStandardPaths::findExecutable(name);
    if (found.isEmpty())
        throw UserError(
            "the program `assay` is neither beside assay-gui nor in PATH: install both together");
    return found.toStdString();
}

Registry ask_catalogue(const std::filesystem::path& assay) {
    QProcess process;
    process.start(QString::fromStdString(assay.string()), {"describe", "all", "--catalogue"});
    const bool ended = process.waitForFinished(longest_answer_ms);
    if (!ended || process.exitStatus() != QProcess::NormalExit || process.exitCode() != 0) {
        const std::string said = process.readAllStandardError().trimmed().toStdString();
        throw UserError(fmt::format("{} cannot tell what it has: {}", assay.string(),
                                    !said.empty() ? said : process.errorString().toStdString()));
    }
    const QByteArray text = process.readAllStandardOutput();
    const auto catalogue = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
    if (catalogue.is_discarded())
        throw UserError(fmt::format("what {} tells of its systems is no JSON", assay.string()));
    return read_catalogue(catalogue);
}

}  // namespace assay::gui
