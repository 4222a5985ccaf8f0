// Lines of SmartMoE's logs: any bytes give counts that another parser (JSON) reads there too and
// that keep the promised sums, or a DataError that names the column; printed again, a line reads as
// itself.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <string_view>

#include "impls/lazarus/data/smartmoe_logs.hpp"

namespace {

using assay::lazarus::SmartmoeLine;

constexpr assay::lazarus::SmartmoeLogs logs{
    .layers = 12, .micro_batches = 2, .experts = 3, .tokens = 10};

void require(bool fact) {
    if (!fact) std::abort();
}

void check(const SmartmoeLine& parsed, std::string_view line) {
    require(parsed.layer < logs.layers && parsed.counts.size() == 6);
    for (const auto* list : {&parsed.counts[0], &parsed.counts[3]})
        require(std::accumulate(list, list + 3, std::uint64_t{0}) == logs.tokens);
    const auto lists = nlohmann::json::parse(line.substr(line.find(':') + 1));
    std::string again = std::to_string(parsed.layer) + ":[";
    for (std::size_t i = 0; i < 6; ++i) {
        require(lists.at(i / 3).at(i % 3).get<double>() == static_cast<double>(parsed.counts[i]));
        again += (i == 0 ? "[" : i == 3 ? "], [" : ", ") + std::to_string(parsed.counts[i]) + ".0";
    }
    SmartmoeLine second;
    parse_smartmoe_line(again + "]]", logs, second);
    require(second.layer == parsed.layer && second.counts == parsed.counts);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view line(reinterpret_cast<const char*>(data), size);
    SmartmoeLine parsed;
    try {
        parse_smartmoe_line(line, logs, parsed);
    } catch (const assay::data::DataError& error) {
        require(std::string_view(error.what()).starts_with("column "));
        return 0;
    }
    check(parsed, line);
    return 0;
}
