// See figure_style.hpp.
#include "suite/report/figure_style.hpp"

#include <array>

namespace assay::report {
namespace {

constexpr std::array<std::string_view, palette_size> light{
    "#0072b2", "#d55e00", "#009e73", "#b04a8f", "#c98500", "#3a9bdc", "#7a5c2e", "#555555"};
constexpr std::array<std::string_view, 4> dashes{"", "6 3", "2 3", "8 3 2 3"};

}  // namespace

std::string_view series_colour(std::size_t slot) { return light[slot % light.size()]; }
std::string_view series_dash(std::size_t slot) { return dashes[slot % dashes.size()]; }

std::string_view figure_style_sheet() {
    return R"(<style>
@media screen and (prefers-color-scheme: dark) {
.fig-background{fill:#15181d}.fig-text{fill:#e4e7eb}.fig-muted{fill:#a3abb5}
.fig-text-line{stroke:#c6ccd3}.fig-muted-line{stroke:#7d8691}.fig-grid-line{stroke:#2c323a}.fig-grid{fill:#2c323a}
.fig-background-line{stroke:#15181d}
.fig-0{fill:#4da9e8}.fig-1{fill:#ff8a3d}.fig-2{fill:#2fc89c}.fig-3{fill:#e08ac4}.fig-4{fill:#f0b03c}.fig-5{fill:#8fcdf7}.fig-6{fill:#c9a56b}.fig-7{fill:#b8b8b8}
.fig-0-line{stroke:#4da9e8}.fig-1-line{stroke:#ff8a3d}.fig-2-line{stroke:#2fc89c}.fig-3-line{stroke:#e08ac4}.fig-4-line{stroke:#f0b03c}.fig-5-line{stroke:#8fcdf7}.fig-6-line{stroke:#c9a56b}.fig-7-line{stroke:#b8b8b8}
}
</style>)";
}

}  // namespace assay::report
