// Signals as something a poll loop can wait for: while a SignalWatch lives, the named signals make
// its descriptor readable instead of doing what they did before; afterwards they do that again,
// unless somebody has given them another handler meanwhile.
#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "suite/base/file_descriptor.hpp"

namespace assay::cluster {

/// Any number may live in one process (at most kMaxWatches); each sees every signal it named.
class SignalWatch {
  public:
    static constexpr int kMaxWatches = 64;

    explicit SignalWatch(std::initializer_list<int> signals);
    ~SignalWatch();
    SignalWatch(const SignalWatch&) = delete;
    SignalWatch& operator=(const SignalWatch&) = delete;

    int fd() const { return read_end_.get(); }
    /// A signal that arrived and was not taken yet. Does not block.
    std::optional<int> take();

    /// In a process just forked: forgets the watches of the parent and sets their signals to
    /// default.
    static void discard_inherited();

  private:
    FileDescriptor read_end_, write_end_;
    std::vector<int> signals_;
    int slot_ = -1;
};

}  // namespace assay::cluster
