#include "suite/formats/csv_line.hpp"

namespace assay {
namespace {

std::string quoted(const std::string& field) {
    if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
    std::string out = "\"";
    for (const char c : field) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + '"';
}

}  // namespace

std::string csv_line(const std::vector<std::string>& fields) {
    std::string out;
    for (const std::string& field : fields) {
        if (&field != fields.data()) out += ',';
        out += quoted(field);
    }
    return out + '\n';
}

}  // namespace assay
