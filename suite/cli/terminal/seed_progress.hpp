// How far a campaign has come, on standard error: a line that is written over on a terminal, now
// and then a line elsewhere.
#pragma once

#include <cstdint>
#include <string>

namespace assay::cli {

class SeedProgress {
  public:
    /// `width`: as of terminal_width(); 0: not a terminal.
    explicit SeedProgress(int width) : width_(width) {}
    ~SeedProgress() { wipe(); }
    SeedProgress(const SeedProgress&) = delete;
    SeedProgress& operator=(const SeedProgress&) = delete;

    struct State {
        std::string what;  ///< "virtual ds"
        std::uint64_t done = 0, all = 0, failed = 0;
        double taken_s = 0;  ///< since the first of them began
    };
    /// Writes where the last line is old enough.
    void on(const State& state);
    /// The terminal's line is empty again; for whoever writes something else.
    void wipe();

    /// "[4200/10000, 0 failed, 12 s left] virtual ds".
    static std::string line(const State& state);

  private:
    int width_;
    bool drawn_ = false;
    std::string last_what_;
    double last_s_ = 0;  ///< taken_s of the newest line
};

}  // namespace assay::cli
