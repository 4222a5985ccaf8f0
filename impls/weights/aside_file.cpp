#include "impls/weights/aside_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "suite/base/durable_file.hpp"
#include "suite/base/error.hpp"

namespace assay::weights {
namespace fs = std::filesystem;

AsideFile::AsideFile(fs::path path) : path_(std::move(path)), name_(path_) {
    std::error_code error;
    if (fs::is_symlink(path_, error)) {
        if (fs::path real = fs::weakly_canonical(path_, error); !error) name_ = std::move(real);
    }
    const auto refuse_name = [&](const std::string& why) {
        throw UserError(fmt::format("cannot write {}: {}", path_.string(), why));
    };
    if (fs::exists(name_, error) && !fs::is_regular_file(name_, error))
        refuse_name("it is no regular file; give the name of one");
    if (const std::string trouble = missing_folder(name_); !trouble.empty()) refuse_name(trouble);
    aside_ = name_;
    aside_ += fmt::format(".{}.part", ::getpid());
    file_.reset(::open(aside_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!file_) refuse(errno);
}

AsideFile::~AsideFile() {
    if (!file_) return;
    file_.reset();
    std::error_code ignored;
    fs::remove(aside_, ignored);
}

void AsideFile::refuse(int error) const {
    throw UserError(
        fmt::format("cannot write {}: {}", path_.string(), std::generic_category().message(error)));
}

void AsideFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const auto written =
            ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) refuse(errno);
        offset += static_cast<std::uint64_t>(written);
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
}

void AsideFile::publish() {
    try {
        assay::publish(aside_, name_);
    } catch (const fs::filesystem_error& error) {
        refuse(error.code().value());
    }
    file_.reset();
}

}  // namespace assay::weights
