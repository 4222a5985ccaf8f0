#include "impls/foundry/method/archive/section_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <stdexcept>

#include "impls/foundry/method/archive/byte_stream.hpp"

namespace assay::foundry {
namespace {

struct Header {
    std::array<char, 8> magic{};
    std::uint32_t version = archive_version, sections = 0;
};
static_assert(sizeof(Header) == 16);

std::array<char, 8> magic_bytes(std::string_view magic) {
    std::array<char, 8> bytes{};
    if (magic.size() != bytes.size()) throw std::logic_error("a magic of eight characters");
    std::memcpy(bytes.data(), magic.data(), bytes.size());
    return bytes;
}

std::uint64_t aligned(std::uint64_t offset) {
    return (offset + section_alignment - 1) / section_alignment * section_alignment;
}

}  // namespace

void pad(const ByteSink& sink, std::uint64_t written) {
    constexpr std::array<std::byte, section_alignment> zeros{};
    sink(std::span(zeros).first(static_cast<std::size_t>(aligned(written) - written)));
}

void SectionWriter::write(const ByteSink& sink) const {
    Header header{.magic = magic_bytes(magic_)};
    header.sections = static_cast<std::uint32_t>(sections_.size());
    std::vector<SectionFile::Entry> directory;
    std::uint64_t end = sizeof header + sections_.size() * sizeof(SectionFile::Entry);
    const std::uint64_t directory_end = end;
    for (const auto& [id, content] : sections_) {
        directory.push_back({.id = id, .zero = 0, .offset = aligned(end), .bytes = content.size()});
        end = directory.back().offset + content.size();
    }
    sink(std::as_bytes(std::span(&header, 1)));
    sink(std::as_bytes(std::span(directory)));
    std::uint64_t written = directory_end;
    for (const auto& [id, content] : sections_) {
        pad(sink, written);
        sink(content);
        written = aligned(written) + content.size();
    }
}

SectionFile::SectionFile(std::span<const std::byte> file, std::string_view magic, std::string name)
    : file_(file), name_(std::move(name)) {
    if (reinterpret_cast<std::uintptr_t>(file.data()) % section_alignment != 0)
        throw std::logic_error("a section file that is not aligned");
    Header header;
    if (file.size() < sizeof header) refuse("it ends within its header");
    std::memcpy(&header, file.data(), sizeof header);
    if (header.magic != magic_bytes(magic)) refuse("it is no file of this kind");
    if (header.version != archive_version)
        refuse(fmt::format("it is of version {}, and this program reads version {}", header.version,
                           archive_version));
    if (header.sections > (file.size() - sizeof header) / sizeof(Entry))
        refuse("it ends within its directory");
    directory_ = {reinterpret_cast<const Entry*>(file.data() + sizeof header), header.sections};
    std::uint64_t end = sizeof header + directory_.size_bytes();
    for (std::size_t i = 0; i < directory_.size(); ++i) {
        const Entry& entry = directory_[i];
        if (i > 0 && entry.id <= directory_[i - 1].id) refuse("its directory is out of order");
        if (entry.offset != aligned(end) || entry.offset > file.size() ||
            entry.bytes > file.size() - entry.offset)
            refuse(fmt::format("section {} is not where it must be", entry.id));
        end = entry.offset + entry.bytes;
    }
    if (end != file.size()) refuse("its length is not that of its sections");
}

std::span<const std::byte> SectionFile::section(std::uint32_t id, std::size_t multiple) const {
    for (const Entry& entry : directory_)
        if (entry.id == id) {
            if (entry.bytes % multiple != 0) refuse(fmt::format("section {} is cut", id));
            return file_.subspan(static_cast<std::size_t>(entry.offset),
                                 static_cast<std::size_t>(entry.bytes));
        }
    refuse(fmt::format("section {} is missing", id));
}

void SectionFile::refuse(std::string_view why) const { throw DamagedArchive(name_, why); }

}  // namespace assay::foundry
