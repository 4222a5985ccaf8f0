#include "suite/cli/terminal/seed_progress.hpp"

#include <fmt/format.h>

#include <iostream>

#include "suite/base/quantity_text.hpp"
#include "suite/cli/terminal/printable_output.hpp"

namespace assay::cli {
namespace {

constexpr double redraw_every_s = 0.1, line_every_s = 10;

}  // namespace

std::string SeedProgress::line(const State& state) {
    std::string left;
    if (state.done > 0) {
        const double per_seed_s = state.taken_s / static_cast<double>(state.done);
        left = ", " + duration_text(per_seed_s * static_cast<double>(state.all - state.done)) +
               " left";
    }
    return fmt::format("[{}/{}, {} failed{}] {}", state.done, state.all, state.failed, left,
                       state.what);
}

void SeedProgress::on(const State& state) {
    if (state.what != last_what_) last_s_ = 0;
    last_what_ = state.what;
    if (state.taken_s - last_s_ < (width_ > 0 ? redraw_every_s : line_every_s)) return;
    last_s_ = state.taken_s;
    std::string text = line(state);
    if (width_ > 0) {
        text.resize(std::min(text.size(), static_cast<std::size_t>(width_ - 1)));
        overwrite_line(text);
        drawn_ = true;
    } else {
        print_line(std::cerr, text);
    }
}

void SeedProgress::wipe() {
    if (drawn_) overwrite_line("");
    drawn_ = false;
}

}  // namespace assay::cli
