// A command's list, for people or as JSON.
#pragma once

#include <iostream>
#include <string_view>

#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/report/text/table.hpp"

namespace assay::cli {

/// `none`: what people read where there are no rows.
template <class Row, class Rows>
void print_table(const report::Table<Row>& table, const Rows& rows, bool json,
                 std::string_view none) {
    if (json)
        print_json(table.values(rows));
    else if (rows.empty())
        std::cout << none;
    else
        std::cout << report::text_table(table.shown(rows), text_columns());
}

}  // namespace assay::cli
