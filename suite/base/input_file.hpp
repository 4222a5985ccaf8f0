// A file that a user names on the command line, where "-" is standard input.
#pragma once

#include <fstream>
#include <istream>
#include <string>
#include <string_view>

namespace assay {

/// What errors call it.
inline constexpr std::string_view standard_input = "standard input";

class InputFile {
  public:
    enum class Dash { standard_input, a_name };
    /// `option` is the flag that names it ("--plans"), `what` what it has to be ("a TOML file").
    /// dash: what "-" stands for. UserError for a folder and for what cannot be opened.
    InputFile(std::string_view option, std::string_view file, std::string_view what = "a file",
              Dash dash = Dash::standard_input);

    std::istream& stream();
    /// For errors: the file as the user wrote it, or standard input.
    const std::string& name() const { return name_; }
    /// All that is left of it. UserError when reading fails.
    std::string text();

  private:
    std::string name_;
    std::ifstream file_;
    bool is_standard_input_;
};

}  // namespace assay
