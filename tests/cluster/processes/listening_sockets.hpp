// Which TCP addresses processes listen on, from /proc.
#pragma once

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace assay::cluster {

/// Local addresses and ports of all listening TCP sockets that any of `pids` holds open, as the
/// kernel writes them: hexadecimal, each 32-bit word of the address in this machine's byte order.
inline std::vector<std::string> listening_sockets(const std::set<long>& pids) {
    std::set<std::string> inodes;
    for (long pid : pids) {
        std::error_code gone;  // a process may end while it is looked at
        std::filesystem::directory_iterator entry("/proc/" + std::to_string(pid) + "/fd", gone);
        for (; entry != std::filesystem::directory_iterator(); entry.increment(gone)) {
            const std::string target = std::filesystem::read_symlink(entry->path(), gone).string();
            if (target.rfind("socket:[", 0) == 0)
                inodes.insert(target.substr(8, target.size() - 9));
        }
    }
    std::vector<std::string> addresses;
    for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
        std::ifstream lines(table);
        std::string line;
        std::getline(lines, line);  // the heading
        while (std::getline(lines, line)) {
            std::istringstream words(line);
            std::string slot, local, remote, state, queues, timer, retransmits, uid, timeout, inode;
            words >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> uid >>
                timeout >> inode;
            if (state == "0A" && inodes.count(inode)) {
                addresses.push_back(local);
            }
        }
    }
    return addresses;
}

/// 127.0.0.1, ::1, or ::ffff:127.0.0.1 on a little-endian machine.
inline bool is_loopback(const std::string& local) {
    const std::string address = local.substr(0, local.find(':'));
    return address == "0100007F" || address == "00000000000000000000000001000000" ||
           address == "0000000000000000FFFF00000100007F";
}

}  // namespace assay::cluster
