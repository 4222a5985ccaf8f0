// The three kinds of work: of one core, of all cores and the memory, of the kernel.
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <vector>

#include "suite/base/process.hpp"
#include "suite/measure/machine_probe.hpp"
#include "suite/reference_workload/reference_workload.hpp"

namespace assay::reference_workload {
namespace {

using Clock = std::chrono::steady_clock;

// Amounts: a few hundredths of a second each on a core of a 2023 server.
constexpr long integer_steps = 6'000'000;
constexpr int matrix_size = 4 * measure::blocked_matmul_step;
constexpr int products = 30;
constexpr std::size_t buffer_words = (256ULL << 20) / sizeof(std::uint64_t);
constexpr int passes = 8;
constexpr int children = 10;
constexpr int round_trips = 800;

/// Marsaglia's xorshift with shifts 13, 7, 17: each step needs the one before.
std::uint64_t integer_chain(long steps) {
    std::uint64_t x = 0x9E3779B97F4A7C15U;
    for (long i = 0; i < steps; ++i) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

/// Returns each byte plus one until the other end is closed.
int echo(Pipe& to_us, const Pipe& from_us) {
    to_us.write.reset();
    unsigned char byte = 0;
    while (::read(to_us.read.get(), &byte, 1) == 1) {
        ++byte;
        if (::write(from_us.write.get(), &byte, 1) != 1) break;
    }
    return 0;
}

}  // namespace

TimedWork arithmetic() {
    constexpr auto elements = static_cast<std::size_t>(matrix_size) * matrix_size;
    const std::vector<float> a(elements, 1.0F), b(elements, 1.0F);
    std::vector<float> c(elements, 0.0F);
    measure::blocked_matmul(a.data(), b.data(), c.data(), matrix_size);  // pages, clocks
    const auto start = Clock::now();
    TimedWork done;
    done.checksum = integer_chain(integer_steps);
    for (int i = 0; i < products; ++i)
        measure::blocked_matmul(a.data(), b.data(), c.data(), matrix_size);
    done.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    // Sums of ones below 2^24 are exact in any order.
    done.checksum += static_cast<std::uint64_t>(c[elements / 2]);
    return done;
}

TimedWork memory(int threads) {
    const auto team = static_cast<std::size_t>(threads < 1 ? 1 : threads);
    std::vector<std::uint64_t> buffer(buffer_words);
    for (std::size_t i = 0; i < buffer_words; ++i) buffer[i] = i * 0x9E3779B97F4A7C15U;
    std::vector<std::uint64_t> sums(team);
    const auto read_part = [&](int thread) {
        const auto mine = static_cast<std::size_t>(thread);
        const std::size_t from = buffer_words * mine / team;
        const std::size_t to = buffer_words * (mine + 1) / team;
        std::uint64_t sum = 0;
        for (std::size_t i = from; i < to; ++i) sum += buffer[i];
        sums[mine] = sum;
    };
    TimedWork done;
    for (int pass = 0; pass < passes; ++pass) {
        // In no time each thread does exactly one round.
        const double seconds = static_cast<double>(team) /
                               measure::rounds_per_second(static_cast<int>(team), 0, read_part);
        if (pass == 0 || seconds < done.seconds) done.seconds = seconds;
    }
    for (const std::uint64_t sum : sums) done.checksum += sum;
    return done;
}

TimedWork processes() {
    TimedWork done;
    const auto start = Clock::now();
    for (int i = 0; i < children; ++i) {
        const ExitStatus ended = Process::forked([i] { return i % 100; }).wait();
        done.checksum += static_cast<std::uint64_t>(ended.code.value_or(-1));
    }
    Pipe there, back;
    Process partner = Process::forked([&] { return echo(there, back); });
    unsigned char byte = 0;
    for (int i = 0; i < round_trips; ++i)
        if (::write(there.write.get(), &byte, 1) != 1 || ::read(back.read.get(), &byte, 1) != 1)
            fail("the control workload's pipe");
    done.checksum += byte;
    there.write.reset();
    partner.wait();
    done.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return done;
}

}  // namespace assay::reference_workload
