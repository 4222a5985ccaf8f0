// Whether this machine is fit to measure: what `assay doctor` finds.
#pragma once

#include <QByteArray>
#include <QStringList>
#include <filesystem>
#include <string>
#include <vector>

namespace assay::gui {

struct Finding {
    std::string check, level, says;  ///< level: ok, warn, fail
};

/// The doctor tries whether its database can be written, which would change ours: it is asked about
/// one that does not exist, in the same folder, and what it says of that is left out.
QStringList doctor_arguments();
QStringList doctor_environment(const std::filesystem::path& database);
/// Its output. Throws UserError for what is not.
std::vector<Finding> read_findings(const QByteArray& json);

}  // namespace assay::gui
