// What a window shows: one of its views, and what of it.
#pragma once

#include <QString>
#include <string>
#include <string_view>

namespace assay::gui {

enum class View { overview, figure };

struct Location {
    View view = View::overview;
    std::string argument;  ///< of figure: an experiment's id
    bool operator==(const Location&) const = default;
};

/// "overview", "figure:lazarus/fig8". Throws UserError for what is no view, or lacks its argument.
Location parse_location(std::string_view text);
std::string to_string(const Location& location);

}  // namespace assay::gui
