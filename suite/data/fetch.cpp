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
#include "suite/data/check.hpp"
#include "suite/data/program_output.hpp"
#include "suite/data/verses.hpp"
#include "suite/store/sha256.hpp"

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

std::string install_advice(const DebianSource& source) {
    return fmt::format("install it with `apt-get install {}` (as root, Debian 12) and repeat",
                       source.package);
}

std::string extract(const Entry& entry) {
    const DebianSource& source = *entry.debian;
    ProgramOutput output = output_of(source.command);
    if (!output.started)
        throw DataError(
            fmt::format("{}: the program \"{}\" is missing: the Debian package {} is not "
                        "installed; {}",
                        entry.id, source.command[0], source.package, install_advice(source)));
    if (output.status != 0)
        throw DataError(
            fmt::format("{}: \"{}\" failed with status {}: the Debian package {} is "
                        "incomplete or not installed; {}",
                        entry.id, fmt::join(source.command, " "), output.status, source.package,
                        install_advice(source)));
    if (!source.verses) return std::move(output.bytes);
    try {
        return without_references(output.bytes);
    } catch (const DataError& error) {
        throw DataError(fmt::format("{}: output of \"{}\", {}", entry.id,
                                    fmt::join(source.command, " "), error.what()));
    }
}

/// Makes the file out of a folder of the user's.
void sum_folder(const Entry& entry, const fs::path& folder, const PartFile& part,
                const FileProgress& progress) {
    if (!entry.smartmoe_logs)
        throw DataError(
            fmt::format("{}: {} is a folder; give the file", entry.id, folder.string()));
    part.write([&](std::ostream& out) {
        try {
            sum_smartmoe_logs(folder, *entry.smartmoe_logs, out, progress);
        } catch (const DataError& error) {
            throw DataError(fmt::format("{}: {} (the logs are those of {})", entry.id, error.what(),
                                        entry.origin));
        }
    });
}

void fill(const Entry& entry, const std::optional<fs::path>& from, const PartFile& part,
          const FileProgress& progress) {
    if (from && fs::is_directory(*from)) {
        sum_folder(entry, *from, part, progress);
    } else if (from) {
        if (!fs::is_regular_file(*from))
            throw DataError(fmt::format("{}: {} is not a file{}", entry.id, from->string(),
                                        entry.smartmoe_logs ? " or folder" : ""));
        fs::copy_file(*from, part.path(), fs::copy_options::overwrite_existing);
    } else if (entry.debian) {
        part.write(extract(entry));
    } else {
        throw DataError(
            fmt::format("{0} comes from {1}, and Assay does not download it: {2}; then give the "
                        "{3} with assay data fetch {0} --from {4}",
                        entry.id, entry.origin, entry.obtain,
                        entry.smartmoe_logs ? "folder of logs or the file that sums them" : "file",
                        entry.smartmoe_logs ? "PATH" : "FILE"));
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
        {"origin", entry.origin}, {"format", to_string(entry.format)},
        {"sha256", hash},         {"size_bytes", fs::file_size(file)},
        {"fetched", fetched}};
    const PartFile part(manifest_of(file));
    part.write(manifest.dump(2) + "\n");
    part.finish();
}

fs::path fetch_into_folder(const Entry& entry, const std::optional<fs::path>& from,
                           const FileProgress& progress) {
    const fs::path file = folder() / entry.file;
    if (check(entry).state == State::ok && fs::exists(manifest_of(file))) return file;
    fs::create_directories(file.parent_path());
    const PartFile part(file);
    fill(entry, from, part, progress);
    const Check made = check_file(entry, part.path());
    if (made.state != State::ok) {
        const std::string where =
            from ? from->string() : "the data of package " + entry.debian->package;
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
               const FileProgress& progress) {
    const Entry& entry = find(id);
    try {
        return fetch_into_folder(entry, from, progress);
    } catch (const std::system_error& error) {
        throw DataError(
            fmt::format("{}: {}. ASSAY_DATA names another data folder", id, error.what()));
    }
}

}  // namespace assay::data
