// Takes out of texts what tells whose machine results come from.
#include "suite/import_export/redaction.hpp"

#include <algorithm>
#include <cctype>

namespace assay::import_export {
namespace {

bool is_alphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)); }
bool in_word(char c) { return is_alphanumeric(c) || c == '_' || c == '-'; }
char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

/// True when an escape of JSON or of C, such as \n, ends before `at`.
bool after_escape(std::string_view text, std::size_t at) {
    if (at < 2 || std::string_view("nrtbf").find(text[at - 1]) == std::string_view::npos)
        return false;
    std::size_t backslashes = 0;
    while (backslashes + 1 < at && text[at - 2 - backslashes] == '\\') ++backslashes;
    return backslashes % 2 == 1;
}

/// True when the letters of a flag end before `at`: "-I/home/ann".
bool after_flag(std::string_view text, std::size_t at) {
    std::size_t letters = at;
    while (letters > 0 && std::isalpha(static_cast<unsigned char>(text[letters - 1]))) --letters;
    return letters < at && letters > 0 && text[letters - 1] == '-' &&
           (letters == 1 || !in_word(text[letters - 2]));
}

/// Host names are the same in any case, and go on with '-' or '_': "node1-ib0", "node1_log".
bool name_at(std::string_view text, std::size_t at, std::string_view name) {
    if (name.empty() || name.size() > text.size() - at) return false;
    for (std::size_t i = 0; i < name.size(); ++i)
        if (lower(text[at + i]) != lower(name[i])) return false;
    const auto end = at + name.size();
    return (at == 0 || !is_alphanumeric(text[at - 1]) || after_escape(text, at)) &&
           (end == text.size() || !is_alphanumeric(text[end]));
}

/// Where a path that begins at `at` ends.
std::size_t end_of_path(std::string_view text, std::size_t at) {
    const auto end = text.find_first_of(std::string_view(" \t\r\n\"'`\\,;:)]}<>|&*?\0", 21), at);
    return end == text.npos ? text.size() : end;
}

bool path_begins(std::string_view text, std::size_t at) {
    if (text[at] != '/' || at + 1 == text.size() || !(in_word(text[at + 1]) || text[at + 1] == '.'))
        return false;
    std::size_t slashes = at;  // "//home/ann", "file:///home/ann"
    while (slashes > 0 && text[slashes - 1] == '/') --slashes;
    if (slashes == 0) return true;
    const char before = text[slashes - 1];
    if (before == ':' && slashes < at) return at - slashes >= 2;  // not https://example.org
    if (before == '.' || before == '~' || before == '%') return false;
    return !in_word(before) || after_flag(text, slashes) || after_escape(text, slashes);
}

/// "/a/b/c" → "a".
std::string_view first_folder(std::string_view path) {
    return path.substr(1, path.find('/', 1) == path.npos ? path.npos : path.find('/', 1) - 1);
}

std::string without_owner(std::string_view written) {
    std::string path;
    for (const char c : written)
        if (c != '/' || !path.ends_with('/')) path += c;
    if (path.size() > 1 && path.ends_with('/')) path.pop_back();
    const auto first = first_folder(path);
    for (const auto* system :
         {"usr", "etc", "proc", "sys", "dev", "lib", "lib64", "opt", "bin", "sbin", "boot"})
        if (first == system) return path;
    const auto parts = std::count(path.begin(), path.end(), '/');
    if (first == "root" && parts == 1) return "~";
    if (parts == 1 && first != "home" && first != "Users") return path;  // "/s": names nobody
    const bool of_users = first == "home" || first == "Users" || first == "media";
    if ((of_users && parts <= 2) || (path.starts_with("/run/media/") && parts == 3)) return "~";
    return "..." + path.substr(path.rfind('/'));
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
            if (name.size() > length && name_at(rest, at, name)) {
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
        for (std::size_t at = 0; at < bytes.size(); ++at)
            if (name_at(bytes, at, name)) return true;
    return false;
}

}  // namespace assay::import_export
