#include "gui/views/location.hpp"

#include <fmt/format.h>

#include <array>

#include "suite/base/error.hpp"

namespace assay::gui {
namespace {

struct Named {
    View view;
    std::string_view name, argument;  ///< argument: what must follow; empty: nothing
};
constexpr std::array<Named, 5> views{{{View::overview, "overview", ""},
                                      {View::figure, "figure", "EXPERIMENT"},
                                      {View::compare, "compare", "A,B"},
                                      {View::timeline, "timeline", "SAMPLE"},
                                      {View::history, "history", "ROWS"}}};

std::string known_views() {
    std::string text;
    for (const Named& known : views)
        text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", known.name,
                            known.argument.empty() ? "" : ":", known.argument);
    return text;
}

}  // namespace

Location parse_location(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view name = text.substr(0, colon);
    const std::string argument(colon == text.npos ? "" : text.substr(colon + 1));
    for (const Named& known : views) {
        if (known.name != name) continue;
        if (known.argument.empty() != argument.empty())
            throw UserError(
                known.argument.empty()
                    ? fmt::format("view {}: nothing follows it", name)
                    : fmt::format("view {0}: say of what, {0}:{1}", name, known.argument));
        return {known.view, argument};
    }
    throw UserError(fmt::format("no view is called '{}'; there are {}", text, known_views()));
}

std::string to_string(const Location& location) {
    for (const Named& known : views)
        if (known.view == location.view)
            return location.argument.empty() ? std::string(known.name)
                                             : fmt::format("{}:{}", known.name, location.argument);
    return {};
}

}  // namespace assay::gui
