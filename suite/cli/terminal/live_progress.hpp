// What a run shows while it runs: one status line on a terminal, plain lines elsewhere, JSON lines
// for other programs.
#pragma once

#include <set>
#include <string>

#include "suite/runner/runner.hpp"

namespace assay::cli {

/// Listener that writes for people to standard error: to a terminal one line that is written over,
/// else a line per finished sample. `width` 0: not a terminal.
class LiveProgress {
  public:
    explicit LiveProgress(int width);
    ~LiveProgress();  ///< wipes the status line

    void on(const runner::Notice& notice);

  private:
    void redraw(const runner::Notice& notice);
    void print(const std::string& line);
    void show_case_of(const nlohmann::json& body);
    /// Each fault plan once, before the first sample that it strikes.
    void tell_faults(const std::string& scenario);

    int width_;
    bool drawn_ = false;
    std::map<std::string, std::string> running_;  ///< sample → its case
    std::string current_;                         ///< the case of which the newest came …
    std::string last_;                            ///< … event or progress
    std::set<std::string> told_scenarios_;
    std::set<std::string> told_reasons_;  ///< why samples are unsupported
};

/// Columns of the terminal behind standard error; 0: none, or one that cannot write over a line
/// (TERM=dumb).
int terminal_width();

/// The line of `--events jsonl` for one notice.
nlohmann::json event_line(const runner::Notice& notice);

}  // namespace assay::cli
