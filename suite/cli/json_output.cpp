#include "suite/cli/json_output.hpp"

#include <iostream>
#include <nlohmann/json.hpp>

namespace assay::cli {

void print_json(const nlohmann::json& value) {
    std::cout << value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

void print_json_line(const nlohmann::json& value) {
    std::cout << value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n'
              << std::flush;
}

}  // namespace assay::cli
