// What the window keeps between two starts: per database where it was, how it looked, and what
// there was to see. In a place of its own, never in a database.
#pragma once

#include <QByteArray>
#include <QString>
#include <filesystem>
#include <optional>

#include "gui/data/last_look.hpp"

namespace assay::gui {

/// $XDG_STATE_HOME/assay, else ~/.local/state/assay.
std::filesystem::path state_folder();

struct KeptState {
    QByteArray geometry;
    QString view, theme;
    std::optional<LastLook> look;
};
/// Of a database; what cannot be read is as if it were not there.
KeptState read_state(const std::filesystem::path& database);
void write_state(const std::filesystem::path& database, const KeptState& state);

}  // namespace assay::gui
