#include "gui/views/location.hpp"

#include <fmt/format.h>

#include <array>

#include "suite/base/error.hpp"

namespace assay::gui {
namespace {

struct Named {
    View view;
    std::string_view name, argument;  ///< argument: what follows; empty: nothing
    bool may_lack = false;            ///< the argument
};
constexpr std::array<Named, 7> views{{{View::overview, "overview", ""},
                                      {View::figure, "figure", "EXPERIMENT"},
                                      {View::compare, "compare", "A,B"},
                                      {View::timeline, "timeline", "SAMPLE"},
                                      {View::history, "history", "ROWS"},
                                      {View::run, "run", "EXPERIMENT", true},
                                      {View::machine, "machine", "SESSION", true}}};

std::string known_views() {
    std::string text;
    for (const Named& known : views)
        text += fmt::format("{}{}{}{}{}{}", text.empty() ? "" : ", ", known.name,
                            known.may_lack ? "[" : "", known.argument.empty() ? "" : ":",
                            known.argument, known.may_lack ? "]" : "");
    return text;
}

}  // namespace

Location parse_location(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view name = text.substr(0, colon);
    const std::string argument(colon == text.npos ? "" : text.substr(colon + 1));
    for (const Named& known : views) {
        if (known.name != name) continue;
        const bool lacks = !known.argument.empty() && argument.empty();
        if ((known.argument.empty() && !argument.empty()) ||
            (lacks && (!known.may_lack || colon != text.npos)))
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
