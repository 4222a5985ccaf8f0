#include "suite/measure/hardware/device_reading.hpp"

#include <array>
#include <cstddef>

namespace assay::measure {
namespace {

constexpr std::array<std::string_view, 12> names = {"idle",
                                                    "application clocks",
                                                    "power cap",
                                                    "hardware slowdown",
                                                    "sync boost",
                                                    "software thermal",
                                                    "hardware thermal",
                                                    "power brake",
                                                    "display clock",
                                                    "thermal",
                                                    "quota",
                                                    "steal"};

}  // namespace

std::string_view to_string(Throttle reason) { return names[static_cast<std::size_t>(reason)]; }

std::vector<Throttle> throttles_of(unsigned long long event_reasons) {
    std::vector<Throttle> found;
    for (int bit = 0; bit <= static_cast<int>(Throttle::display_clock); ++bit)
        if ((event_reasons >> bit) & 1) found.push_back(static_cast<Throttle>(bit));
    return found;
}

}  // namespace assay::measure
