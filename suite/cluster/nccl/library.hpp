// NCCL as it is found at run time: a table of its functions, by declarations of our own (those of
// nccl.h, which have not changed since they came), and what its version lacks. 2.14 is the oldest:
// its calls return at once and are asked about. Those before block for as long as a peer does, and
// an abort, which another thread has to call then, frees the communicator under the call.
#pragma once

#include <climits>
#include <cstddef>
#include <memory>
#include <string>

namespace assay::cluster::nccl {

using Comm = struct ncclComm*;
struct UniqueId {
    char bytes[128];
};
/// ncclConfig_t as it was in 2.14, with the size and the version that say so: later ones read what
/// is there and take their own defaults for the rest.
struct Config {
    std::size_t size = sizeof(Config);
    unsigned magic = 0xcafebeef;
    unsigned version = 21400;
    int blocking = 0;
    int later = INT_MIN;  ///< unset
};
static_assert(sizeof(Config) == 24);

// ncclResult_t
constexpr int success = 0, in_progress = 7;
// ncclDataType_t
constexpr int type_u8 = 1, type_i64 = 4, type_f32 = 7, type_f64 = 8, type_bf16 = 9;
constexpr int sum = 0;           // ncclRedOp_t
constexpr int shrink_abort = 1;  // flag of ncclCommShrink

struct Library {
    std::string file;
    int version = 0;  ///< as ncclGetVersion() says it: 22703 is 2.27.3

    int (*get_unique_id)(UniqueId*) = nullptr;
    int (*init_rank_config)(Comm*, int ranks, UniqueId, int rank, Config*) = nullptr;
    int (*finalize)(Comm) = nullptr;
    int (*destroy)(Comm) = nullptr;
    int (*abort)(Comm) = nullptr;
    int (*async_error)(Comm, int* result) = nullptr;
    const char* (*error_string)(int) = nullptr;
    int (*group_start)() = nullptr;
    int (*group_end)() = nullptr;
    int (*all_reduce)(const void*, void*, std::size_t count, int type, int op, Comm,
                      void* stream) = nullptr;
    int (*all_gather)(const void*, void*, std::size_t count, int type, Comm,
                      void* stream) = nullptr;
    int (*broadcast)(const void*, void*, std::size_t count, int type, int root, Comm,
                     void* stream) = nullptr;
    int (*send)(const void*, std::size_t count, int type, int peer, Comm, void* stream) = nullptr;
    int (*recv)(void*, std::size_t count, int type, int peer, Comm, void* stream) = nullptr;

    const char* (*last_error)(Comm) = nullptr;
    // What older versions lack.
    int (*shrink)(Comm, int* excluded, int count, Comm* child, Config*,
                  int flags) = nullptr;  // 2.27

    Library() = default;
    ~Library();
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
    void* handle = nullptr;  ///< of the loader
};

struct Found {
    std::shared_ptr<const Library> library;
    std::string why_not;  ///< a sentence that says what to do; empty where there is a library
};

/// The file that the environment variable ASSAY_NCCL names, or else libnccl.so.2: what is loaded
/// already (libtorch's), what lies where libtorch's wheel has it, what the loader finds.
Found find_library();
Found open_library(const std::string& file);

/// "2.27.3"
std::string version_text(int version);
/// One line for `assay doctor`: version, file, and what it lacks; or why there is none.
std::string describe(const Found& found);

}  // namespace assay::cluster::nccl
