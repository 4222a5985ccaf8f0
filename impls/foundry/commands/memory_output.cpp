#include "impls/foundry/commands/memory_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "impls/foundry/method/memory/size_text.hpp"
#include "suite/base/error.hpp"
#include "suite/report/text/text_page.hpp"

namespace assay::foundry {
namespace {

using Json = nlohmann::ordered_json;

std::uint64_t typed(const std::string& text, std::uint64_t fallback,
                    std::optional<std::uint64_t> (*parse)(std::string_view), const char* option,
                    const char* example) {
    if (text.empty()) return fallback;
    if (const auto value = parse(text)) return *value;
    throw UserError(fmt::format("{}: \"{}\" is no whole number of 64 bits; write it as {}", option,
                                report::printable(text), example));
}

Json to_json(const Range& range) { return {range.lo, range.hi}; }

std::string range_text(const Range& range) {
    return fmt::format("{}–{}", address_text(range.lo), address_text(range.hi));
}

}  // namespace

RegionSettings region_settings(const std::string& base, const std::string& size,
                               const std::string& scratch) {
    const RegionSettings usual;
    const RegionSettings settings{
        .base = typed(base, usual.base, parse_address, "--base", "0x600000000000"),
        .size = typed(size, usual.size, parse_bytes, "--size", "256GiB"),
        .scratch = typed(scratch, usual.scratch, parse_bytes, "--scratch", "1GiB")};
    if (settings.size == 0) throw UserError("--size: the region is empty; give at least 2MiB");
    if (settings.scratch > settings.size)
        throw UserError(
            fmt::format("--scratch: {} do not lie in a region of {}; give less, or a larger --size",
                        binary_bytes_text(settings.scratch), binary_bytes_text(settings.size)));
    if (!settings.valid())
        throw UserError(
            fmt::format("--base, --size: {} from {} on pass the end of 64-bit addresses; give less",
                        binary_bytes_text(settings.size), address_text(settings.base)));
    return settings;
}

Json to_json(std::span<const Range> ranges) {
    Json list = Json::array();
    for (const Range& range : ranges) list.push_back(to_json(range));
    return list;
}

Json to_json(const SavedMemory& saved, const std::optional<LoadVerdict>& load) {
    // Appended as they are: an ordered object looks through all its keys where it is given one.
    Json::object_t address;
    for (const PlacedId& placed : saved.ids) address.emplace_back(placed.id, placed.address);
    Json json{{"address", std::move(address)},
              {"final", saved.final},
              {"live", to_json(std::span<const Range>(saved.live))},
              {"peak_bytes", saved.peak_bytes},
              {"load", nullptr}};
    if (load)
        json["load"] = {{"verdict", to_string(load->verdict)},
                        {"line", load->line ? Json(*load->line) : Json()},
                        {"cursor_equal", load->cursor_equal}};
    return json;
}

Json to_json(std::span<const AuditItem> audit) {
    Json list = Json::array();
    for (const AuditItem& item : audit)
        list.push_back({{"batch", item.batch},
                        {"node", item.node},
                        {"offset", item.offset},
                        {"range", item.range ? to_json(*item.range) : Json()}});
    return list;
}

std::string sentence(const LoadVerdict& load, const TraceNames& names) {
    const std::string at_save = fmt::format("{}:{}", names.save, load.line.value_or(0));
    const std::string at_load = fmt::format("{}:{}", names.load, load.line.value_or(0));
    switch (load.verdict) {
        case Verdict::equal:
            return "equal: LOAD has the addresses of SAVE and ends at the same cursor; its graphs "
                   "can "
                   "be restored";
        case Verdict::drift:
            return fmt::format(
                "drift: LOAD has the addresses of SAVE, but ends at {}, not at {}; one of the two "
                "allocates at its end what the other does not. Allocate the same in both, or after "
                "the region is stopped",
                address_text(load.loaded.lo), address_text(load.saved.lo));
        case Verdict::missing:
            return load.is_window
                       ? fmt::format(
                             "missing: {}: LOAD never loads window {}, so its graph would "
                             "use memory that is not there; load it in its turn",
                             at_save, load.name)
                       : fmt::format(
                             "missing: {}: LOAD never allocates {}, which graphs of SAVE "
                             "may point to; allocate it in its turn",
                             at_save, load.name);
        case Verdict::differs:
            return fmt::format(
                "differs: {}: {} is {} at {} in LOAD and {} at {} in SAVE; restored graphs would "
                "give wrong tokens without an error. From the boundary to that line, look for "
                "the first allocation that only one of them has, or has larger",
                at_load, load.name, binary_bytes_text(load.loaded.hi - load.loaded.lo),
                address_text(load.loaded.lo), binary_bytes_text(load.saved.hi - load.saved.lo),
                address_text(load.saved.lo));
        case Verdict::overrun:
            return fmt::format(
                "overrun: {}: LOAD is at {} already, past {} where window {} begins: it has "
                "allocated {} too much. Allocate that before the boundary, or load windows in the "
                "order of SAVE",
                at_load, address_text(load.loaded.lo), address_text(load.saved.lo), load.name,
                binary_bytes_text(load.loaded.lo - load.saved.lo));
    }
    throw std::logic_error("an unknown verdict");
}

std::string to_text(const SavedMemory& saved, const std::optional<LoadVerdict>& load,
                    const TraceNames& names, std::size_t columns) {
    report::TextPage page(columns);
    page.sentence(
        fmt::format("region of {} at {}, scratch {}; at most {} allocated at once, final cursor {}",
                    binary_bytes_text(saved.settings.size), address_text(saved.settings.base),
                    binary_bytes_text(saved.settings.scratch), binary_bytes_text(saved.peak_bytes),
                    address_text(saved.final)));
    if (load) page.sentence(sentence(*load, names));
    if (!saved.ids.empty()) {
        report::Grid grid{{"ID", "address", "size", "at the end"}};
        for (const PlacedId& placed : saved.ids)
            grid.push_back({placed.id, address_text(placed.address),
                            binary_bytes_text(placed.bytes),
                            placed.reserved ? "reserved"
                            : placed.freed  ? "freed"
                                            : "live"});
        page.empty_line();
        page.table(grid);
    }
    if (!saved.live.empty()) {
        report::Grid grid{{"live at the end", "size"}};
        for (const Range& range : saved.live)
            grid.push_back({range_text(range), binary_bytes_text(range.hi - range.lo)});
        page.empty_line();
        page.table(grid);
    }
    return page.text();
}

std::string to_text(std::span<const AuditItem> audit, std::size_t columns) {
    constexpr std::size_t most_rows = 20;
    report::TextPage page(columns);
    report::Grid grid{{"batch", "node", "offset", "address"}};
    std::size_t dangling = 0;
    for (const AuditItem& item : audit)
        if (!item.range && ++dangling <= most_rows)
            grid.push_back({fmt::format("{}", item.batch), fmt::format("{}", item.node),
                            fmt::format("{}", item.offset), address_text(item.address)});
    page.sentence(fmt::format(
        "addresses of the region in kernel parameters: {}, of them where no memory is live at the "
        "end of SAVE: {}",
        audit.size(), dangling));
    if (dangling == 0) return page.text();
    page.sentence(
        "keep allocated what they point to, or restored graphs use memory that is not "
        "there");
    page.empty_line();
    page.table(grid);
    if (dangling > most_rows) page.line("… and {} more (--json)", dangling - most_rows);
    return page.text();
}

}  // namespace assay::foundry
