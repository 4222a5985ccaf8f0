// What a person does about a row: accept a level, mute it, write a note. All of it by commands of
// `assay`, which are shown before they run.
#pragma once

#include <QWidget>
#include <filesystem>
#include <functional>
#include <string>

namespace assay::gui {

/// The row that is chosen.
struct ActedOn {
    std::string row;      ///< as reports call it; empty: none is chosen
    std::string session;  ///< whole id of the newest that has it; empty: it is of a file
    std::string suite;    ///< whose nights judge it; empty: none yet
};

/// Three buttons. `chosen` is asked when one is pressed, `done` called with what the command said.
QWidget* make_row_actions(const std::filesystem::path& database, std::function<ActedOn()> chosen,
                          std::function<void(const QString& said)> done);

}  // namespace assay::gui
