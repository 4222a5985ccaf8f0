// SHA-256 through libcrypto, for content addresses and for checking downloaded files.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // libcrypto's EVP_MD_CTX

namespace assay {

/// Incremental: update() any number of times, then hex() once.
class Sha256 {
  public:
    Sha256();
    void update(std::string_view bytes);
    std::string hex();  ///< 64 lower-case digits; ends the computation

  private:
    struct Free {
        void operator()(evp_md_ctx_st*) const;
    };
    std::unique_ptr<evp_md_ctx_st, Free> context_;
};

std::string sha256_hex(std::string_view bytes);

/// Of a file's contents, read in pieces. Throws std::system_error when it cannot be read.
std::string sha256_file_hex(const std::filesystem::path& file);

}  // namespace assay
