// What others named (files, benchmarks, models, machines, notes) must not command the terminal that
// it is printed on, nor pass for lines of ours.
#pragma once

#include <memory>
#include <ostream>
#include <string_view>

namespace assay::cli {

/// While it lives, std::cout and std::cerr write report::printable() of all that they are given,
/// but newlines and tabs stay. A name within a line is printable() without them: print_line().
class PrintableOutput {
  public:
    PrintableOutput();
    ~PrintableOutput();
    PrintableOutput(const PrintableOutput&) = delete;
    PrintableOutput& operator=(const PrintableOutput&) = delete;

  private:
    class Buffer;
    friend void write_as_is(std::ostream&, std::string_view);
    std::unique_ptr<Buffer> out_, err_;
};

/// Past that: for files and other programs, and for control sequences of ours.
void write_as_is(std::ostream& stream, std::string_view text);

/// One line, whatever the names in it hold; flushed on standard error.
void print_line(std::ostream& stream, std::string_view line);

/// Text with colours of report::coloured(), on standard output.
void print_coloured(std::string_view text);

/// On standard error, a terminal: in place of what stands in its last line. Empty: wipes it.
void overwrite_line(std::string_view text);

}  // namespace assay::cli
