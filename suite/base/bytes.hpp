// Bytes that several owners share: a buffer in memory, a file, or only a length where a simulation
// needs no content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "suite/base/file_descriptor.hpp"

namespace assay {

/// Copies share the content, which lives as long as one of them. Who writes while others read is
/// their own affair.
class Bytes {
  public:
    static Bytes of(std::vector<std::byte> content);
    static Bytes zeros(std::uint64_t size);
    /// A whole file, mapped for reading. What is seen is the file that has this name now, also when
    /// another one gets the name; it must not become shorter. Throws UserError when it is no
    /// regular file or cannot be read.
    static Bytes of_file(const std::filesystem::path& file);
    /// For simulations: view() and writable() throw std::logic_error.
    static Bytes length_only(std::uint64_t size);

    std::uint64_t size() const { return size_; }
    bool has_content() const { return size_ == 0 || first_ != nullptr; }
    bool is_writable() const { return has_content() && file() < 0; }
    std::span<const std::byte> view() const;
    /// Throws std::logic_error for a file.
    std::span<std::byte> writable() const;
    /// The file's descriptor, for sendfile; -1: it is none.
    int file() const { return file_ ? file_->get() : -1; }

    /// Whether bytes from `offset` on, `bytes` of them, lie within.
    bool holds(std::uint64_t offset, std::uint64_t bytes) const {
        return offset <= size_ && bytes <= size_ - offset;
    }

  private:
    Bytes(std::shared_ptr<std::byte> first, std::uint64_t size,
          std::shared_ptr<const FileDescriptor> file = nullptr)
        : first_(std::move(first)), size_(size), file_(std::move(file)) {}

    std::shared_ptr<std::byte> first_;  ///< null: nothing, or a length only
    std::uint64_t size_;
    std::shared_ptr<const FileDescriptor> file_;
};

}  // namespace assay
