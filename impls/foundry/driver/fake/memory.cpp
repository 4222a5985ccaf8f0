// Memory of the device: files in memory (memfd), mapped at the very addresses that the calls give,
// so that a device address is also valid on the host, and a handle can be given to other processes.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "impls/foundry/driver/fake/state.hpp"

namespace assay::foundry::fake {
namespace {

constexpr std::size_t granularity = std::size_t{2} << 20;
constexpr std::size_t page = 4096;
constexpr const char* file_name = "assay-device-memory";

/// Given back to the device when neither handles nor mappings are left. What was imported is
/// counted where it was made.
struct Backing {
    Backing(int opened, std::size_t size, bool is_imported, bool may_share)
        : file(opened), bytes(size), imported(is_imported), shareable(may_share) {}
    ~Backing() {
        close(file);
        if (!imported) take_device_bytes(-static_cast<std::int64_t>(bytes));
    }
    Backing(const Backing&) = delete;
    int file;
    std::size_t bytes;
    bool imported, shareable;
};
struct Mapping {
    std::size_t bytes;
    std::shared_ptr<Backing> backing;
    bool accessible = false;
};
struct Memory {
    std::map<CUdeviceptr, std::size_t> reservations, allocations;
    std::map<CUdeviceptr, Mapping> mappings;
    std::map<CUmemGenericAllocationHandle, std::shared_ptr<Backing>> handles;
    CUmemGenericAllocationHandle next_handle = 1;
};
Memory& memory() {
    static auto& memory = *new Memory;
    return memory;
}

void* host(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

/// `flags` beside those of all: reserved address space without access.
CUdeviceptr map_nothing(CUdeviceptr at, std::size_t bytes, int flags) {
    void* const got = mmap(host(at), bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
    return got == MAP_FAILED ? 0 : reinterpret_cast<CUdeviceptr>(got);
}

CUdeviceptr reserve_anywhere(std::size_t bytes, std::size_t alignment) {
    const CUdeviceptr wide = map_nothing(0, bytes + alignment, 0);
    if (wide == 0) return 0;
    const CUdeviceptr begin = (wide + alignment - 1) / alignment * alignment;
    if (begin > wide) munmap(host(wide), begin - wide);
    if (const std::size_t rest = wide + alignment - begin; rest > 0)
        munmap(host(begin + bytes), rest);
    return begin;
}

/// The mappings that lie in the range, when they fill it without a gap and none reaches beyond.
std::optional<std::vector<CUdeviceptr>> whole_mappings(CUdeviceptr begin, std::size_t bytes) {
    std::vector<CUdeviceptr> found;
    CUdeviceptr at = begin;
    while (at < begin + bytes) {
        const auto mapping = memory().mappings.find(at);
        if (mapping == memory().mappings.end()) return std::nullopt;
        found.push_back(at);
        at += mapping->second.bytes;
    }
    if (found.empty() || at != begin + bytes) return std::nullopt;
    return found;
}

template <class Value>
bool overlaps(const std::map<CUdeviceptr, Value>& ranges, CUdeviceptr begin, std::size_t bytes) {
    const auto after = ranges.lower_bound(begin + bytes);
    if (after == ranges.begin()) return false;
    const auto& [at, last] = *std::prev(after);
    if constexpr (std::is_same_v<Value, Mapping>)
        return at + last.bytes > begin;
    else
        return at + last > begin;
}

bool is_known(const CUmemAllocationProp* prop) {
    return prop && prop->type == CU_MEM_ALLOCATION_TYPE_PINNED &&
           prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
}

CUmemGenericAllocationHandle add_handle(std::shared_ptr<Backing> backing) {
    memory().handles.emplace(memory().next_handle, std::move(backing));
    return memory().next_handle++;
}

/// A file of a fake driver, of this process or another.
bool is_device_file(int file) {
    char target[128] = {};
    const std::string link = "/proc/self/fd/" + std::to_string(file);
    if (readlink(link.c_str(), target, sizeof target - 1) < 0) return false;
    return std::string_view(target).starts_with(std::string("/memfd:") + file_name);
}

}  // namespace

bool is_device_memory(CUdeviceptr address, std::size_t bytes) {
    const Memory& m = memory();
    if (const auto after = m.allocations.upper_bound(address); after != m.allocations.begin()) {
        const auto& [begin, size] = *std::prev(after);
        if (address - begin < size) return bytes <= size - (address - begin);
    }
    for (;;) {  // over mappings side by side
        const auto after = m.mappings.upper_bound(address);
        if (after == m.mappings.begin()) return false;
        const auto& [begin, mapping] = *std::prev(after);
        if (address - begin >= mapping.bytes || !mapping.accessible) return false;
        const std::size_t there = mapping.bytes - (address - begin);
        if (bytes <= there) return true;
        address += there;
        bytes -= there;
    }
}

void forget_memory() {
    for (const auto& [at, bytes] : memory().reservations) munmap(host(at), bytes);
    for (const auto& [at, bytes] : memory().allocations) munmap(host(at), bytes);
    memory() = Memory();
}

std::int64_t live_memory(std::string_view what) {
    const Memory& m = memory();
    return static_cast<std::int64_t>(what == "reservations"  ? m.reservations.size()
                                     : what == "mappings"    ? m.mappings.size()
                                     : what == "handles"     ? m.handles.size()
                                     : what == "allocations" ? m.allocations.size()
                                                             : 0);
}

}  // namespace assay::foundry::fake

using namespace assay::foundry::fake;

CUresult cuMemGetInfo(size_t* free, size_t* total) {
    FAKE_CALL(cuMemGetInfo, context);
    FAKE_NEED(free && total, CUDA_ERROR_INVALID_VALUE);
    *total = static_cast<size_t>(state().settings.memory_bytes);
    *free = static_cast<size_t>(state().settings.memory_bytes - state().device_bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr* address, size_t bytes) {
    FAKE_CALL(cuMemAlloc, context);
    if (const CUresult refusal = forbid_in_capture()) return refusal;
    FAKE_NEED(address && bytes > 0, CUDA_ERROR_INVALID_VALUE);
    const std::size_t size = (bytes + page - 1) / page * page;
    FAKE_NEED(take_device_bytes(static_cast<std::int64_t>(size)), CUDA_ERROR_OUT_OF_MEMORY);
    *address = map_nothing(0, size, 0);
    if (*address == 0 || mprotect(host(*address), size, PROT_READ | PROT_WRITE) != 0) {
        take_device_bytes(-static_cast<std::int64_t>(size));
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memory().allocations.emplace(*address, size);
    return CUDA_SUCCESS;
}

CUresult cuMemFree(CUdeviceptr address) {
    FAKE_CALL(cuMemFree, context);
    if (const CUresult refusal = forbid_in_capture()) return refusal;
    const auto found = memory().allocations.find(address);
    FAKE_NEED(found != memory().allocations.end(), CUDA_ERROR_INVALID_VALUE);
    munmap(host(address), found->second);
    take_device_bytes(-static_cast<std::int64_t>(found->second));
    memory().allocations.erase(found);
    return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr* address, size_t bytes, size_t alignment, CUdeviceptr hint,
                             unsigned long long flags) {
    FAKE_CALL(cuMemAddressReserve, driver);
    if (alignment == 0) alignment = granularity;
    FAKE_NEED(address && bytes > 0 && bytes % page == 0 && hint % page == 0 && flags == 0 &&
                  (alignment & (alignment - 1)) == 0,
              CUDA_ERROR_INVALID_VALUE);
    alignment = std::max(alignment, page);
    CUdeviceptr got = 0;
    if (hint != 0 && hint % alignment == 0 && !state().settings.reserve_elsewhere)
        got = map_nothing(hint, bytes, MAP_FIXED_NOREPLACE);
    if (got != 0 && got != hint) {  // kernels older than 4.17 take it as a hint
        munmap(host(got), bytes);
        got = 0;
    }
    if (got == 0) got = reserve_anywhere(bytes, alignment);
    FAKE_NEED(got != 0, CUDA_ERROR_OUT_OF_MEMORY);
    memory().reservations.emplace(got, bytes);
    *address = got;
    return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
    FAKE_CALL(cuMemAddressFree, driver);
    const auto found = memory().reservations.find(address);
    FAKE_NEED(found != memory().reservations.end() && found->second == bytes &&
                  !overlaps(memory().mappings, address, bytes),
              CUDA_ERROR_INVALID_VALUE);
    munmap(host(address), bytes);
    memory().reservations.erase(found);
    return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                     const CUmemAllocationProp* prop, unsigned long long flags) {
    FAKE_CALL(cuMemCreate, driver);
    FAKE_NEED(handle && bytes > 0 && bytes % granularity == 0 && is_known(prop) && flags == 0,
              CUDA_ERROR_INVALID_VALUE);
    FAKE_NEED(prop->location.id == 0, CUDA_ERROR_INVALID_DEVICE);
    FAKE_NEED((prop->requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) == 0,
              CUDA_ERROR_NOT_SUPPORTED);
    FAKE_NEED(take_device_bytes(static_cast<std::int64_t>(bytes)), CUDA_ERROR_OUT_OF_MEMORY);
    const int file = memfd_create(file_name, MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) {
        if (file >= 0) close(file);
        take_device_bytes(-static_cast<std::int64_t>(bytes));
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *handle =
        add_handle(std::make_shared<Backing>(file, bytes, false, prop->requestedHandleTypes != 0));
    return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    FAKE_CALL(cuMemRelease, driver);
    FAKE_NEED(memory().handles.erase(handle) == 1, CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
    FAKE_CALL(cuMemMap, driver);
    const auto found = memory().handles.find(handle);
    FAKE_NEED(found != memory().handles.end() && bytes > 0 && bytes % granularity == 0 &&
                  address % granularity == 0 && offset == 0 && flags == 0 &&
                  bytes <= found->second->bytes && !overlaps(memory().mappings, address, bytes),
              CUDA_ERROR_INVALID_VALUE);
    const auto after = memory().reservations.upper_bound(address);
    FAKE_NEED(after != memory().reservations.begin(), CUDA_ERROR_INVALID_VALUE);
    const auto& [begin, size] = *std::prev(after);
    FAKE_NEED(address - begin < size && bytes <= size - (address - begin),
              CUDA_ERROR_INVALID_VALUE);
    FAKE_NEED(mmap(host(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, found->second->file,
                   0) != MAP_FAILED,
              CUDA_ERROR_OUT_OF_MEMORY);
    memory().mappings.emplace(address, Mapping{bytes, found->second});
    return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
    FAKE_CALL(cuMemUnmap, driver);
    const auto whole = whole_mappings(address, bytes);
    FAKE_NEED(whole, CUDA_ERROR_INVALID_VALUE);
    FAKE_NEED(map_nothing(address, bytes, MAP_FIXED) != 0, CUDA_ERROR_UNKNOWN);
    for (const CUdeviceptr at : *whole) memory().mappings.erase(at);
    return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc* desc,
                        size_t count) {
    FAKE_CALL(cuMemSetAccess, driver);
    const auto whole = whole_mappings(address, bytes);
    FAKE_NEED(whole && desc && count == 1 && desc->location.type == CU_MEM_LOCATION_TYPE_DEVICE,
              CUDA_ERROR_INVALID_VALUE);
    FAKE_NEED(desc->location.id == 0, CUDA_ERROR_INVALID_DEVICE);
    const int access = desc->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? PROT_READ | PROT_WRITE
                       : desc->flags == CU_MEM_ACCESS_FLAGS_PROT_READ    ? PROT_READ
                                                                         : PROT_NONE;
    FAKE_NEED(mprotect(host(address), bytes, access) == 0, CUDA_ERROR_INVALID_VALUE);
    for (const CUdeviceptr at : *whole)
        memory().mappings.at(at).accessible = desc->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void* file, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags) {
    FAKE_CALL(cuMemExportToShareableHandle, driver);
    const auto found = memory().handles.find(handle);
    FAKE_NEED(file && found != memory().handles.end() && flags == 0 && found->second->shareable &&
                  type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
              CUDA_ERROR_INVALID_VALUE);
    const int copy = fcntl(found->second->file, F_DUPFD_CLOEXEC, 0);
    FAKE_NEED(copy >= 0, CUDA_ERROR_UNKNOWN);
    std::memcpy(file, &copy, sizeof copy);
    return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* file,
                                        CUmemAllocationHandleType type) {
    FAKE_CALL(cuMemImportFromShareableHandle, driver);
    FAKE_NEED(handle && type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CUDA_ERROR_INVALID_VALUE);
    const int given = static_cast<int>(reinterpret_cast<std::intptr_t>(file));
    struct stat status {};
    FAKE_NEED(is_device_file(given) && fstat(given, &status) == 0, CUDA_ERROR_INVALID_VALUE);
    const int copy = fcntl(given, F_DUPFD_CLOEXEC, 0);
    FAKE_NEED(copy >= 0, CUDA_ERROR_UNKNOWN);
    *handle = add_handle(
        std::make_shared<Backing>(copy, static_cast<std::size_t>(status.st_size), true, true));
    return CUDA_SUCCESS;
}
