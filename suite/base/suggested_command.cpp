#include "suite/base/suggested_command.hpp"

#include <utility>

#include "suite/base/encoding.hpp"

namespace assay {
namespace {

std::string& database_in_use() {
    static std::string file;
    return file;
}

}  // namespace

void suggest_database(std::string file) { database_in_use() = std::move(file); }

std::string with_database(std::string_view words) {
    const std::string& database = database_in_use();
    return std::string(words) + (database.empty() ? "" : " --db " + shell_quoted(database));
}

std::string suggested_line(std::string_view words) { return "assay " + with_database(words); }

std::string suggested(std::string_view words) { return '`' + suggested_line(words) + '`'; }

}  // namespace assay
