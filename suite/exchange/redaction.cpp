// Takes out of texts what tells whose machine results come from.
#include "suite/exchange/redaction.hpp"

#include <algorithm>
#include <cctype>

namespace assay::exchange {
namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-'; }

bool whole_word(std::string_view text, std::size_t at, std::size_t length) {
    return (at == 0 || !in_word(text[at - 1])) &&
           (at + length == text.size() || !in_word(text[at + length]));
}

/// Where a path that begins at `at` ends.
std::size_t end_of_path(std::string_view text, std::size_t at) {
    const auto end = text.find_first_of(std::string_view(" \t\r\n\"'`\\,;:)]}<>|&*?\0", 21), at);
    return end == text.npos ? text.size() : end;
}

bool path_begins(std::string_view text, std::size_t at) {
    if (text[at] != '/' || at + 1 == text.size() || !(in_word(text[at + 1]) || text[at + 1] == '.'))
        return false;
    if (at == 0) return true;
    const char before = text[at - 1];
    return !in_word(before) && before != '/' && before != '.' && before != '~' && before != '%';
}

/// "/a/b/c" → "a".
std::string_view first_folder(std::string_view path) {
    return path.substr(1, path.find('/', 1) == path.npos ? path.npos : path.find('/', 1) - 1);
}

std::string without_owner(std::string_view path) {
    while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
    const auto first = first_folder(path);
    for (const auto* system :
         {"usr", "etc", "proc", "sys", "dev", "lib", "lib64", "opt", "bin", "sbin", "boot", "run"})
        if (first == system) return std::string(path);
    const auto parts = std::count(path.begin(), path.end(), '/');
    if (first == "root" && parts == 1) return "~";
    if ((first == "home" || first == "Users") && parts <= 2) return "~";
    if (parts == 1) return std::string(path);  // "/s", "/tmp": names nobody
    return "..." + std::string(path.substr(path.rfind('/')));
}

}  // namespace

std::string Redaction::text(std::string_view text) const {
    std::string paths_gone;
    for (std::size_t at = 0; at < text.size();) {
        if (path_begins(text, at)) {
            const auto end = end_of_path(text, at);
            paths_gone += without_owner(text.substr(at, end - at));
            at = end;
        } else {
            paths_gone += text[at++];
        }
    }
    std::string out;
    const std::string_view rest = paths_gone;
    for (std::size_t at = 0; at < rest.size();) {
        const std::string* stands_for = nullptr;
        std::size_t length = 0;
        for (const auto& [name, alias] : names_)
            if (name.size() > length && rest.substr(at).starts_with(name) &&
                whole_word(rest, at, name.size())) {
                stands_for = &alias;
                length = name.size();
            }
        if (stands_for) {
            out += *stands_for;
            at += length;
        } else {
            out += rest[at++];
        }
    }
    return out;
}

bool Redaction::concerns(std::string_view bytes) const {
    for (const auto& [name, alias] : names_)
        for (auto at = bytes.find(name); at != bytes.npos; at = bytes.find(name, at + 1))
            if (whole_word(bytes, at, name.size())) return true;
    return false;
}

}  // namespace assay::exchange
