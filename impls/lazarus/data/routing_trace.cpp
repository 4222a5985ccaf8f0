#include "impls/lazarus/data/routing_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <system_error>

#include "suite/base/error.hpp"
#include "suite/base/input_file.hpp"

namespace assay::lazarus {
namespace {

constexpr std::size_t most_experts = 65536;

class TraceLines {
  public:
    TraceLines(std::string_view text, std::string_view name) : text_(text), name_(name) {}

    // The next line without its end (LF or CR LF), or false at the end of the text.
    bool next(std::string_view& line) {
        if (at_ >= text_.size()) return false;
        const std::size_t end = std::min(text_.find('\n', at_), text_.size());
        line = text_.substr(at_, end - at_);
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        at_ = end + 1;
        ++number_;
        return true;
    }

    [[noreturn]] void fail(const std::string& what) const {
        throw UserError(fmt::format("{}:{}: {}", name_, number_, what));
    }

  private:
    std::string_view text_, name_;
    std::size_t at_ = 0, number_ = 0;
};

std::vector<std::string_view> fields_of(std::string_view line) {
    std::vector<std::string_view> fields;
    for (;;) {
        const std::size_t comma = line.find(',');
        fields.push_back(line.substr(0, comma));
        if (comma == std::string_view::npos) return fields;
        line.remove_prefix(comma + 1);
    }
}

std::size_t experts_in_header(const std::vector<std::string_view>& header,
                              const TraceLines& reader) {
    if (header.size() < 3 || header[0] != "iteration" || header[1] != "layer") {
        reader.fail("expected the header iteration,layer,e0,e1,…");
    }
    const std::size_t experts = header.size() - 2;
    if (experts > most_experts)
        reader.fail(fmt::format("{} experts: at most {}", experts, most_experts));
    for (std::size_t e = 0; e < experts; ++e) {
        if (header[e + 2] != fmt::format("e{}", e)) {
            reader.fail(fmt::format("column {} of the header should be e{}", e + 3, e));
        }
    }
    return experts;
}

std::int64_t count_in(std::string_view field, std::size_t column, const TraceLines& reader) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc{} || end != field.data() + field.size() || value < 0) {
        reader.fail(fmt::format("field {} is not a non-negative integer below 2^63", column + 1));
    }
    return value;
}

}  // namespace

RoutingTrace RoutingTrace::parse(std::string_view csv, std::string_view name) {
    TraceLines reader(csv, name);
    std::string_view line;
    if (!reader.next(line))
        throw UserError(fmt::format("{}: empty; expected a routing trace", name));
    const std::size_t experts = experts_in_header(fields_of(line), reader);

    RoutingTrace trace;
    trace.experts_ = static_cast<int>(experts);
    while (reader.next(line)) {
        if (line.empty()) continue;
        const std::vector<std::string_view> fields = fields_of(line);
        if (fields.size() != experts + 2) {
            reader.fail(fmt::format("{} fields, the header has {}", fields.size(), experts + 2));
        }
        const std::int64_t iteration = count_in(fields[0], 0, reader);
        const std::int64_t layer = count_in(fields[1], 1, reader);
        Loads loads(experts);
        for (std::size_t e = 0; e < experts; ++e) loads[e] = count_in(fields[e + 2], e + 2, reader);
        if (!trace.rows_[iteration].emplace(layer, std::move(loads)).second) {
            reader.fail(fmt::format("iteration {}, layer {} a second time", iteration, layer));
        }
    }
    if (trace.rows_.empty()) throw UserError(fmt::format("{}: a header but no rows", name));
    return trace;
}

std::int64_t RoutingTrace::nearest_before(std::int64_t iteration) const {
    const auto after = rows_.upper_bound(iteration);
    return after == rows_.begin() ? after->first : std::prev(after)->first;
}

std::vector<std::int64_t> RoutingTrace::iterations() const {
    std::vector<std::int64_t> all;
    for (const auto& [iteration, layers] : rows_) all.push_back(iteration);
    return all;
}

std::vector<Loads> RoutingTrace::at(std::int64_t iteration, int layers) const {
    const auto row = rows_.find(iteration);
    if (row == rows_.end()) {
        throw UserError(fmt::format("the routing trace has no iteration {}; it covers {} to {}",
                                    iteration, rows_.begin()->first, rows_.rbegin()->first));
    }
    std::vector<Loads> loads;
    for (std::int64_t layer = 0; layer < layers; ++layer) {
        const auto found = row->second.find(layer);
        if (found == row->second.end()) {
            throw UserError(
                fmt::format("the routing trace has no layer {} at iteration {}", layer, iteration));
        }
        loads.push_back(found->second);
    }
    return loads;
}

RoutingTrace read_routing_trace(const std::filesystem::path& file) {
    const auto csv = read_text_file(file);
    if (!csv) throw UserError(fmt::format("cannot read the routing trace {}", file.string()));
    return RoutingTrace::parse(*csv, file.string());
}

Loads most_loaded(const Loads& loads, int count) {
    if (count < 1 || static_cast<std::size_t>(count) > loads.size()) {
        throw UserError(fmt::format("the {} most loaded of {} experts", count, loads.size()));
    }
    std::vector<std::size_t> order(loads.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return loads[a] > loads[b]; });
    order.resize(static_cast<std::size_t>(count));
    std::sort(order.begin(), order.end());
    Loads kept;
    for (std::size_t e : order) kept.push_back(loads[e]);
    return kept;
}

}  // namespace assay::lazarus
