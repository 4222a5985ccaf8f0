#include "impls/weights/tool/tool.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "suite/base/quantity_text.hpp"
#include "suite/cli/terminal/output.hpp"

namespace assay::weights {
namespace {

double percent(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

Tool make_weights_tool() {
    Tool tool{"weights", "Versions of a model's weights: what changed between two", {}};
    tool.subcommands.push_back(
        {"diff", "The changed elements of a version, as a delta file", make_diff_command()});
    tool.subcommands.push_back(
        {"apply", "A version out of the one before and a delta file", make_apply_command()});
    return tool;
}

void check_out(const std::string& out, std::initializer_list<std::string> inputs) {
    if (cli::is_standard_output(out))
        throw UserError(
            fmt::format("--out {}: this is no text; give the name of a file to write", out));
    cli::check_output("--out", out);
    for (const std::string& input : inputs) {
        std::error_code ignored;  // what is not there is not the same
        if (std::filesystem::equivalent(out, input, ignored))
            throw UserError(fmt::format(
                "--out {}: that is {}, which it would replace; give another name", out, input));
    }
}

void print_size(const DeltaSize& size, bool json) {
    if (json) {
        cli::print_json(
            {{"elements", size.elements}, {"changed", size.changed}, {"bytes", size.bytes}});
        return;
    }
    const std::uint64_t whole = size.elements * element_bytes;
    std::cout << fmt::format("changed  {} of {} elements ({:.2f} %)\n", size.changed, size.elements,
                             percent(size.changed, size.elements))
              << fmt::format("delta    {}; the weights have {}\n",
                             bytes_text(static_cast<double>(size.bytes)),
                             bytes_text(static_cast<double>(whole)));
}

}  // namespace assay::weights
