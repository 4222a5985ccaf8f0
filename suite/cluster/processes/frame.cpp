#include "suite/cluster/processes/frame.hpp"

#include <nlohmann/json.hpp>

namespace assay::cluster {

std::string encode_frame(FrameKind kind, const std::string& payload) {
    if (payload.size() > kMaxFramePayloadBytes) {
        throw FrameError("a control message of " + std::to_string(payload.size()) +
                         " bytes is longer than the limit of " +
                         std::to_string(kMaxFramePayloadBytes) +
                         "; send bulk data through a communicator or a file");
    }
    std::string frame{'A', 'S', static_cast<char>(kind), 0};
    for (int shift = 0; shift < 32; shift += 8) {
        frame.push_back(static_cast<char>(payload.size() >> shift & 0xff));
    }
    return frame += payload;
}

std::string encode_message(const nlohmann::json& body) {
    const bool urgent = body.is_object() && body.contains("urgent") && body["urgent"] == true;
    return encode_frame(urgent ? FrameKind::urgent : FrameKind::message,
                        body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

nlohmann::json decode_message(const Frame& frame) {
    try {
        return nlohmann::json::parse(frame.payload);
    } catch (const nlohmann::json::exception& error) {
        throw FrameError(std::string("a control message is not JSON: ") + error.what());
    }
}

std::optional<Frame> FrameReader::next() {
    if (pending_bytes() < kFrameHeaderBytes) return std::nullopt;
    const auto* header = reinterpret_cast<const unsigned char*>(buffer_.data()) + read_;
    const auto kind = static_cast<FrameKind>(header[2]);
    const bool known = header[2] >= 1 && header[2] <= static_cast<unsigned>(FrameKind::urgent);
    if (header[0] != 'A' || header[1] != 'S' || !known || header[3] != 0) {
        throw FrameError("the control channel carries something that is no frame (bytes " +
                         std::to_string(header[0]) + " " + std::to_string(header[1]) + " " +
                         std::to_string(header[2]) + " " + std::to_string(header[3]) + ")");
    }
    std::size_t length = 0;
    for (int i = 0; i < 4; ++i) length |= std::size_t{header[4 + i]} << (8 * i);
    if (length > kMaxFramePayloadBytes || (kind == FrameKind::heartbeat && length != 0)) {
        throw FrameError("a control frame claims an impossible length of " +
                         std::to_string(length) + " bytes");
    }
    if (pending_bytes() < kFrameHeaderBytes + length) return std::nullopt;
    Frame frame{kind, buffer_.substr(read_ + kFrameHeaderBytes, length)};
    read_ += kFrameHeaderBytes + length;
    // Moving the rest to the front each time would make many small frames quadratic.
    if (read_ == buffer_.size() || read_ > (std::size_t{1} << 20)) {
        buffer_.erase(0, read_);
        read_ = 0;
    }
    return frame;
}

}  // namespace assay::cluster
