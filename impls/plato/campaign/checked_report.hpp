// What an engine reports of a step, as it travels: every token and end, and a checksum behind.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "impls/decode/pool/local_seat.hpp"
#include "impls/plato/live/live_run.hpp"
#include "suite/drive/messages.hpp"

namespace assay::plato {

struct ReportedToken {
    std::int64_t request;
    decode::Token token;
    std::int32_t ended;  ///< with this token
};

struct CheckedReport {
    std::string bytes;

    static CheckedReport of(const decode::StepReport& step) {
        CheckedReport report;
        for (const decode::SaidOfRequest& said : decode::by_request(step.tokens, step.ended))
            for (const decode::Token& token : said.tokens)  // one: it was one step
                report.append(ReportedToken{said.request, token, said.ended ? 1 : 0});
        report.append(checksum(report.bytes));
        return report;
    }
    bool whole() const {
        std::uint32_t sum = 0;
        const std::size_t content = bytes.size() - sizeof sum;
        std::memcpy(&sum, bytes.data() + content, sizeof sum);
        return sum == checksum(std::string_view(bytes).substr(0, content));
    }
    std::vector<ReportedToken> tokens() const {
        std::vector<ReportedToken> tokens(bytes.size() / sizeof(ReportedToken));
        std::memcpy(tokens.data(), bytes.data(), tokens.size() * sizeof(ReportedToken));
        return tokens;
    }
    /// Counted round.
    void flip(std::uint64_t bit) {
        bit %= bytes.size() * 8;
        bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
    }

  private:
    template <class T>
    void append(const T& value) {
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    static std::uint32_t checksum(std::string_view content) {
        return crc32(std::as_bytes(std::span(content)));
    }
};
ASSAY_MESSAGE(CheckedReport, "checked_report", bytes)

}  // namespace assay::plato
