#include "suite/drive/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "suite/base/durable_file.hpp"
#include "suite/base/error.hpp"
#include "suite/base/process.hpp"

namespace assay::drive {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

// "steps is 5, was 4; layout/slots is absent, was 2"
std::string changed_settings(const json& was, const json& is) {
    constexpr std::size_t most = 3;
    const json before = was.flatten(), after = is.flatten();
    std::vector<std::string> changes;
    const auto compare = [&](const std::string& place) {
        const auto shown = [&](const json& in) {
            return in.contains(place) ? RecordingLines::text(in[place]) : "absent";
        };
        const std::string old = shown(before), now = shown(after);
        if (old != now && changes.size() < most)
            changes.push_back(
                fmt::format("{} is {}, was {}", place.empty() ? "all" : place.substr(1), now, old));
    };
    for (const auto& [place, now] : after.items()) compare(place);
    for (const auto& [place, old] : before.items())
        if (!after.contains(place)) compare(place);
    return fmt::format("{}", fmt::join(changes, "; "));
}

}  // namespace

// ---- reading -----------------------------------------------------------------------------------

std::streambuf::int_type JournalReader::WholeLines::underflow() {
    if (!in.good()) return traits_type::eof();
    std::getline(in, line);
    if (!in.good()) return traits_type::eof();  // no '\n' has ended it
    line += '\n';
    bytes += line.size();
    setg(line.data(), line.data(), line.data() + line.size());
    return traits_type::to_int_type(line.front());
}

JournalReader::JournalReader(std::istream& in, std::string_view policy, const json& settings)
    : lines_(in) {
    if (!in) throw UserError("the journal cannot be read");
    const bool whole_line = in_.peek() != std::istream::traits_type::eof();
    require_read();
    if (!whole_line) {
        if (!RecordingLines::first(policy, settings).starts_with(lines_.line))
            throw UserError(fmt::format(
                "this is no journal of the policy \"{}\" with these settings: it has no whole line",
                policy));
        return;
    }
    recording_.emplace(in_, policy);
    if (RecordingLines::text(recording_->settings_text()) != RecordingLines::text(settings))
        throw UserError(fmt::format(
            "the journal is of a run with other settings: {}; use those to go on with it, or begin "
            "another journal",
            changed_settings(recording_->settings_text(), settings)));
}

bool JournalReader::next() {
    if (!recording_) return false;
    const bool found = recording_->next();
    require_read();
    return found;
}

// An error is not the end of the journal.
void JournalReader::require_read() const {
    if (lines_.in.bad() || in_.bad()) throw UserError("the journal cannot be read to its end");
}

void detail::remove_first_due(std::vector<PendingTimer>& timers, std::uint64_t id) {
    auto first = timers.end();
    for (auto timer = timers.begin(); timer != timers.end(); ++timer)
        if (timer->id == id && (first == timers.end() || timer->due_s < first->due_s))
            first = timer;
    if (first != timers.end()) timers.erase(first);
}

void detail::refuse_other_decision(const PolicyReplay::Difference& difference) {
    throw UserError(fmt::format(
        "the policy of this build decides otherwise than the journal says, and cannot go on with "
        "it; use the build that wrote it, or begin another journal\n{}",
        explanation(difference)));
}

// ---- writing -----------------------------------------------------------------------------------

Journal::Journal(const fs::path& path, std::string_view policy, const json& settings, Start start)
    : path_(path) {
    std::error_code error;
    const auto status = fs::status(path, error);
    if (start == Start::old_file && !fs::exists(status))
        throw UserError(fmt::format("there is no journal {} to go on with", path.string()));
    if (fs::exists(status) && !fs::is_regular_file(status))
        throw UserError(fmt::format("{} is no file that can be a journal", path.string()));
    if (start == Start::new_file) {
        if (fs::exists(status) && fs::file_size(path, error) > 0 && !error)
            throw UserError(fmt::format(
                "{} has something in it, maybe the journal of a run that can go on: go on with it, "
                "name another file, or delete it",
                path.string()));
        if (const std::string missing = missing_folder(path); !missing.empty())
            throw UserError(missing);
    }
    const int created = start == Start::new_file ? O_CREAT : 0;
    file_.reset(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | created, 0666));
    if (!file_) fail("opened");
    if (start == Start::old_file) find_end(policy, settings);
    if (bytes_ > 0) return;
    begin_change();
    append_line(RecordingLines::first(policy, settings));
}

void Journal::find_end(std::string_view policy, const json& settings) {
    std::ifstream in(path_, std::ios::binary);
    json last = json::object();
    try {
        JournalReader reader(in, policy, settings);
        while (reader.next()) {
        }
        bytes_ = reader.whole_bytes();
        if (bytes_ > 0) last = reader.decision().decision_text();
    } catch (const UserError& error) {
        throw UserError(fmt::format("{}: {}", path_.string(), error.what()));
    }
    lines_ = RecordingLines(std::move(last));
    if (::ftruncate(file_.get(), static_cast<off_t>(bytes_)) != 0) fail("cut to its last line");
}

// What throws between this and the end of a change leaves the journal without a decision that the
// policy has made, or on a device that has lost some.
void Journal::begin_change() {
    if (!std::exchange(complete_, false))
        throw std::logic_error("the journal " + path_.string() + " ended with an earlier error");
}

void Journal::append_line(const std::string& line) {
    if (!write_all(file_.get(), line)) {
        const int error = errno;
        // Where this fails too, the rest of a line stays: it has no '\n' and will be dropped.
        [[maybe_unused]] const int cut = ::ftruncate(file_.get(), static_cast<off_t>(bytes_));
        errno = error;
        fail("written", "; it ends with the decision before, and a run can go on from there");
    }
    bytes_ += line.size();
    complete_ = true;
}

void Journal::sync() {
    begin_change();
    int failed;
    while ((failed = ::fdatasync(file_.get())) != 0 && errno == EINTR) {
    }
    if (failed) fail("written to the device");
    if (!std::exchange(name_synced_, true)) {
        try {
            write_to_device(path_.has_parent_path() ? path_.parent_path() : fs::path("."));
        } catch (const fs::filesystem_error& error) {
            errno = error.code().value();
            fail("written to the device");
        }
    }
    complete_ = true;
}

void Journal::fail(const char* what, const char* and_so) const {
    throw UserError(fmt::format("the journal {} cannot be {}: {}{}", path_.string(), what,
                                std::generic_category().message(errno), and_so));
}

}  // namespace assay::drive
