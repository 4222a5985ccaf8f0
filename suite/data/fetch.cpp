#include "suite/data/fetch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <system_error>

#include "suite/base/durable_file.hpp"
#include "suite/base/sha256.hpp"
#include "suite/data/check.hpp"
#include "suite/data/debian_package.hpp"

namespace assay::data {

namespace {

namespace fs = std::filesystem;

/// A file under a name nobody reads, until it is complete and checked; removed unless it gets its
/// final name.
class PartFile {
  public:
    explicit PartFile(fs::path final_name)
        : final_(std::move(final_name)),
          part_(final_.parent_path() /
                fmt::format(".{}.{}.part", final_.filename().string(), getpid())) {}
    ~PartFile() {
        std::error_code ignored;
        fs::remove(part_, ignored);
    }
    PartFile(const PartFile&) = delete;
    PartFile& operator=(const PartFile&) = delete;

    const fs::path& path() const { return part_; }

    void write(std::string_view bytes) const {
        write([&](std::ostream& out) {
            out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        });
    }

    void write(const std::function<void(std::ostream&)>& put) const {
        std::ofstream out(part_, std::ios::binary | std::ios::trunc);
        put(out);
        out.close();
        if (!out)
            throw DataError(
                fmt::format("{} cannot be written: is the disk full or the folder "
                            "read-only? ASSAY_DATA names another folder",
                            part_.string()));
    }

    void finish() const { publish(part_, final_); }

  private:
    fs::path final_, part_;
};

/// Where the data is to come from, if not out of a package.
struct UsersPath {
    std::optional<fs::path> path;
    const DataConverters& converters;
    const DataFormats& formats;
    const FileProgress& progress;
};

/// Makes the file out of a folder of the user's.
void convert_folder(const Entry& entry, const UsersPath& from, const PartFile& part) {
    if (!entry.folder)
        throw DataError(
            fmt::format("{}: {} is a folder; give the file", entry.id, from.path->string()));
    const auto converter = from.converters.find(entry.folder->converter);
    if (converter == from.converters.end())
        throw DataError(
            fmt::format("{}: {} is a folder, and this build has no converter \"{}\"; "
                        "give the file",
                        entry.id, from.path->string(), entry.folder->converter));
    part.write([&](std::ostream& out) {
        try {
            converter->second(entry, *from.path, out, from.progress);
        } catch (const DataError& error) {
            throw DataError(fmt::format("{}: {}", entry.id, error.what()));
        }
    });
}

void fill(const Entry& entry, const UsersPath& from, const PartFile& part) {
    if (from.path && fs::is_directory(*from.path)) {
        convert_folder(entry, from, part);
    } else if (from.path) {
        if (!fs::is_regular_file(*from.path))
            throw DataError(fmt::format("{}: {} is not a file{}", entry.id, from.path->string(),
                                        entry.folder ? " or folder" : ""));
        fs::copy_file(*from.path, part.path(), fs::copy_options::overwrite_existing);
    } else if (entry.debian) {
        part.write(out_of_package(entry));
    } else {
        throw DataError(fmt::format(
            "{0} comes from {1}, and Assay does not download it: {2}; then give the "
            "{3} with assay data fetch {0} --from {4}",
            entry.id, entry.origin, entry.obtain, entry.folder ? entry.folder->called : "file",
            entry.folder ? "PATH" : "FILE"));
    }
}

void write_manifest(const Entry& entry, const fs::path& file, std::string_view hash) {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    char fetched[sizeof "2000-01-01T00:00:00Z"];
    std::tm utc{};
    gmtime_r(&now, &utc);
    std::strftime(fetched, sizeof fetched, "%Y-%m-%dT%H:%M:%SZ", &utc);
    const nlohmann::ordered_json manifest = {
        {"id", entry.id},         {"kind", to_string(entry.kind)},
        {"says", entry.says},     {"licence", entry.licence},
        {"origin", entry.origin}, {"format", entry.format},
        {"sha256", hash},         {"size_bytes", fs::file_size(file)},
        {"fetched", fetched}};
    const PartFile part(manifest_of(file));
    part.write(manifest.dump(2) + "\n");
    part.finish();
}

fs::path fetch_into_folder(const Entry& entry, const UsersPath& from) {
    const fs::path file = folder() / entry.file;
    if (check(entry, from.formats).state == State::ok && fs::exists(manifest_of(file))) return file;
    fs::create_directories(file.parent_path());
    const PartFile part(file);
    fill(entry, from, part);
    const Check made = check_file(entry, part.path(), from.formats);
    if (made.state != State::ok) {
        const std::string where =
            from.path ? from.path->string() : "the data of package " + entry.debian->package;
        throw DataError(fmt::format("{}: {} is not what the catalogue describes: {}. Known is {}",
                                    entry.id, where, made.says, entry.origin));
    }
    const std::string hash = sha256_file_hex(part.path());
    part.finish();
    write_manifest(entry, file, hash);
    return file;
}

}  // namespace

fs::path manifest_of(const fs::path& file) { return file.string() + ".manifest.json"; }

fs::path fetch(std::string_view id, const std::optional<fs::path>& from,
               const DataConverters& converters, const DataFormats& formats,
               const FileProgress& progress) {
    const Entry& entry = find(id);
    try {
        return fetch_into_folder(entry, {from, converters, formats, progress});
    } catch (const std::system_error& error) {
        throw DataError(
            fmt::format("{}: {}. ASSAY_DATA names another data folder", id, error.what()));
    }
}

}  // namespace assay::data
