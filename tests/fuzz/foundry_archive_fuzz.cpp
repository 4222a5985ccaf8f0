// Archives without their hashes: any bytes as a file of an archive, and any bytes as the sections
// of otherwise right files, give graphs that lie within them, or a DamagedArchive. Any bytes as a
// manifest give tags of ranks that can be, or a refusal.
//
// Sections: a byte with its id (that of deltas.bin plus 64), two with its length, its content.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <span>
#include <vector>

#include "impls/foundry/method/archive/byte_stream.hpp"
#include "impls/foundry/method/archive/graph_store.hpp"
#include "impls/foundry/method/archive/image_index.hpp"
#include "impls/foundry/method/archive/manifest.hpp"
#include "suite/base/error.hpp"

namespace {

using namespace assay::foundry;
using ByteVector = std::vector<std::byte>;

void require(bool fact) {
    if (!fact) std::abort();
}

/// The sections with ids above `offset`, as a file; those that a store asks for are all there.
ByteVector file_of(std::span<const std::byte> input, std::string_view magic, std::uint8_t offset,
                   std::uint8_t last) {
    std::map<std::uint8_t, std::span<const std::byte>> sections;
    for (std::uint8_t id = 1; id <= last; ++id) sections[id] = {};
    while (input.size() >= 3) {
        const auto id = static_cast<std::uint8_t>(std::to_integer<unsigned>(input[0]) - offset);
        const std::size_t bytes =
            std::to_integer<std::size_t>(input[1]) | std::to_integer<std::size_t>(input[2]) << 8;
        input = input.subspan(3);
        const auto content = input.first(std::min(bytes, input.size()));
        if (id >= 1 && id <= last) sections[id] = content;
        input = input.subspan(content.size());
    }
    SectionWriter writer(magic);
    for (const auto& [id, content] : sections) writer.add(id, content);
    ByteVector file;
    writer.write([&](auto bytes) { file.insert(file.end(), bytes.begin(), bytes.end()); });
    return file;
}

void read_all(const ByteVector& graphs, const ByteVector& deltas) {
    try {
        const GraphStore store(SectionFile(graphs, graphs_magic, "graphs.bin"),
                               SectionFile(deltas, deltas_magic, "deltas.bin"));
        PreparedGraph prepared;
        for (std::size_t i = 0; i < store.size(); ++i) {
            try {
                store.prepare(i, prepared);
                require(prepared.params.size() <= graphs.size() + 8 * deltas.size());
                unsigned sum = 0;
                for (std::size_t node = 0; node < prepared.nodes.type.size(); ++node)
                    for (const std::byte byte : prepared.params_of(node))
                        sum += std::to_integer<unsigned>(byte);
                const Graph graph = store.graph(i);
                require(graph.batch == store.batch(i) && sum < 256 * (prepared.params.size() + 1));
                for (const Edge& edge : graph.edges)
                    require(edge.from < graph.nodes.size() && edge.to < graph.nodes.size());
            } catch (const DamagedArchive&) {
                // This graph alone: others may be whole.
            }
        }
    } catch (const DamagedArchive&) {
        // Said, not crashed.
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    const ByteVector whole(bytes.begin(), bytes.end());  // aligned, as a mapped file is
    const auto graphs = static_cast<std::uint8_t>(GraphSection::params);
    const auto deltas = static_cast<std::uint8_t>(DeltaSection::words);
    read_all(file_of(whole, graphs_magic, 0, graphs), file_of(whole, deltas_magic, 64, deltas));
    read_all(whole, file_of({}, deltas_magic, 64, deltas));
    try {
        for (const StoredImage& image : read_image_index(whole, "images.idx", 1000))
            require(image.offset + image.bytes <= 1000);
    } catch (const DamagedArchive&) {
        // Said, not crashed.
    }
    try {
        const Manifest manifest =
            read_manifest({reinterpret_cast<const char*>(data), size}, "manifest.json");
        require(!manifest.ranks || mistake(*manifest.ranks).empty());
    } catch (const assay::UserError&) {
        // Said, not crashed.
    }
    return 0;
}
