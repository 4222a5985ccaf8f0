#include "suite/cluster/transfers/ends.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "suite/cluster/transfers/wire.hpp"

namespace assay::cluster {
namespace {

using TransferClock = Connection::Clock;

void wait_for_cut_link(const Connection& connection, const TransferPortOptions& options,
                       WorkerId peer) {
    const auto stopped = [&] { return connection.stopped(); };
    if (!options.links->wait_while_cut(peer, options.timeout, stopped))
        throw TransferBroken(
            fmt::format("the link between worker {} and worker {} was cut for {} s", options.self,
                        peer, options.timeout.count()));
}

void send_chunk(Connection& connection, const TransferOrder& order, std::uint64_t before,
                std::size_t bytes, const Bytes& object, LinkFaults& links) {
    const std::uint64_t at = order.offset + before;
    const auto content = object.view().subspan(at, bytes);
    const auto header = encode_chunk_header({.kind = ChunkKind::data,
                                             .bytes = static_cast<std::uint32_t>(bytes),
                                             .checksum = chunk_checksum(order, before, content)});
    if (const auto bit = links.draw_flip(bytes)) {
        // The object itself stays right: the bit flips on its way.
        std::vector<std::byte> flipped(content.begin(), content.end());
        flipped[*bit / 8] ^= std::byte(1 << (*bit % 8));
        connection.send(header, flipped);
    } else if (object.file() >= 0) {
        connection.send_file(header, object.file(), at, bytes);
    } else {
        connection.send(header, content);
    }
}

ChunkHeader receive_chunk_header(Connection& connection) {
    std::array<std::byte, kChunkHeaderBytes> bytes;
    connection.receive(bytes);
    const auto header = parse_chunk_header(bytes);
    if (!header) throw TransferBroken("what arrived is no chunk");
    return *header;
}

std::string receive_reason(Connection& connection, std::size_t bytes) {
    std::string why(bytes, '\0');
    connection.receive(std::as_writable_bytes(std::span(why.data(), why.size())));
    return why;
}

}  // namespace

void send_range(Connection& connection, const TransferOrder& order, const Bytes& object,
                const TransferPortOptions& options, Direction& outgoing) {
    LinkFaults& links = *options.links;
    const auto first_byte =
        TransferClock::now() + clock_units(options.nic.latency + links.condition(order.to).latency);
    Passage passage(outgoing.nic, options.nic.send_bytes_s, outgoing.link(order.to));
    std::uint64_t sent = 0;
    do {
        wait_for_cut_link(connection, options, order.to);
        if (sent == 0) {
            connection.sleep_until(first_byte);
            passage.restart(TransferClock::now());
        }
        if (const Seconds again = links.draw_resends(order.to); again.count() > 0) {
            connection.sleep_until(TransferClock::now() + clock_units(again));
            passage.restart(TransferClock::now());
        }
        if (order.bytes == 0) return send_end(connection, "");
        const double bandwidth = links.condition(order.to).bandwidth;
        const auto bytes = std::min(passage.piece(bandwidth), order.bytes - sent);
        connection.sleep_until(passage.pass(bytes, bandwidth, TransferClock::now()));
        // A fault that is due is not for chunks of which the receiver wants none.
        if (connection.other_end_is_done()) throw ConnectionClosed("the receiver has ended it");
        send_chunk(connection, order, sent, bytes, object, links);
        sent += bytes;
    } while (sent < order.bytes);
}

void send_end(Connection& connection, const std::string& why) {
    const auto reason = std::as_bytes(std::span(why)).first(std::min(why.size(), kMostReasonBytes));
    const auto bytes = static_cast<std::uint32_t>(reason.size());
    connection.send(encode_chunk_header({.kind = ChunkKind::end, .bytes = bytes}), reason);
}

void receive_range(Connection& connection, const TransferOrder& order, std::span<std::byte> range,
                   const TransferPortOptions& options, Direction& incoming, std::uint64_t& done) {
    LinkFaults& links = *options.links;
    const auto first_byte = TransferClock::now() + clock_units(links.condition(order.from).latency);
    Passage passage(incoming.nic, options.nic.receive_bytes_s, incoming.link(order.from));
    do {
        wait_for_cut_link(connection, options, order.from);
        if (done == 0) connection.sleep_until(first_byte);
        const ChunkHeader header = receive_chunk_header(connection);
        if (header.kind == ChunkKind::end) {
            const std::string why = receive_reason(connection, header.bytes);
            if (why.empty() && order.bytes == 0) return;
            throw TransferBroken(why.empty() ? "it ended before its last byte" : why);
        }
        if (header.bytes > order.bytes - done)
            throw TransferBroken("more was sent than was ordered");
        const auto content = range.subspan(done, header.bytes);
        connection.receive(content);
        if (chunk_checksum(order, done, content) != header.checksum)
            throw TransferBroken(
                fmt::format("a chunk of {} bytes from worker {} arrived with a wrong checksum",
                            header.bytes, order.from));
        if (done == 0) passage.restart(TransferClock::now());
        for (std::uint64_t passed = 0; passed < header.bytes;) {
            const double bandwidth = links.condition(order.from).bandwidth;
            const auto piece = std::min(passage.piece(bandwidth), header.bytes - passed);
            connection.sleep_until(passage.pass(piece, bandwidth, TransferClock::now()));
            passed += piece;
        }
        done += header.bytes;
    } while (done < order.bytes);
}

}  // namespace assay::cluster
