#include "impls/weights/delta_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "impls/weights/aside_file.hpp"
#include "impls/weights/delta.hpp"

namespace assay::weights {
namespace {

/// Room for one stretch.
using Stretch = std::vector<std::byte>;

Stretch stretch_of(const Layout& layout) {
    return Stretch(std::min<std::uint64_t>(layout.elements(), piece_elements) * element_bytes);
}

/// Calls each(bytes before, bytes after) in the order of the version.
template <class Each>
void each_pair(const WeightsFile& before, const WeightsFile& after, Each&& each) {
    Stretch a = stretch_of(before.layout()), b = a;
    each_stretch(before.layout(), piece_elements,
                 [&](std::size_t tensor, std::uint64_t first, std::uint64_t count) {
                     const auto of_a = std::span(a).first(count * element_bytes);
                     const auto of_b = std::span(b).first(count * element_bytes);
                     before.read(tensor, first, of_a);
                     after.read(tensor, first, of_b);
                     each(of_a, of_b);
                 });
}

}  // namespace

DeltaSize write_delta(const WeightsFile& before, const WeightsFile& after,
                      const std::filesystem::path& delta) {
    if (const std::string other = difference(before.layout(), after.layout()); !other.empty())
        nn::malformed(after.name(), fmt::format("unlike in {}, {}; a delta is between versions of "
                                                "one model: give two of the same names and shapes",
                                                before.name(), other));
    DeltaSize size{.elements = before.layout().elements()};
    each_pair(before, after, [&](auto a, auto b) { size.changed += count_changes(a, b); });
    const OffsetType offsets = offset_type(size.elements);
    size.bytes = delta_bytes(size.changed, offsets);
    AsideFile file(delta);
    DeltaWriter writer(size.changed, offsets,
                       [&](std::uint64_t at, auto bytes) { file.write(at, bytes); });
    each_pair(before, after, [&](auto a, auto b) { writer.add(a, b); });
    writer.finish();
    file.publish();
    return size;
}

DeltaSize write_updated(const WeightsFile& before, const std::filesystem::path& delta,
                        const std::filesystem::path& after) {
    const nn::UntrustedFile changes(delta);
    DeltaReader reader(changes, before.layout().elements());
    AsideFile file(after);
    Stretch bytes(piece_elements * element_bytes);
    for (std::uint64_t at = 0; at < before.header_bytes();) {
        const auto part = std::span(bytes).first(static_cast<std::size_t>(
            std::min<std::uint64_t>(before.header_bytes() - at, bytes.size())));
        before.read_header(at, part);
        file.write(at, part);
        at += part.size();
    }
    each_stretch(before.layout(), piece_elements,
                 [&](std::size_t tensor, std::uint64_t first, std::uint64_t count) {
                     const auto part = std::span(bytes).first(count * element_bytes);
                     before.read(tensor, first, part);
                     reader.replace(part);
                     file.write(before.place(tensor, first), part);
                 });
    reader.check_rest();
    file.publish();
    return {.elements = before.layout().elements(),
            .changed = reader.changed(),
            .bytes = changes.size()};
}

}  // namespace assay::weights
