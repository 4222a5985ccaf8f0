// `assay model`: looking at language models, measuring them on a text, letting them write.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "suite/experiment/system.hpp"

namespace assay::model {

Tool make_model_tool();

// Its subcommands, each in a file of its own: show_command.cpp, …
std::unique_ptr<Command> make_show_command();
std::unique_ptr<Command> make_eval_command();
std::unique_ptr<Command> make_generate_command();
std::unique_ptr<Command> make_batch_command();
std::unique_ptr<Command> make_tokenize_command();
std::unique_ptr<Command> make_detokenize_command();
std::unique_ptr<Command> make_gradients_command();

/// How far something long has come, on standard error, with the time it will still take: on a
/// terminal a line that is written over, else a line now and then; nothing in the first
/// second.
class ProgressLine {
  public:
    /// `unit`: "tokens".
    ProgressLine(std::int64_t all, std::string unit);
    ~ProgressLine();  ///< wipes the line
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void on(std::int64_t done);

  private:
    using Clock = std::chrono::steady_clock;
    std::int64_t all_;
    std::string unit_;
    bool on_terminal_, drawn_ = false;
    Clock::time_point start_ = Clock::now(), next_ = start_ + std::chrono::seconds(1);
};

/// "12 of 40 tokens (30 %), 21 s to go".
std::string progress_text(std::int64_t done, std::int64_t all, const std::string& unit,
                          double seconds_so_far);

}  // namespace assay::model
