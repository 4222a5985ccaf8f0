#include "suite/cli/terminal/printable_output.hpp"

#include <algorithm>
#include <iostream>
#include <mutex>
#include <streambuf>
#include <string>

#include "suite/cli/terminal/terminal.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::cli {
namespace {

/// Bytes of the text without a last character of which the rest may be still to come.
std::size_t complete_part(std::string_view text) {
    for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
        const auto byte = static_cast<unsigned char>(text[text.size() - back]);
        if ((byte & 0xc0) == 0x80) continue;
        const std::size_t whole = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
        return whole > back ? text.size() - back : text.size();
    }
    return text.size();
}

}  // namespace

class PrintableOutput::Buffer : public std::streambuf {
  public:
    explicit Buffer(std::ostream& stream) : stream_(stream), to_(stream.rdbuf(this)) {}
    ~Buffer() override {
        put(printed(begun_));
        stream_.rdbuf(to_);
    }

    bool put(std::string_view text) {
        const auto size = static_cast<std::streamsize>(text.size());
        return to_->sputn(text.data(), size) == size;
    }

  protected:
    std::streamsize xsputn(const char* text, std::streamsize size) override {
        const std::lock_guard hold(mutex_);  // threads report errors
        begun_.append(text, static_cast<std::size_t>(size));
        const std::size_t end = complete_part(begun_);
        const bool done = put(printed(std::string_view(begun_).substr(0, end)));
        begun_.erase(0, end);
        return done ? size : 0;
    }
    int_type overflow(int_type c) override {
        const char one = traits_type::to_char_type(c);
        return traits_type::eq_int_type(c, traits_type::eof()) || xsputn(&one, 1) == 1
                   ? traits_type::not_eof(c)
                   : traits_type::eof();
    }
    int sync() override { return to_->pubsync(); }

  private:
    static std::string printed(std::string_view text) { return report::printable(text, "\n\t"); }

    std::ostream& stream_;
    std::streambuf* to_;
    std::mutex mutex_;
    std::string begun_;  ///< the bytes of a character that there are
};

PrintableOutput::PrintableOutput()
    : out_(std::make_unique<Buffer>(std::cout)), err_(std::make_unique<Buffer>(std::cerr)) {}

PrintableOutput::~PrintableOutput() = default;

void write_as_is(std::ostream& stream, std::string_view text) {
    if (auto* const buffer = dynamic_cast<PrintableOutput::Buffer*>(stream.rdbuf())) {
        if (!buffer->put(text)) stream.setstate(std::ios::badbit);
    } else {
        stream << text;
    }
}

void print_line(std::ostream& stream, std::string_view line) {
    stream << report::printable(line) + '\n';
}

void print_coloured(std::string_view text) {
    if (colours_wanted()) {
        constexpr std::string_view begin = "\x1b[", ours[] = {"\x1b[31m", "\x1b[32m", "\x1b[0m"};
        std::size_t from = 0;
        for (std::size_t at = 0; (at = text.find(begin, at)) != text.npos; ++at)
            for (const std::string_view sequence : ours)
                if (text.substr(at).starts_with(sequence)) {
                    std::cout << text.substr(from, at - from);
                    write_as_is(std::cout, sequence);
                    from = at + sequence.size();
                }
        text.remove_prefix(from);
    }
    std::cout << text;
}

void overwrite_line(std::string_view text) {
    write_as_is(std::cerr, "\r\x1b[K");
    std::cerr << report::printable(text) << std::flush;
}

}  // namespace assay::cli
