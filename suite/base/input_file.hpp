// Text files: those that a user names on the command line, where "-" is standard input; and the
// byte order mark that editors of Windows, Excel and PowerShell begin one with, which is no part of
// it.
#pragma once

#include <filesystem>
#include <fstream>
#include <istream>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

std::string_view without_byte_order_mark(std::string_view text);
/// Of a stream that nothing was read of.
void pass_over_byte_order_mark(std::istream&);

/// The text of a file, without its mark; nullopt: it is a folder or cannot be read, and errno says
/// why.
std::optional<std::string> read_text_file(const std::filesystem::path&);

/// What errors call it.
inline constexpr std::string_view standard_input = "standard input";

class InputFile {
  public:
    enum class Dash { standard_input, a_name };
    /// `option` is the flag that names it ("--plans"), `what` what it has to be ("a TOML file").
    /// dash: what "-" stands for. UserError for a folder and for what cannot be opened.
    InputFile(std::string_view option, std::string_view file, std::string_view what = "a file",
              Dash dash = Dash::standard_input);

    /// Behind a byte order mark.
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
