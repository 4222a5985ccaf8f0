#include "impls/foundry/method/ready_time.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "suite/base/error.hpp"
#include "suite/base/quantity_text.hpp"

namespace assay::foundry {
namespace {

constexpr std::array<std::pair<std::string_view, double Costs::*>, 7> named{
    {{"capture", &Costs::capture},
     {"build", &Costs::build},
     {"instantiate", &Costs::instantiate},
     {"rewrite", &Costs::rewrite},
     {"prepare", &Costs::prepare},
     {"images", &Costs::images},
     {"update", &Costs::update}}};

double& cost(Costs& costs, std::string_view name) {
    std::vector<std::string> known;
    for (const auto& [word, member] : named) {
        if (word == name) return costs.*member;
        known.emplace_back(word);
    }
    const auto nearest = nearest_id(name, known);
    throw UserError(fmt::format("--costs: '{}' is no cost; {}known are {}", name,
                                nearest ? fmt::format("did you mean {}? ", *nearest) : "",
                                fmt::join(known, ", ")));
}

double seconds(std::string_view name, std::string_view text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end || !std::isfinite(value) || value < 0)
        throw UserError(fmt::format(
            "--costs {}: '{}' is no number of seconds; give a finite one that is not negative",
            name, text));
    return value;
}

std::int64_t thread_count(std::string_view text) {
    const std::optional<std::int64_t> count = whole_number(text);
    if (!count || *count < 1)
        throw UserError(fmt::format("--threads '{}': give a whole number from 1", text));
    return *count;
}

}  // namespace

Costs parse_costs(std::string_view text, std::string_view threads) {
    Costs costs{.threads = thread_count(threads)};
    std::set<std::string_view> seen;
    for (bool more = true; more;) {
        const std::size_t comma = text.find(',');
        more = comma != std::string_view::npos;
        const std::string_view item = text.substr(0, comma);
        if (more) text.remove_prefix(comma + 1);
        const std::size_t equals = item.find('=');
        if (equals == std::string_view::npos)
            throw UserError(fmt::format(
                "--costs: '{}' is no NAME=SECONDS; give for example capture=0.06,build=0.03",
                item));
        const std::string_view name = item.substr(0, equals);
        double& value = cost(costs, name);
        if (!seen.insert(name).second)
            throw UserError(fmt::format("--costs: '{}' stands twice; give it once", name));
        value = seconds(name, item.substr(equals + 1));
    }
    return costs;
}

ReadyTimes ready_times(const Costs& costs, std::size_t graphs, std::size_t groups) {
    if (groups > graphs || costs.threads < 1)
        throw std::logic_error("ready_times: more groups than graphs, or no thread");
    const std::size_t members = graphs - groups, threads = static_cast<std::size_t>(costs.threads);
    const std::size_t rounds = members / threads + (members % threads != 0);
    const double all = static_cast<double>(graphs);
    const double built = costs.build + costs.instantiate;
    const double lazy = costs.images + std::max(static_cast<double>(groups) * built,
                                                static_cast<double>(rounds) * costs.prepare);
    return {.capture = all * costs.capture,
            .no_templates = costs.images + all * built,
            .r1 = lazy,
            .r3_lazy = lazy,
            .r3_eager = lazy + static_cast<double>(members) * (costs.rewrite + costs.instantiate)};
}

}  // namespace assay::foundry
