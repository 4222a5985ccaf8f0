#include "impls/nn/training/checkpoint_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <istream>
#include <ostream>
#include <streambuf>
#include <system_error>
#include <utility>
#include <vector>

#include "impls/nn/hashes.hpp"
#include "suite/base/durable_file.hpp"

namespace assay::nn {
namespace {

[[noreturn]] void refuse_to_write(const std::filesystem::path& file, int error) {
    throw std::system_error(error, std::generic_category(), "cannot write " + file.string());
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path file, bool full)
    : file_(std::move(file)), aside_(file_) {
    aside_ += ".part";
    descriptor_.reset(::open(full ? "/dev/full" : aside_.c_str(),
                             O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!descriptor_) refuse_to_write(file_, errno);
}

AtomicFile::~AtomicFile() {
    if (!descriptor_) return;
    descriptor_.reset();
    std::error_code ignored;
    std::filesystem::remove(aside_, ignored);
}

void AtomicFile::write(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const char*>(data);
    while (size > 0) {
        const auto written = ::write(descriptor_.get(), bytes, size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) refuse_to_write(file_, errno);
        bytes += written;
        size -= static_cast<std::size_t>(written);
    }
}

void AtomicFile::publish() {
    try {
        assay::publish(aside_, file_);
    } catch (const std::filesystem::filesystem_error& error) {
        refuse_to_write(file_, error.code().value());
    }
    descriptor_.reset();
}

namespace {

// The digest is taken over pieces of this size, by writer and reader alike.
constexpr std::size_t piece_bytes = 1 << 20;

struct Trailer {
    char magic[8] = {'a', 's', 's', 'a', 'y', 'e', 'n', 'd'};
    std::uint64_t length = 0;
    std::uint64_t digest = hash_start;

    void add(const char* data, std::size_t size) {
        digest = hash_bytes(data, size, digest);
        length += size;
    }
};

class ChecksummingBuffer : public std::streambuf {
  public:
    explicit ChecksummingBuffer(AtomicFile& file) : file_(file), piece_(piece_bytes) { empty(); }

    void finish() {
        flush_piece();
        file_.write(&trailer_, sizeof trailer_);
    }

  protected:
    int_type overflow(int_type c) override {
        flush_piece();
        if (c != traits_type::eof()) sputc(static_cast<char>(c));
        return traits_type::not_eof(c);
    }

  private:
    void empty() { setp(piece_.data(), piece_.data() + piece_.size()); }
    void flush_piece() {
        const auto size = static_cast<std::size_t>(pptr() - pbase());
        if (size == 0) return;
        trailer_.add(pbase(), size);
        file_.write(pbase(), size);
        empty();
    }

    AtomicFile& file_;
    std::vector<char> piece_;
    Trailer trailer_;
};

// The first `length` bytes of a file.
class ContentBuffer : public std::streambuf {
  public:
    ContentBuffer(std::ifstream& in, std::uint64_t length)
        : in_(in), left_(length), piece_(piece_bytes) {}

  protected:
    int_type underflow() override {
        const auto wanted =
            static_cast<std::streamsize>(std::min<std::uint64_t>(left_, piece_bytes));
        if (wanted == 0 || !in_.read(piece_.data(), wanted)) return traits_type::eof();
        left_ -= static_cast<std::uint64_t>(wanted);
        setg(piece_.data(), piece_.data(), piece_.data() + wanted);
        return traits_type::to_int_type(piece_.front());
    }

  private:
    std::ifstream& in_;
    std::uint64_t left_;
    std::vector<char> piece_;
};

// The length of the content; false: the file is not whole.
bool whole(std::ifstream& in, std::uint64_t& length) {
    in.seekg(0, std::ios::end);
    const auto size = static_cast<std::uint64_t>(in.tellg());
    if (!in || size < sizeof(Trailer)) return false;
    Trailer stored, found;
    length = size - sizeof stored;
    in.seekg(static_cast<std::streamoff>(length));
    in.read(reinterpret_cast<char*>(&stored), sizeof stored);
    in.seekg(0);
    std::vector<char> piece(piece_bytes);
    for (auto left = length; in && left > 0;) {
        const auto here = std::min<std::uint64_t>(left, piece_bytes);
        in.read(piece.data(), static_cast<std::streamsize>(here));
        found.add(piece.data(), here);
        left -= here;
    }
    in.seekg(0);
    return in && std::memcmp(&stored, &found, sizeof stored) == 0;
}

/// Content, then its length and digest, which tell whether the file is whole. Throws
/// std::system_error (for instance a full disk).
void write_checksummed(const std::filesystem::path& file,
                       const std::function<void(std::ostream&)>& write) {
    AtomicFile aside(file);
    ChecksummingBuffer buffer(aside);
    std::ostream out(&buffer);
    out.exceptions(std::ios::badbit);  // errors of the file come through as they are
    write(out);
    buffer.finish();
    aside.publish();
}

/// Calls `read` with the content. false, without a call: no such file, or it is torn or altered.
bool read_checksummed(const std::filesystem::path& file,
                      const std::function<void(std::istream&)>& read) {
    std::ifstream in(file, std::ios::binary);
    std::uint64_t length = 0;
    if (!in || !whole(in, length)) return false;
    ContentBuffer buffer(in, length);
    std::istream content(&buffer);
    read(content);
    return true;
}

}  // namespace

void FolderState::save(const std::string& name, const std::function<void(std::ostream&)>& write) {
    try {
        std::filesystem::create_directories(folder_);
        write_checksummed(folder_ / (name + ".state"), write);
    } catch (const std::system_error& error) {
        if (std::exchange(warned_, true)) return;
        std::cerr << fmt::format(
            "warning: the state of training \"{}\" cannot be kept in {} ({}); it goes on, "
            "but once interrupted starts from what was kept before. Free space there or "
            "give another folder.\n",
            name, folder_.string(), error.code().message());
    }
}

bool FolderState::load(const std::string& name, const std::function<void(std::istream&)>& read) {
    return read_checksummed(folder_ / (name + ".state"), read);
}

std::shared_ptr<void> FolderState::hold(const std::string& name) {
    std::error_code ignored;
    std::filesystem::create_directories(folder_, ignored);
    const auto file = folder_ / (name + ".lock");
    auto held =
        std::make_shared<FileDescriptor>(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    struct flock whole {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    if (!*held) return nullptr;
    while (::fcntl(held->get(), F_OFD_SETLKW, &whole) != 0)
        if (errno != EINTR) return nullptr;
    return held;
}

}  // namespace assay::nn
