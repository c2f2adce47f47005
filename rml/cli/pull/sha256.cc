#include "rml/cli/pull/sha256.h"

#include <openssl/evp.h>

#include "rml/core/check.h"
#include "rml/io/mapped_file.h"

namespace rml::cli {

struct Sha256::Impl {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~Impl() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : impl_(std::make_unique<Impl>()) {
  RML_CHECK(EVP_DigestInit_ex(impl_->context, EVP_sha256(), nullptr) == 1);
}

Sha256::~Sha256() = default;

void Sha256::Update(std::span<const std::byte> bytes) {
  RML_CHECK(EVP_DigestUpdate(impl_->context, bytes.data(), bytes.size()) == 1);
}

std::string Sha256::HexDigest() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  RML_CHECK(EVP_DigestFinal_ex(impl_->context, digest, &size) == 1);
  std::string hex;
  for (unsigned i = 0; i < size; ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    hex += kDigits[digest[i] >> 4];
    hex += kDigits[digest[i] & 15];
  }
  return hex;
}

core::Expected<std::string> Sha256OfFile(const std::string& path) {
  RML_ASSIGN(const io::MappedFile file, io::MappedFile::Open(path));
  Sha256 sum;
  sum.Update(file.bytes());
  return sum.HexDigest();
}

}  // namespace rml::cli
