// What a window shows: one of its views, and what of it.
#pragma once

#include <QString>
#include <string>
#include <string_view>

namespace assay::gui {

enum class View { overview, figure, compare, timeline, history, run, machine };

struct Location {
    View view = View::overview;
    /// Of figure an experiment's id; of compare two sides, "A,B"; of timeline a sample; of history
    /// rows, as the command line takes them; of run an experiment or nothing, of machine a session
    /// or nothing.
    std::string argument;
    bool operator==(const Location&) const = default;
};

/// "overview", "figure:lazarus/fig8". Throws UserError for what is no view, or lacks its argument.
Location parse_location(std::string_view text);
std::string to_string(const Location& location);

}  // namespace assay::gui
