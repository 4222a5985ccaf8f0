#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "impls/foundry/method/archive/archive.hpp"
#include "suite/base/durable_file.hpp"
#include "suite/base/error.hpp"
#include "suite/base/sha256.hpp"

namespace assay::foundry {
namespace {

namespace fs = std::filesystem;

/// A file of the archive that is being written; its length and SHA-256 are counted on the way.
class NewFile {
  public:
    explicit NewFile(const fs::path& file) : file_(file), out_(file, std::ios::binary) { check(); }

    void write(std::span<const std::byte> bytes) {
        const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        out_.write(text.data(), static_cast<std::streamsize>(text.size()));
        check();
        hash_.update(text);
        bytes_ += text.size();
    }
    std::uint64_t bytes() const { return bytes_; }
    FileRecord close() {
        out_.close();
        check();
        return {.name = file_.filename().string(), .bytes = bytes_, .sha256 = hash_.hex()};
    }

  private:
    void check() const {
        if (!out_)
            throw fs::filesystem_error("writing failed", file_, {errno, std::generic_category()});
    }

    fs::path file_;
    std::ofstream out_;
    Sha256 hash_;
    std::uint64_t bytes_ = 0;
};

/// The folder beside, which goes unless it got its name.
class FolderAside {
  public:
    explicit FolderAside(fs::path path) : path_(std::move(path)) { fs::create_directory(path_); }
    ~FolderAside() {
        std::error_code error;
        if (!published_) fs::remove_all(path_, error);
    }
    FolderAside(const FolderAside&) = delete;
    FolderAside& operator=(const FolderAside&) = delete;

    const fs::path& path() const { return path_; }
    void publish_as(const fs::path& name) {
        publish(path_, name);
        published_ = true;
    }

  private:
    fs::path path_;
    bool published_ = false;
};

/// Without the slash that shells complete folders with.
fs::path without_slash(const fs::path& folder) {
    return folder.has_filename() ? folder : folder.parent_path();
}

/// Where an archive is written before it gets its name.
fs::path aside_of(const fs::path& folder) {
    const fs::path name = without_slash(folder);
    return name.parent_path() / fmt::format(".{}.assay-part", name.filename().string());
}

std::vector<StoredImage> write_images(const std::vector<ImageToStore>& images, NewFile& file) {
    std::vector<StoredImage> stored;
    const ByteSink sink = [&](auto bytes) { file.write(bytes); };
    constexpr std::byte end{0};
    for (const ImageToStore& each : images) {
        stored.push_back({.sha256 = each.sha256,
                          .offset = file.bytes(),
                          .bytes = each.content.size(),
                          .image = each.image});
        sink(each.content);
        sink(std::span(&end, 1));
        pad(sink, file.bytes());
    }
    return stored;
}

void write_files(const fs::path& folder, const ArchiveContent& content, const WriteStep& step) {
    Manifest manifest{.fingerprint = content.fingerprint,
                      .region = content.region,
                      .golden = content.golden,
                      .ranks = content.ranks,
                      .files = {}};
    const auto write = [&](const char* name, const std::function<void(NewFile&)>& fill) {
        if (step) step(folder / name);
        NewFile file(folder / name);
        fill(file);
        manifest.files.push_back(file.close());
    };
    const auto write_text = [](const std::string& text) {
        return [&text](NewFile& file) { file.write(std::as_bytes(std::span(text))); };
    };
    const auto sink_of = [](NewFile& file) {
        return [&file](std::span<const std::byte> bytes) { file.write(bytes); };
    };
    std::vector<StoredImage> stored;
    write("deltas.bin", [&](NewFile& file) { content.graphs.write_deltas(sink_of(file)); });
    write("graphs.bin", [&](NewFile& file) { content.graphs.write_graphs(sink_of(file)); });
    write("images.bin", [&](NewFile& file) { stored = write_images(content.images, file); });
    write("images.idx", [&](NewFile& file) { write_image_index(stored, sink_of(file)); });
    if (!content.trace.empty()) write("memory.trace", write_text(content.trace));
    std::string sums;
    for (const FileRecord& file : manifest.files) sums += sum_line(file.sha256, file.name);
    const std::string text = to_text(manifest, content.graphs);
    write("manifest.json", write_text(text));
    sums.insert(0, sum_line(manifest.files.back().sha256, manifest.files.back().name));
    write("manifest.sha256", write_text(sums));
}

}  // namespace

void refuse_existing(const fs::path& folder) {
    if (fs::symlink_status(without_slash(folder)).type() != fs::file_type::not_found)
        throw UserError(fmt::format("{} is there already; give another name, or remove it first",
                                    folder.string()));
    if (const std::string why = missing_folder(without_slash(folder)); !why.empty())
        throw UserError(fmt::format("{} cannot be made: {}", folder.string(), why));
}

void remove_unfinished(const fs::path& folder) { fs::remove_all(aside_of(folder)); }

void write_archive(const fs::path& folder, const ArchiveContent& content, const WriteStep& step) {
    refuse_existing(folder);
    const fs::path name = without_slash(folder);
    try {
        remove_unfinished(folder);
        FolderAside aside(aside_of(folder));
        write_files(aside.path(), content, step);
        if (step) step(name);
        aside.publish_as(name);
    } catch (const std::system_error& error) {
        throw UserError(fmt::format("{} cannot be written: {}", folder.string(), error.what()));
    }
}

}  // namespace assay::foundry
