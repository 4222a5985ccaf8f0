#include "suite/drive/messages.hpp"

namespace assay::drive {

using nlohmann::json;

namespace {

std::string text_of(const Place& place) {
    std::string text = place.in == nullptr ? "" : text_of(*place.in);
    if (place.in == nullptr && place.name.empty()) return text;
    if (place.name.empty()) return text + "[" + std::to_string(place.index) + "]";
    return text + (text.empty() ? "" : ".") + std::string(place.name);
}

std::string shortened(const json& value) {
    constexpr std::size_t most = 60;
    std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
    if (text.size() > most) {
        text.resize(most);
        while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80U)) text.pop_back();
        text += "…";
    }
    return text;
}

}  // namespace

void Place::refuse(std::string_view why) const {
    const std::string where = text_of(*this);
    throw MessageError((where.empty() ? "a message" : where) + ": " + std::string(why));
}

void Place::refuse(std::string_view expected, const json& found) const {
    refuse(std::string(expected) + ", not " + shortened(found));
}

namespace detail {

json from_real(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

double to_real(const json& value, const Place& place) {
    if (value.is_number()) return value.get<double>();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (value == "inf") return infinity;
    if (value == "-inf") return -infinity;
    place.refuse("a number was expected", value);
}

const json& array(const json& value, const Place& place) {
    if (!value.is_array()) place.refuse("a list was expected", value);
    return value;
}

const json& array(const json& value, std::size_t length, const Place& place) {
    if (!value.is_array() || value.size() != length)
        place.refuse("a list of " + std::to_string(length) + " was expected", value);
    return value;
}

const json& object(const json& value, const Place& place) {
    if (!value.is_object()) place.refuse("an object was expected", value);
    return value;
}

const std::string& type_of(const json& value, const Place& place) {
    const auto found = object(value, place).find("type");
    if (found == value.end() || !found->is_string())
        place.refuse("it has no \"type\", which says what it is", value);
    return found->get_ref<const std::string&>();
}

}  // namespace detail
}  // namespace assay::drive
