#include "suite/cli/terminal/seed_progress.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "suite/base/quantity_text.hpp"

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
        fmt::print(stderr, "\r\x1b[K{}", text);
        std::fflush(stderr);
        drawn_ = true;
    } else {
        fmt::print(stderr, "{}\n", text);
    }
}

void SeedProgress::wipe() {
    if (drawn_) std::fputs("\r\x1b[K", stderr);
    drawn_ = false;
}

}  // namespace assay::cli
