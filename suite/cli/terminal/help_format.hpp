// How --help is laid out: within the terminal's columns, examples as they can be pasted.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <string>

namespace assay::cli {

class HelpFormat : public CLI::Formatter {
  public:
    explicit HelpFormat(std::size_t columns);

    std::string make_description(const CLI::App*) const override;
    std::string make_option(const CLI::Option*, bool is_positional) const override;
    /// Names of other options come in their order, not in that of their addresses.
    std::string make_option_opts(const CLI::Option*) const override;
    std::string make_subcommand(const CLI::App*) const override;
    std::string make_footer(const CLI::App*) const override;

  private:
    /// "  name   what it is", the second part broken within its own column.
    std::string row(const std::string& name, const std::string& says) const;

    std::size_t columns_;
};

/// The footer of a command: sentences are broken anew where they are too long, the lines of a list
/// hang below their second column, and an example keeps to one line, without its comment if need
/// be.
std::string fitted_footer(const std::string& footer, std::size_t columns);

}  // namespace assay::cli
