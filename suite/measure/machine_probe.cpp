// Probes of the processors, the memory, the storage and of processes (those of TCP:
// machine_probe_loopback.cpp), and the arithmetic on readings.
#include "suite/measure/machine_probe.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "suite/base/process.hpp"

namespace assay::measure {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A file that nobody else can see: its name is taken away at once.
class NamelessFile {
  public:
    explicit NamelessFile(const std::filesystem::path& folder) {
        std::string name = (folder / "probe-XXXXXX").string();
        fd_ = ::mkostemp(name.data(), O_CLOEXEC);
        if (fd_ < 0) fail("making a file in " + folder.string());
        ::unlink(name.c_str());
    }
    ~NamelessFile() { ::close(fd_); }
    NamelessFile(const NamelessFile&) = delete;
    NamelessFile& operator=(const NamelessFile&) = delete;

    void write(const std::vector<char>& bytes) const {
        for (std::size_t done = 0; done < bytes.size();) {
            const ssize_t some = ::write(fd_, bytes.data() + done, bytes.size() - done);
            if (some < 0 && errno != EINTR) fail("writing the probe's file");
            if (some > 0) done += static_cast<std::size_t>(some);
        }
    }
    void sync() const {
        if (::fsync(fd_) != 0) fail("fsync of the probe's file");
    }

  private:
    [[noreturn]] static void fail(const std::string& what) {
        throw std::system_error(errno, std::generic_category(), what);
    }
    int fd_;
};

}  // namespace

double Reading::median() const {
    if (values.empty()) throw std::logic_error("a reading without values");
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t half = sorted.size() / 2;
    return sorted.size() % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

double Reading::least() const { return *std::min_element(values.begin(), values.end()); }

double Reading::most() const { return *std::max_element(values.begin(), values.end()); }

ProbeEffort ProbeEffort::quick() {
    ProbeEffort effort;
    effort.repetitions = 3;
    effort.seconds = 0.03;
    effort.copy_bytes = 64ULL << 20;
    effort.storage_bytes = 8ULL << 20;
    return effort;
}

double rounds_per_second(int threads, double seconds,
                         const std::function<void(int thread)>& round) {
    const auto length = std::chrono::duration<double>(seconds);
    std::vector<long> rounds(static_cast<std::size_t>(threads));
    Clock::time_point start;
    std::barrier together(threads, [&]() noexcept { start = Clock::now(); });
    std::vector<std::jthread> team;
    for (int thread = 0; thread < threads; ++thread)
        team.emplace_back([&, thread] {
            together.arrive_and_wait();
            long done = 0;
            do {
                round(thread);
                ++done;
            } while (Clock::now() - start < length);
            rounds[static_cast<std::size_t>(thread)] = done;
        });
    for (std::jthread& member : team) member.join();
    const double taken = std::chrono::duration<double>(Clock::now() - start).count();
    long all = 0;
    for (const long done : rounds) all += done;
    return static_cast<double>(all) / taken;
}

Reading probe_matmul(const ProbeEffort& effort, int threads) {
    constexpr int n = 16 * blocked_matmul_step;
    struct Matrices {
        std::vector<float> a, b, c;
    };
    std::vector<Matrices> all(static_cast<std::size_t>(threads));
    for (Matrices& mine : all) {
        mine.a.assign(static_cast<std::size_t>(n) * n, 1e-3F);
        mine.b.assign(static_cast<std::size_t>(n) * n, 1e-3F);
        mine.c.assign(static_cast<std::size_t>(n) * n, 0.0F);
    }
    const auto round = [&](int thread) {
        Matrices& mine = all[static_cast<std::size_t>(thread)];
        blocked_matmul(mine.a.data(), mine.b.data(), mine.c.data(), n);
    };
    rounds_per_second(threads, 0, round);  // pages, clocks
    Reading reading;
    reading.how = fmt::format("our blocked fp32 kernel, {}, {} thread{}, {} x {} matrices",
                              blocked_matmul_vectors(), threads, threads == 1 ? "" : "s", n, n);
    for (int i = 0; i < effort.repetitions; ++i)
        reading.values.push_back(2.0 * n * n * n *
                                 rounds_per_second(threads, effort.seconds, round));
    return reading;
}

Reading probe_memory(const ProbeEffort& effort, int threads) {
    const std::size_t bytes = effort.copy_bytes / static_cast<std::size_t>(threads);
    std::vector<std::vector<char>> from, to;
    for (int thread = 0; thread < threads; ++thread) {
        from.emplace_back(bytes, 'a');
        to.emplace_back(bytes, 'b');
    }
    const auto round = [&](int thread) {
        const auto i = static_cast<std::size_t>(thread);
        std::memcpy(to[i].data(), from[i].data(), bytes);
    };
    rounds_per_second(threads, 0, round);
    Reading reading;
    reading.how = fmt::format(
        "copying between two buffers of {} MiB, {} thread{}, bytes read plus bytes written",
        effort.copy_bytes >> 20, threads, threads == 1 ? "" : "s");
    for (int i = 0; i < effort.repetitions; ++i)
        reading.values.push_back(2.0 * static_cast<double>(bytes) *
                                 rounds_per_second(threads, effort.seconds, round));
    return reading;
}

Reading probe_storage(const ProbeEffort& effort, const std::filesystem::path& folder) {
    std::vector<char> piece(1 << 20);
    for (std::size_t i = 0; i < piece.size(); ++i)  // not all alike: some devices compress
        piece[i] = static_cast<char>((i * 2654435761U) >> 13);
    const std::uint64_t pieces = effort.storage_bytes / piece.size();
    Reading reading;
    reading.how =
        fmt::format("writing {} MiB into a new file in the data folder, with fsync", pieces);
    for (int i = 0; i < effort.repetitions; ++i) {
        const NamelessFile file(folder);
        const auto start = Clock::now();
        for (std::uint64_t written = 0; written < pieces; ++written) file.write(piece);
        file.sync();
        reading.values.push_back(static_cast<double>(pieces * piece.size()) / seconds_since(start));
    }
    return reading;
}

Reading probe_detection(const ProbeEffort& effort) {
    Reading reading;
    reading.how = "from SIGKILL of a child to its parent's waitpid";
    for (int i = 0; i < effort.repetitions; ++i) {
        Process child = Process::forked([]() -> int {
            while (true) ::pause();
        });
        ::usleep(2000);  // until it runs and sleeps
        const auto start = Clock::now();
        child.kill();
        child.wait();
        reading.values.push_back(seconds_since(start));
    }
    return reading;
}

Reading probe_start(const ProbeEffort& effort, std::span<const std::string> command) {
    if (command.empty()) throw std::invalid_argument("no command");
    ProcessCommand quiet;
    quiet.arguments.assign(command.begin(), command.end());
    quiet.out = quiet.err = Stream::null();
    Reading reading;
    reading.how = "starting this program and waiting for its end";
    for (int i = 0; i < effort.repetitions; ++i) {
        const auto start = Clock::now();
        const ExitStatus ended = Process::spawn(quiet).wait();
        reading.values.push_back(seconds_since(start));
        if (!ended.ok())
            throw std::runtime_error(command[0] + " failed when it was started as a probe");
    }
    return reading;
}

}  // namespace assay::measure
