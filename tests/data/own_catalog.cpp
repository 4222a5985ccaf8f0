#include "tests/data/own_catalog.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "suite/base/sha256.hpp"

namespace assay::data {

namespace fs = std::filesystem;

namespace {

std::string catalog_text() {
    const std::string head = R"(
[[entry]]
id = "verses"
kind = "corpus"
says = "two verses"
licence = "public domain"
origin = "package verses-package"
file = "verses.txt"
format = "text"
debian = { package = "verses-package", version = "1", verses = true, command = ["printf", "Ge1:1 In the\nGe1:2 And the\n"] }

[[entry]]
id = "other-version"
kind = "corpus"
says = "its package prints something other than what is known"
licence = "MIT"
origin = "package other"
file = "other.txt"
format = "text"
sha256 = "0000000000000000000000000000000000000000000000000000000000000000"
debian = { package = "other", version = "1", command = ["echo", "other"] }

[[entry]]
id = "no-program"
kind = "corpus"
says = "its program does not exist"
licence = "MIT"
origin = "package absent-package"
file = "no-program.txt"
format = "text"
debian = { package = "absent-package", version = "1", command = ["no-such-program-anywhere"] }

[[entry]]
id = "fails"
kind = "corpus"
says = "its program fails"
licence = "MIT"
origin = "package broken-package"
file = "fails.txt"
format = "text"
debian = { package = "broken-package", version = "1", command = ["cat", "/no/such/file"] }

[[entry]]
id = "trace"
kind = "trace"
says = "a trace the user brings"
licence = "GPL-3.0-only"
origin = "somebody's machine"
obtain = "ask somebody"
file = "trace.csv"
format = "node_trace"
)";
    const std::string loads = R"(
[[entry]]
id = "loads"
kind = "trace"
says = "loads that the user brings, or the logs they are summed from"
licence = "MIT"
origin = "somebody's training"
obtain = "take the folder of somebody's logs"
file = "loads.csv"
format = "expert_loads"
folder = { converter = "logs", called = "folder of logs or the file that sums them", first_iteration = 1, last_iteration = 1, iteration_step = 10, ranks = 2, layers = 1, micro_batches = 2, experts = 2, tokens = 8 }
)";
    const auto hash_of = [](const char* bytes) {
        return "sha256 = \"" + sha256_hex(bytes) + "\"\n";
    };
    return head + hash_of(right_trace) + loads + hash_of(right_loads);
}

fs::path temporary_folder() {
    std::string pattern = (fs::temp_directory_path() / "assay-data-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder");
    return pattern;
}

/// The catalogue is read once per process, so the whole executable shares one.
class Datasets : public testing::Environment {
  public:
    void SetUp() override {
        folder_ = temporary_folder();
        fs::create_directory(folder_ / "claims");
        write_file(folder_ / "catalog.toml", catalog_text());
        setenv("ASSAY_DATASETS", folder_.c_str(), 1);
    }
    void TearDown() override { fs::remove_all(folder_); }

  private:
    fs::path folder_;
};

const auto* const datasets = testing::AddGlobalTestEnvironment(new Datasets);

}  // namespace

void write_file(const fs::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary) << bytes;
}

std::string read_file(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void OwnCatalog::SetUp() {
    root_ = temporary_folder();
    data_ = root_ / "data";
    setenv("ASSAY_DATA", data_.c_str(), 1);
}

void OwnCatalog::TearDown() { fs::remove_all(root_); }

std::vector<std::string> OwnCatalog::data_files() const {
    std::vector<std::string> names;
    for (const auto& file : fs::directory_iterator(data_))
        names.push_back(file.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace assay::data
