#include "impls/nn/training/sealed_file.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <istream>
#include <ostream>
#include <streambuf>
#include <vector>

#include "impls/nn/aside_file.hpp"
#include "impls/nn/byte_hash.hpp"

namespace assay::nn {
namespace {

// The digest is taken over pieces of this size, by writer and reader alike.
constexpr std::size_t piece_bytes = 1 << 20;

struct Seal {
    char magic[8] = {'a', 's', 's', 'a', 'y', 'e', 'n', 'd'};
    std::uint64_t length = 0;
    std::uint64_t digest = hash_start;

    void add(const char* data, std::size_t size) {
        digest = hash_bytes(data, size, digest);
        length += size;
    }
};

class SealingBuffer : public std::streambuf {
  public:
    explicit SealingBuffer(AsideFile& file) : file_(file), piece_(piece_bytes) { empty(); }

    void finish() {
        flush_piece();
        file_.write(&seal_, sizeof seal_);
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
        seal_.add(pbase(), size);
        file_.write(pbase(), size);
        empty();
    }

    AsideFile& file_;
    std::vector<char> piece_;
    Seal seal_;
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
    if (!in || size < sizeof(Seal)) return false;
    Seal stored, found;
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

}  // namespace

void write_sealed(const std::filesystem::path& file,
                  const std::function<void(std::ostream&)>& write) {
    AsideFile aside(file);
    SealingBuffer buffer(aside);
    std::ostream out(&buffer);
    out.exceptions(std::ios::badbit);  // errors of the file come through as they are
    write(out);
    buffer.finish();
    aside.publish();
}

bool read_sealed(const std::filesystem::path& file,
                 const std::function<void(std::istream&)>& read) {
    std::ifstream in(file, std::ios::binary);
    std::uint64_t length = 0;
    if (!in || !whole(in, length)) return false;
    ContentBuffer buffer(in, length);
    std::istream content(&buffer);
    read(content);
    return true;
}

}  // namespace assay::nn
