#include "gui/data/fitness.hpp"

#include <QString>
#include <nlohmann/json.hpp>

#include "suite/base/error.hpp"

namespace assay::gui {

QStringList doctor_arguments() { return {"doctor", "--json"}; }

QStringList doctor_environment(const std::filesystem::path& database) {
    const auto none = std::filesystem::absolute(database).parent_path() / "none.db";
    return {QString::fromStdString("ASSAY_DB=" + none.string())};
}

std::vector<Finding> read_findings(const QByteArray& text) {
    const auto all = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
    if (!all.is_array()) throw UserError("what `assay doctor` tells is no JSON");
    std::vector<Finding> findings;
    for (const auto& one : all)
        if (one.value("check", "") != "database")
            findings.push_back(
                {one.value("check", ""), one.value("level", ""), one.value("says", "")});
    return findings;
}

}  // namespace assay::gui
