// Orders of a pool as lines, to be compared and read.
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <vector>

#include "impls/decode/pool/pool.hpp"

namespace assay::decode {

using Lines = std::vector<std::string>;

inline std::string text(const Give& give) {
    std::string line = fmt::format("give {} to {} as {}", give.request, give.seat, give.attempt);
    if (give.from > 0) line += fmt::format(" from {}", give.from);
    if (give.handle != 0) line += fmt::format(" with state {}", give.handle);
    return line;
}
inline std::string text(const Remove& remove) {
    return fmt::format("remove {} from {}", remove.attempt, remove.seat);
}
inline std::string text(const Export& wanted) {
    return fmt::format("export {} from {}{}", wanted.attempt, wanted.seat,
                       wanted.with_cache ? " with cache" : "");
}
inline std::string text(const Discard& discard) {
    return fmt::format("discard state {}", discard.handle);
}
inline std::string text(const Unkeep& unkeep) {
    return fmt::format("unkeep {} on {}", unkeep.kept, unkeep.seat);
}
inline std::string text(const Done& done) {
    constexpr const char* names[] = {"ended", "cancelled", "failed", "dropped"};
    return fmt::format("{} is {}", done.request, names[static_cast<int>(done.how)]);
}

inline Lines lines(std::span<const Order> orders) {
    Lines lines;
    for (const Order& order : orders)
        lines.push_back(std::visit([](const auto& each) { return text(each); }, order));
    return lines;
}

}  // namespace assay::decode
