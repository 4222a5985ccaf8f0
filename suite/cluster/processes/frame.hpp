// Frames on the control channel, and the reader that finds them in a stream of bytes.
//
// A frame is an 8-byte header, bytes 'A' 'S' kind 0 and the payload's length (32 bits, little
// endian), and the payload. A message's payload is JSON text. (Text, because its parser does not
// recurse: no nesting can overflow the reader's stack.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

namespace assay::cluster {

enum class FrameKind : std::uint8_t {
    message = 1,    ///< JSON
    heartbeat = 2,  ///< no payload
    failure = 3,    ///< text: why the sender is about to end in error
    urgent = 4,     ///< JSON; a kind of its own, so that only these are parsed at once
};

constexpr std::size_t kFrameHeaderBytes = 8;
constexpr std::size_t kMaxFramePayloadBytes = std::size_t{1} << 28;

class FrameError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Frame {
    FrameKind kind = FrameKind::heartbeat;
    std::string payload;
};

/// Throws FrameError when the payload is longer than kMaxFramePayloadBytes.
std::string encode_frame(FrameKind kind, const std::string& payload);

/// An object with "urgent": true becomes an urgent frame, everything else a message frame. NaN and
/// infinities become null (JSON has none); invalid UTF-8 becomes U+FFFD.
std::string encode_message(const nlohmann::json& body);

/// Body of a message or urgent frame. Throws FrameError when it is not JSON.
nlohmann::json decode_message(const Frame& frame);

/// Feed it bytes as they come, in pieces of any size; take the frames they complete.
class FrameReader {
  public:
    void feed(const char* data, std::size_t bytes) { buffer_.append(data, bytes); }
    /// The next complete frame. Throws FrameError where the bytes are no frame; the stream cannot
    /// be read on after that.
    std::optional<Frame> next();
    /// Bytes of a frame not complete yet: nonzero at the end of a stream means it was torn.
    std::size_t pending_bytes() const { return buffer_.size() - read_; }

  private:
    std::string buffer_;
    std::size_t read_ = 0;  ///< start of the first frame not taken yet
};

}  // namespace assay::cluster
