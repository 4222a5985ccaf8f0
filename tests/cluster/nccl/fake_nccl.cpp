// A stand-in for libnccl.so.2 and libcudart.so in one library: streams are threads, device memory
// is the host's, ranks are threads of one process that meet in the in-process back end. Which NCCL,
// the build says: FAKE_VERSION, and FAKE_NO_SHRINK or FAKE_NO_SEND.
//
// It is as strict as the real one lets nobody see: what a communicator is told before it has said
// that it is ready, two threads in one communicator, and an end without an end of its operations
// are errors. Tests make it fail by fake_set(), and see what was called by fake_count().
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "suite/cluster/collectives/in_process.hpp"

using assay::cluster::Communicator;
using assay::cluster::CommunicatorBroken;
using assay::cluster::Dtype;

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

// What tests set and count.

std::mutex book_mutex;
std::map<std::string, long> counts, settings;

void count(const std::string& what, long by = 1) {
    std::lock_guard lock(book_mutex);
    counts[what] += by;
}
long setting(const std::string& what) {
    std::lock_guard lock(book_mutex);
    return settings[what];
}
/// Counts a setting down; true when it gets to 0 now.
bool comes_due(const std::string& what) {
    std::lock_guard lock(book_mutex);
    return settings[what] > 0 && --settings[what] == 0;
}

}  // namespace

EXPORTED void fake_reset() {
    std::lock_guard lock(book_mutex);
    settings.clear();
    counts.clear();
}
EXPORTED void fake_set(const char* what, long value) {
    std::lock_guard lock(book_mutex);
    settings[what] = value;
}
EXPORTED long fake_count(const char* what) {
    std::lock_guard lock(book_mutex);
    return counts[what];
}

// CUDA's run time.

namespace {

constexpr int cuda_success = 0, cuda_invalid = 1, cuda_no_driver = 35, cuda_not_ready = 600;

std::mutex memory_mutex;
std::map<const std::byte*, std::size_t> device_memory;  // bytes, by where it begins

bool on_device(const void* at) {
    std::lock_guard lock(memory_mutex);
    const auto* const byte = static_cast<const std::byte*>(at);
    const auto after = device_memory.upper_bound(byte);
    if (after == device_memory.begin()) return false;
    const auto& [begin, bytes] = *std::prev(after);
    return byte < begin + bytes;
}

class Stream {
  public:
    Stream() : thread_([this] { work(); }) {}
    ~Stream() {
        {
            std::lock_guard lock(mutex_);
            ending_ = true;
            changed_.notify_all();
        }
        thread_.join();
    }
    void put(std::function<void()> task) {
        std::lock_guard lock(mutex_);
        tasks_.push_back(std::move(task));
        changed_.notify_all();
    }
    bool idle() {
        std::lock_guard lock(mutex_);
        return tasks_.empty();
    }

  private:
    void work() {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [&] { return ending_ || !tasks_.empty(); });
            if (tasks_.empty()) return;
            auto task = tasks_.front();
            lock.unlock();
            task();
            lock.lock();
            tasks_.pop_front();  // only now: idle() must not be true before
        }
    }
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> tasks_;
    bool ending_ = false;
    std::thread thread_;
};

}  // namespace

EXPORTED int cudaGetDeviceCount(int* devices) {
    *devices = 1;
    return setting("no_driver") ? cuda_no_driver : cuda_success;
}
EXPORTED int cudaSetDevice(int device) { return device == 0 ? cuda_success : 101; }
EXPORTED const char* cudaGetErrorString(int error) {
    return error == 101              ? "invalid device ordinal"
           : error == cuda_no_driver ? "CUDA driver version is insufficient"
                                     : "an illegal memory access was encountered";
}
EXPORTED int cudaStreamCreateWithFlags(void** stream, unsigned) {
    *stream = new Stream;
    count("streams");
    return cuda_success;
}
EXPORTED int cudaStreamDestroy(void* stream) {
    auto* const it = static_cast<Stream*>(stream);
    if (!it->idle()) count("busy streams destroyed");
    delete it;
    count("streams", -1);
    return cuda_success;
}
EXPORTED int cudaStreamQuery(void* stream) {
    if (comes_due("device_error")) return 700;
    return static_cast<Stream*>(stream)->idle() ? cuda_success : cuda_not_ready;
}
EXPORTED int cudaMalloc(void** memory, std::size_t bytes) {
    auto* const begin = new std::byte[bytes];
    *memory = begin;
    count("allocations");
    std::lock_guard lock(memory_mutex);
    device_memory[begin] = bytes;
    return cuda_success;
}
EXPORTED int cudaFree(void* memory) {
    {
        std::lock_guard lock(memory_mutex);
        device_memory.erase(static_cast<std::byte*>(memory));
    }
    delete[] static_cast<std::byte*>(memory);
    count("allocations", -1);
    return cuda_success;
}
EXPORTED int cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind,
                             void* stream) {
    if (kind != 4) return cuda_invalid;
    count("copies");
    // The real one may not come back before the stream is there.
    if (!(on_device(to) && on_device(from)) && !static_cast<Stream*>(stream)->idle())
        count("copies of the host's memory that may wait");
    static_cast<Stream*>(stream)->put([=] { std::memcpy(to, from, bytes); });
    return cuda_success;
}

// NCCL.

namespace {

constexpr int success = 0, system_error = 2, invalid_argument = 4, invalid_usage = 5,
              remote_error = 6, in_progress = 7;
struct Id {
    char bytes[128];
};
struct Config {
    std::size_t size;
    unsigned magic, version;
    int blocking;
};

/// The ranks of one communicator: all get theirs when all have come.
struct Job {
    explicit Job(int size) : size(size) {
        // For a day: who waits is ended by an abort, as on a GPU.
        members = assay::cluster::make_in_process_group(size, std::chrono::hours(24));
    }
    const int size;
    std::vector<std::unique_ptr<Communicator>> members;
    std::atomic<int> came{0};
    std::map<std::vector<int>, std::shared_ptr<Job>> smaller;
};
std::mutex jobs_mutex;
std::map<std::string, std::shared_ptr<Job>> jobs;  ///< by unique id

}  // namespace

struct ncclComm {
    std::shared_ptr<Job> job;
    std::shared_ptr<Communicator> transport;
    int rank = 0;
    bool blocking = true, finalized = false;
    int polls = 0;  ///< for so many more it says that it is in progress
    std::atomic<bool> busy{false};
    std::shared_ptr<std::atomic<int>> error = std::make_shared<std::atomic<int>>(success);
    std::shared_ptr<std::atomic<bool>> aborted = std::make_shared<std::atomic<bool>>(false);
    std::shared_ptr<std::atomic<int>> under_way = std::make_shared<std::atomic<int>>(0);
    ncclComm** made = nullptr;  ///< where the next smaller one goes, once this has been asked
    ncclComm* smaller = nullptr;
};

namespace {

/// No two threads are in one communicator.
class Alone {
  public:
    explicit Alone(ncclComm* comm) : comm_(comm) {
        if (comm_->busy.exchange(true)) count("concurrent calls");
    }
    ~Alone() { comm_->busy = false; }

  private:
    ncclComm* comm_;
};

int answer(ncclComm* comm) {
    if (comm->blocking) return success;
    comm->polls = 2;
    return in_progress;
}
bool ready(ncclComm* comm) {
    return comm->polls == 0 && comm->job->came >= comm->job->size && !comm->finalized;
}

ncclComm* make_comm(std::shared_ptr<Job> job, int rank, bool blocking) {
    auto* const comm = new ncclComm;
    comm->transport = std::move(job->members[static_cast<std::size_t>(rank)]);
    comm->job = std::move(job);
    comm->rank = rank;
    comm->blocking = blocking;
    ++comm->job->came;
    count("communicators");
    return comm;
}

struct Operation {
    ncclComm* comm;
    Stream* stream;
    enum class Kind { send, other, recv } kind;
    int peer;
    void* data;
    std::size_t bytes;
    std::function<void(Communicator&)> run;
};
thread_local int group_depth = 0;
thread_local std::vector<Operation> group;

/// Runs on a stream: sends first, so that nobody waits for who waits.
void run_all(const std::vector<Operation>& operations, Communicator& all) {
    std::deque<const Operation*> to_self;
    for (const auto kind : {Operation::Kind::send, Operation::Kind::other, Operation::Kind::recv})
        for (const Operation& operation : operations) {
            if (operation.kind != kind) continue;
            if (kind == Operation::Kind::send && operation.peer == all.rank()) {
                to_self.push_back(&operation);
            } else if (kind == Operation::Kind::recv && operation.peer == all.rank()) {
                std::memcpy(operation.data, to_self.front()->data, operation.bytes);
                to_self.pop_front();
            } else {
                operation.run(all);
            }
        }
}

int start(std::vector<Operation> operations) {
    if (operations.empty()) return success;
    ncclComm* const comm = operations.front().comm;
    Alone alone(comm);
    count("launches");
    if (!ready(comm)) {
        count("calls too early");
        return invalid_usage;
    }
    if (comes_due("refuse_call")) return system_error;
    const bool hangs = comes_due("hang"), fails = comes_due("async_error");
    ++*comm->under_way;
    operations.front().stream->put([operations, hangs, fails, transport = comm->transport,
                                    error = comm->error, aborted = comm->aborted,
                                    under_way = comm->under_way] {
        bool ended = false;
        if (fails) *error = remote_error;
        if (!hangs && !fails) {
            try {
                run_all(operations, *transport);
                ended = true;
            } catch (const std::exception&) {
                if (setting("remote_errors")) *error = remote_error;
            }
        }
        --*under_way;
        // What did not come to its end keeps the stream until it is aborted.
        while (!ended && !*aborted) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    return answer(comm);
}

int enqueue(Operation operation) {
    if (group_depth > 0) {
        group.push_back(std::move(operation));
        return success;
    }
    return start({std::move(operation)});
}

bool known(int type, Dtype& dtype) {
    static const std::map<int, Dtype> types{
        {1, Dtype::u8}, {4, Dtype::i64}, {7, Dtype::f32}, {8, Dtype::f64}, {9, Dtype::bf16}};
    const auto found = types.find(type);
    if (found == types.end()) return false;
    dtype = found->second;
    return true;
}

}  // namespace

EXPORTED int ncclGetVersion(int* version) {
    *version = FAKE_VERSION;
    return success;
}
EXPORTED const char* ncclGetErrorString(int result) {
    return result == remote_error    ? "remote process exited or there was a network error"
           : result == system_error  ? "unhandled system error"
           : result == invalid_usage ? "invalid usage"
                                     : "another error";
}
EXPORTED const char* ncclGetLastError(ncclComm*) { return "said the fake"; }
EXPORTED int ncclGetUniqueId(Id* id) {
    static std::atomic<int> ids{0};
    if (setting("no_unique_id")) return system_error;
    const std::string text = "fake " + std::to_string(++ids);
    std::memset(id->bytes, 0, sizeof id->bytes);
    std::memcpy(id->bytes, text.data(), text.size());
    count("unique ids");
    return success;
}

namespace {

std::shared_ptr<Job> job_of(const Id& id, int size) {
    std::lock_guard lock(jobs_mutex);
    auto& job = jobs[std::string(id.bytes, sizeof id.bytes)];
    if (!job) job = std::make_shared<Job>(size);
    return job;
}

}  // namespace

EXPORTED int ncclCommInitRankConfig(ncclComm** comm, int ranks, Id id, int rank,
                                    const Config* config) {
    if (config->magic != 0xcafebeef || config->size != 24 || config->version != 21400)
        return invalid_argument;
    auto job = job_of(id, ranks);
    if (setting("init_hangs")) job->came -= 1000;
    *comm = make_comm(std::move(job), rank, config->blocking != 0);
    return answer(*comm);
}
EXPORTED int ncclCommFinalize(ncclComm* comm) {
    Alone alone(comm);
    if (!ready(comm) || *comm->under_way > 0) count("calls too early");
    comm->finalized = true;
    count("ncclCommFinalize");
    return answer(comm);
}
EXPORTED int ncclCommDestroy(ncclComm* comm) {
    if (!comm->blocking && !comm->finalized) count("calls too early");
    if (*comm->under_way > 0) count("calls too early");
    count("ncclCommDestroy");
    count("communicators", -1);
    delete comm;
    return success;
}
EXPORTED int ncclCommAbort(ncclComm* comm) {
    if (comm->busy.exchange(true)) count("concurrent calls");
    *comm->aborted = true;
    if (comm->transport) comm->transport->abort("by ncclCommAbort");
    count("ncclCommAbort");
    count("communicators", -1);
    delete comm;
    return success;
}
EXPORTED int ncclCommGetAsyncError(ncclComm* comm, int* result) {
    Alone alone(comm);
    *result = *comm->error;
    if (*result != success) return success;
    if (comm->job->came < comm->job->size) {
        *result = in_progress;
    } else if (comm->polls > 0) {
        --comm->polls;
        *result = in_progress;
    } else if (comm->made) {
        *comm->made = std::exchange(comm->smaller, nullptr);
        comm->made = nullptr;
    }
    return success;
}
#ifndef FAKE_NO_SHRINK
EXPORTED int ncclCommShrink(ncclComm* comm, int* excluded, int excluded_count, ncclComm** made,
                            const Config* config, int flags) {
    Alone alone(comm);
    if (!ready(comm)) {
        count("calls too early");
        return invalid_usage;
    }
    count(flags == 1 ? "shrinks that abort" : "shrinks");
    if (setting("refuse_shrink")) return system_error;
    if (flags == 1) {
        *comm->aborted = true;
        comm->transport->abort("by ncclCommShrink");
    } else if (*comm->under_way > 0) {
        count("calls too early");
    }
    const std::vector<int> out(excluded, excluded + excluded_count);
    std::shared_ptr<Job> job;
    {
        std::lock_guard lock(jobs_mutex);
        auto& place = comm->job->smaller[out];
        if (!place) place = std::make_shared<Job>(comm->job->size - excluded_count);
        job = place;
    }
    int rank = comm->rank;
    for (const int other : out) rank -= other < comm->rank ? 1 : 0;
    comm->smaller = make_comm(std::move(job), rank, config->blocking != 0);
    comm->made = made;
    return answer(comm);
}
#endif
EXPORTED int ncclGroupStart() {
    ++group_depth;
    return success;
}
EXPORTED int ncclGroupEnd() {
    if (--group_depth > 0) return success;
    return start(std::exchange(group, {}));
}
EXPORTED int ncclAllReduce(const void* from, void* to, std::size_t elements, int type, int op,
                           ncclComm* comm, void* stream) {
    Dtype dtype;
    if (!known(type, dtype) || op != 0) return invalid_argument;
    const std::size_t bytes = elements * assay::cluster::size_of(dtype);
    return enqueue({comm, static_cast<Stream*>(stream), Operation::Kind::other, -1, to, bytes,
                    [=](Communicator& all) {
                        if (to != from) std::memcpy(to, from, bytes);
                        all.all_reduce_sum(to, elements, dtype);
                    }});
}
EXPORTED int ncclAllGather(const void* from, void* to, std::size_t elements, int type,
                           ncclComm* comm, void* stream) {
    Dtype dtype;
    if (!known(type, dtype)) return invalid_argument;
    return enqueue({comm, static_cast<Stream*>(stream), Operation::Kind::other, -1, to, 0,
                    [=](Communicator& all) { all.all_gather(from, elements, to, dtype); }});
}
EXPORTED int ncclBroadcast(const void* from, void* to, std::size_t elements, int type, int root,
                           ncclComm* comm, void* stream) {
    Dtype dtype;
    if (!known(type, dtype)) return invalid_argument;
    const std::size_t bytes = elements * assay::cluster::size_of(dtype);
    return enqueue({comm, static_cast<Stream*>(stream), Operation::Kind::other, -1, to, bytes,
                    [=](Communicator& all) {
                        if (all.rank() == root && to != from) std::memcpy(to, from, bytes);
                        all.broadcast(to, elements, dtype, root);
                    }});
}
#ifndef FAKE_NO_SEND
EXPORTED int ncclSend(const void* from, std::size_t elements, int type, int peer, ncclComm* comm,
                      void* stream) {
    Dtype dtype;
    if (!known(type, dtype)) return invalid_argument;
    return enqueue({comm, static_cast<Stream*>(stream), Operation::Kind::send, peer,
                    const_cast<void*>(from), elements * assay::cluster::size_of(dtype),
                    [=](Communicator& all) { all.send(from, elements, dtype, peer); }});
}
#endif
EXPORTED int ncclRecv(void* to, std::size_t elements, int type, int peer, ncclComm* comm,
                      void* stream) {
    Dtype dtype;
    if (!known(type, dtype)) return invalid_argument;
    return enqueue({comm, static_cast<Stream*>(stream), Operation::Kind::recv, peer, to,
                    elements * assay::cluster::size_of(dtype),
                    [=](Communicator& all) { all.recv(to, elements, dtype, peer); }});
}
