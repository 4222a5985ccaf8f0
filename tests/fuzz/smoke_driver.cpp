// Runs a fuzz target without libFuzzer: every file of the seed corpus as it is, then a fixed number
// of deterministic mutations of them. A crash or an exception that the target lets through fails
// the test.
//
//   NAME_fuzz CORPUS_FOLDER [MUTATIONS (20000)]
//   NAME_fuzz FILE                 run one input, to reproduce what libFuzzer found
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void feed(const std::string& input) {
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

class Mutator {
  public:
    explicit Mutator(std::vector<std::string> seeds) : seeds_(std::move(seeds)) {}

    std::string next() {
        std::string input = pick();
        for (std::size_t change = 1 + below(4); change > 0; --change) mutate(input);
        return input;
    }

  private:
    std::size_t below(std::size_t n) { return n ? engine_() % n : 0; }
    const std::string& pick() { return seeds_[below(seeds_.size())]; }

    void mutate(std::string& input) {
        // Fragments on which number and text parsers tend to trip.
        static const std::vector<std::string> nasty{"-1",
                                                    "nan",
                                                    "inf",
                                                    "1e999",
                                                    "-0",
                                                    "99999999999999999999",
                                                    "0x1p3",
                                                    "\"",
                                                    "'''",
                                                    "[[",
                                                    "{",
                                                    "=",
                                                    "@",
                                                    ",",
                                                    ";",
                                                    "\n",
                                                    std::string(1, '\0'),
                                                    "\xff\xfe",
                                                    "\xc3",
                                                    "\\u0000",
                                                    "1979-05-27"};
        const std::size_t at = below(input.size() + 1);
        const std::size_t length = std::min(below(16), input.size() - at);
        switch (below(6)) {
            case 0:
                if (at < input.size()) input[at] = static_cast<char>(engine_());
                break;
            case 1:
                input.insert(at, nasty[below(nasty.size())]);
                break;
            case 2:
                input.erase(at, length);
                break;
            case 3:
                input.insert(at, input.substr(at, length));
                break;
            case 4: {  // splice with another seed
                const std::string& other = pick();
                input = input.substr(0, at) + other.substr(below(other.size() + 1));
                break;
            }
            default:
                input.replace(at, length, nasty[below(nasty.size())]);
        }
        if (input.size() > 8192) input.resize(8192);
    }

    std::vector<std::string> seeds_;
    std::mt19937_64 engine_{20240704};
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: %s CORPUS_FOLDER [MUTATIONS] | FILE\n", argv[0]);
        return 1;
    }
    if (fs::is_regular_file(argv[1])) {
        feed(contents(argv[1]));
        return 0;
    }
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(argv[1])) files.push_back(entry.path());
    std::sort(files.begin(), files.end());  // the same mutations on every file system
    std::vector<std::string> seeds;
    for (const fs::path& file : files) seeds.push_back(contents(file));
    if (seeds.empty()) {
        std::fprintf(stderr, "%s holds no seeds\n", argv[1]);
        return 1;
    }
    const long mutations = argc > 2 ? std::atol(argv[2]) : 20000;
    const std::string last = std::string(argv[0]) + ".last_input";
    Mutator mutator(seeds);
    for (long i = -static_cast<long>(seeds.size()); i < mutations; ++i) {
        const std::string input = i < 0 ? seeds[static_cast<std::size_t>(-i - 1)] : mutator.next();
        try {
            feed(input);
        } catch (const std::exception& error) {
            std::ofstream(last, std::ios::binary) << input;
            std::fprintf(stderr, "escaped: %s; the input is in %s\n", error.what(), last.c_str());
            return 1;
        }
    }
    std::printf("%zu seeds and %ld mutations without a crash\n", seeds.size(), mutations);
    return 0;
}
