#include "impls/model/tool.hpp"

#include <fmt/format.h>

#include <iostream>
#include <utility>

#include "suite/base/quantity_text.hpp"
#include "suite/cli/terminal/live_progress.hpp"
#include "suite/cli/terminal/printable_output.hpp"

namespace assay::model {

Tool make_model_tool() {
    Tool tool{"model", "Language models: their shape, perplexity on a text, continuations", {}};
    tool.subcommands.push_back({"show", "Shape, sizes, tokenizer and memory", make_show_command()});
    tool.subcommands.push_back(
        {"eval", "Perplexity and bits per byte of a text", make_eval_command()});
    tool.subcommands.push_back(
        {"generate", "Continue a prompt on the CPU", make_generate_command()});
    tool.subcommands.push_back({"batch", "Continue many prompts at once", make_batch_command()});
    tool.subcommands.push_back(
        {"tokenize", "Token ids of a text, as `generate` is fed them", make_tokenize_command()});
    tool.subcommands.push_back(
        {"detokenize", "The text that token ids stand for", make_detokenize_command()});
    tool.subcommands.push_back(
        {"gradients", "Gradients of single rows, for `assay plan`", make_gradients_command()});
    return tool;
}

std::string progress_text(std::int64_t done, std::int64_t all, const std::string& unit,
                          double seconds_so_far) {
    std::string text = fmt::format("{} of {} {} ({} %)", done, all, unit, 100 * done / all);
    if (done > 0 && done < all)
        text += fmt::format(", {} to go",
                            duration_text(seconds_so_far * static_cast<double>(all - done) /
                                          static_cast<double>(done)));
    return text;
}

ProgressLine::ProgressLine(std::int64_t all, std::string unit)
    : all_(all), unit_(std::move(unit)), on_terminal_(cli::terminal_width() > 0) {}

ProgressLine::~ProgressLine() {
    if (drawn_ && on_terminal_) cli::overwrite_line("");
}

void ProgressLine::on(std::int64_t done) {
    using namespace std::chrono_literals;
    const auto now = Clock::now();
    if (now < next_) return;
    next_ = now + (on_terminal_ ? 200ms : 5s);
    drawn_ = true;
    const std::string text =
        progress_text(done, all_, unit_, std::chrono::duration<double>(now - start_).count());
    if (on_terminal_)
        cli::overwrite_line(text);
    else
        std::cerr << text << std::endl;
}

}  // namespace assay::model
