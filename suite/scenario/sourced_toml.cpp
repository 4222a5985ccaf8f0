#include "suite/scenario/sourced_toml.hpp"

namespace assay {
namespace {

void check_range(ProfileTable& table, double value, ProfileRange range) {
    if (range == ProfileRange::share && !(value > 0 && value <= 1))
        table.fail("value", "must be above 0 and at most 1");
    if (range == ProfileRange::positive && !(value > 0)) table.fail("value", "must be above 0");
    if (range == ProfileRange::at_least_0 && (value < 0 || std::signbit(value)))
        table.fail("value", "must be at least 0");
}

}  // namespace

Sourced read_sourced(ProfileTable& outer, const char* key, ProfileRange range) {
    std::optional<ProfileTable> table = outer.table(key);
    if (!table)
        outer.fail(fmt::format("{} lacks '{}': write {} = {{ value = …, kind = …, source = … }}",
                               outer.name(), key, key));
    Sourced sourced;
    const std::optional<double> value = table->number("value");
    if (!value) table->fail(fmt::format("{} lacks 'value'", key));
    check_range(*table, *value, range);
    sourced.value = *value;
    sourced.kind = table->required_text("kind");
    if (sourced.kind != "published" && sourced.kind != "measured" && sourced.kind != "assumed" &&
        sourced.kind != "fitted")
        table->fail("kind",
                    "is '" + sourced.kind + "'; known are published, measured, assumed, fitted");
    sourced.source = table->required_text("source");
    sourced.fitted_from = table->texts("fitted_from");
    const bool fitted = sourced.kind == "fitted", named = !sourced.fitted_from.empty();
    if (fitted && !named)
        table->fail("kind", "is 'fitted': name in fitted_from the claims and sessions it is from");
    if (named && !fitted) table->fail("fitted_from", "goes with kind = 'fitted' alone");
    table->refuse_rest();
    return sourced;
}

// JSON's escapes are TOML's, but TOML wants one more character escaped.
std::string toml_quoted(const std::string& text) {
    std::string escaped;
    for (const char c : nlohmann::json(text).dump()) {
        if (c == '\x7f')
            escaped += "\\u007F";
        else
            escaped += c;
    }
    return escaped;
}

std::string toml_quoted(const std::vector<std::string>& texts) {
    std::string list;
    for (const std::string& text : texts) list += (list.empty() ? "" : ", ") + toml_quoted(text);
    return "[" + list + "]";
}

std::string sourced_toml(const Sourced& number, const std::string& name, const char* unit) {
    std::string text = fmt::format("\n[{}]  # {}\nvalue = {}\nkind = {}\nsource = {}\n", name,
                                   *unit ? unit : "a share, 0 to 1", number.value,
                                   toml_quoted(number.kind), toml_quoted(number.source));
    if (!number.fitted_from.empty())
        text += fmt::format("fitted_from = {}\n", toml_quoted(number.fitted_from));
    return text;
}

nlohmann::json sourced_json(const Sourced& number) {
    nlohmann::json object = {
        {"value", number.value}, {"kind", number.kind}, {"source", number.source}};
    // Left out where there is none: hashes of older calibrations stay what they are.
    if (!number.fitted_from.empty()) object["fitted_from"] = number.fitted_from;
    return object;
}

}  // namespace assay
