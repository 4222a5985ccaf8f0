// Kernel binaries on a device, and the kernels in them by the SHA-256 of the binary and their name:
// what a graph's node is known by from one process to the next (specification 3.4, 3.5).
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "impls/foundry/driver/driver_table.hpp"
#include "impls/foundry/method/images/image.hpp"

namespace assay::foundry {

class Images {
  public:
    explicit Images(const Driver& driver) : driver_(driver) {}
    ~Images();  ///< unloads them
    Images(const Images&) = delete;
    Images& operator=(const Images&) = delete;

    /// Loads a binary and takes hold of all its kernels, so that lazy loading has nothing left for
    /// the first launch. Its SHA-256; one that is loaded already is loaded once. `image` must stay
    /// where it is. Throws DriverError, ImageError.
    std::string load(std::span<const std::byte> image);

    struct Resolved {
        CUkernel kernel = nullptr;
        CUfunction function = nullptr;
        std::vector<Parameter> params;  ///< as the driver lays them out
    };
    /// Null: the image is not loaded, or has no such kernel.
    const Resolved* find(const std::string& image, const std::string& name) const;

    struct Identity {
        std::string image, name;
    };
    /// Of a kernel of an image loaded here, by either kind of handle; nullopt: of none.
    std::optional<Identity> identify(const void* handle) const;

  private:
    struct Loaded {
        CUlibrary library = nullptr;
        std::map<std::string, Resolved> kernels;
    };
    void enumerate(const std::string& hash, Loaded& loaded);

    const Driver& driver_;
    std::map<std::string, Loaded> loaded_;
    std::map<const void*, Identity> identities_;
};

}  // namespace assay::foundry
