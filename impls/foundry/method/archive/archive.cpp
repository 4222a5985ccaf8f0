#include "impls/foundry/method/archive/archive.hpp"

#include <fmt/format.h>

#include "suite/base/sha256.hpp"

namespace assay::foundry {
namespace {

namespace fs = std::filesystem;

std::string_view text_of(const Bytes& file) {
    return {reinterpret_cast<const char*>(file.view().data()), file.view().size()};
}

}  // namespace

Archive::Archive(const fs::path& folder)
    : images_file_(Bytes::zeros(0)),
      graphs_file_(Bytes::zeros(0)),
      deltas_file_(Bytes::zeros(0)),
      trace_file_(Bytes::zeros(0)) {
    const auto path = [&](std::string_view name) { return (folder / name).string(); };
    const auto map = [&](std::string_view name) {
        Bytes file = Bytes::of_file(path(name));
        bytes_ += file.size();
        return file;
    };
    Bytes index = Bytes::zeros(0);
    const Bytes sums = map("manifest.sha256"), manifest = map("manifest.json");
    std::string expected = sum_line(sha256_hex(text_of(manifest)), "manifest.json");
    if (!text_of(sums).starts_with(expected))
        throw DamagedArchive(path("manifest.json"), "its SHA-256 is not that of manifest.sha256");
    manifest_ = read_manifest(text_of(manifest), path("manifest.json"));
    for (const auto& [name, bytes, sha256] : manifest_.files) {
        Bytes* const file = name == "deltas.bin"     ? &deltas_file_
                            : name == "graphs.bin"   ? &graphs_file_
                            : name == "images.bin"   ? &images_file_
                            : name == "images.idx"   ? &index
                            : name == "memory.trace" ? &trace_file_
                                                     : nullptr;
        if (file == nullptr)
            throw DamagedArchive(path("manifest.json"),
                                 "it names files that are not of an archive");
        *file = map(name);
        if (file->size() != bytes)
            throw DamagedArchive(path(name),
                                 fmt::format("it has {} bytes instead of {}", file->size(), bytes));
        if (sha256_hex(text_of(*file)) != sha256)
            throw DamagedArchive(path(name), "its SHA-256 is not that of manifest.json");
        expected += sum_line(sha256, name);
    }
    if (text_of(sums) != expected)
        throw DamagedArchive(path("manifest.sha256"), "it is not what manifest.json says");
    images_ = read_image_index(index.view(), path("images.idx"), images_file_.size());
    graphs_ = std::make_unique<const GraphStore>(
        SectionFile(graphs_file_.view(), graphs_magic, path("graphs.bin")),
        SectionFile(deltas_file_.view(), deltas_magic, path("deltas.bin")));
}

std::optional<std::string_view> Archive::trace() const {
    if (trace_file_.size() == 0) return std::nullopt;
    return text_of(trace_file_);
}

}  // namespace assay::foundry
