// Which files and folders are written to the device, and when: takes the place of fsync().
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace assay {

/// Notes the calls of fsync() during its life.
class DeviceWrites {
  public:
    /// `name`: what is to appear.
    explicit DeviceWrites(std::filesystem::path name);
    ~DeviceWrites();
    DeviceWrites(const DeviceWrites&) = delete;
    DeviceWrites& operator=(const DeviceWrites&) = delete;

    /// File names of what was written while `name` was not there, and once it was, sorted.
    std::vector<std::string> before() const;
    std::vector<std::string> after() const;

  private:
    std::filesystem::path name_;
    std::vector<std::string> before_, after_;
};

}  // namespace assay
