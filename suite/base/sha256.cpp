#include "suite/base/sha256.hpp"

#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace assay {

void Sha256::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
    if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1)
        throw std::runtime_error("libcrypto has no SHA-256");
}

void Sha256::update(std::string_view bytes) {
    if (EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) != 1)
        throw std::runtime_error("libcrypto could not go on with a SHA-256");
}

std::string Sha256::hex() {
    std::array<unsigned char, 32> digest;
    if (EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) != 1)
        throw std::runtime_error("libcrypto could not end a SHA-256");
    std::string text;
    for (const unsigned char byte : digest) {
        text += "0123456789abcdef"[byte >> 4];
        text += "0123456789abcdef"[byte & 0xf];
    }
    return text;
}

std::string sha256_hex(std::string_view bytes) {
    Sha256 hash;
    hash.update(bytes);
    return hash.hex();
}

std::string sha256_file_hex(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in)
        throw std::system_error(errno, std::generic_category(), "cannot read " + file.string());
    Sha256 hash;
    std::vector<char> piece(1 << 20);
    while (in) {
        in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
        hash.update({piece.data(), static_cast<std::size_t>(in.gcount())});
    }
    if (in.bad())
        throw std::system_error(errno, std::generic_category(), "cannot read " + file.string());
    return hash.hex();
}

}  // namespace assay
