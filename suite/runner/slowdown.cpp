#include "suite/runner/slowdown.hpp"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

#include "suite/runner/plan_hash.hpp"

namespace assay::runner {
namespace {

constexpr std::string_view slowdown_order = "slowdown=";
constexpr std::string_view between_orders = "; ";

}  // namespace

std::string slowed_scenario(const std::string& scenario, double factor) {
    if (!(factor >= 1 && factor <= largest_slowdown))
        throw std::invalid_argument(
            fmt::format("slowdown {}: a factor from 1 to {}", factor, largest_slowdown));
    if (slowdown_of(scenario).factor != 1)
        throw std::invalid_argument(fmt::format("'{}' is slowed already", scenario));
    if (factor == 1) return scenario;
    std::string order = fmt::format("{}", factor);
    if (const std::string usual = fmt::format("{:.2f}", factor); std::stod(usual) == factor)
        order = usual;
    return fmt::format("{}{}{}{}", scenario, scenario.empty() ? "" : between_orders, slowdown_order,
                       order);
}

Slowdown slowdown_of(std::string_view scenario) {
    const Slowdown honest{std::string(scenario), 1};
    const std::size_t at = scenario.rfind(slowdown_order);
    if (at == std::string_view::npos) return honest;
    std::string_view before = scenario.substr(0, at);
    if (!before.empty()) {
        if (!before.ends_with(between_orders)) return honest;
        before.remove_suffix(between_orders.size());
    }
    const std::string_view number = scenario.substr(at + slowdown_order.size());
    double factor = 0;
    const char* const end = number.data() + number.size();
    const auto [stop, error] = std::from_chars(number.data(), end, factor);
    if (error != std::errc{} || stop != end || !(factor > 1 && factor <= largest_slowdown))
        return honest;
    return {std::string(before), factor};
}

void slow_down(Plan& plan, double factor) {
    for (PlannedSample& sample : plan.samples)
        sample.spec.scenario = slowed_scenario(sample.spec.scenario, factor);
    plan.hash = plan_hash(plan.samples);
}

}  // namespace assay::runner
