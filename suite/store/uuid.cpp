// Not the time-ordered version 7: people type the first characters, and those of all ids of one
// session would be the same.
#include "suite/store/uuid.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace assay::store {

std::string new_uuid() {
    // From the kernel each time: a generator in the process would repeat itself after fork().
    std::array<unsigned char, 16> b;
    if (getrandom(b.data(), b.size(), 0) != static_cast<ssize_t>(b.size()))
        throw std::system_error(errno, std::generic_category(), "getrandom");
    b[6] = (b[6] & 0x0f) | 0x40;
    b[8] = (b[8] & 0x3f) | 0x80;
    std::string text;
    for (std::size_t i = 0; i < b.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += fmt::format("{:02x}", b[i]);
    }
    return text;
}

std::string new_uuid_beside(std::string_view other) {
    std::string text = new_uuid();
    const auto shared = other.substr(0, 2);
    if (shared.size() == 2 && shared.find_first_not_of("0123456789abcdef") == shared.npos)
        text.replace(0, 2, shared);
    return text;
}

}  // namespace assay::store
