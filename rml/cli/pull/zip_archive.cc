#include "rml/cli/pull/zip_archive.h"

#include <zip.h>

#include <utility>

namespace rml::cli {

using core::Expected;
using core::Status;

struct ZipArchive::Impl {
  std::string path;
  zip_t* archive = nullptr;
  ~Impl() {
    if (archive != nullptr) zip_discard(archive);
  }
};

ZipArchive::ZipArchive(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ZipArchive::ZipArchive(ZipArchive&&) noexcept = default;
ZipArchive::~ZipArchive() = default;

Expected<ZipArchive> ZipArchive::Open(const std::string& path) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  int code = 0;
  impl->archive = zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code);
  if (impl->archive == nullptr) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const Status status =
        core::DataLoss(path, ": not a readable zip archive (", zip_error_strerror(&error), ")");
    zip_error_fini(&error);
    return status;
  }
  return ZipArchive(std::move(impl));
}

std::vector<std::string> ZipArchive::MemberNames() const {
  std::vector<std::string> names;
  const zip_int64_t count = zip_get_num_entries(impl_->archive, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* name = zip_get_name(impl_->archive, static_cast<zip_uint64_t>(i), 0);
    if (name != nullptr) names.emplace_back(name);
  }
  return names;
}

Status ZipArchive::Extract(const std::string& member, Sink sink) const {
  zip_file_t* file = zip_fopen(impl_->archive, member.c_str(), 0);
  if (file == nullptr) {
    return core::DataLoss(impl_->path, ": member '", member, "': ", zip_strerror(impl_->archive));
  }
  std::vector<std::byte> buffer(1 << 20);
  Status status;
  zip_int64_t got = 0;
  while (status.ok() && (got = zip_fread(file, buffer.data(), buffer.size())) > 0) {
    status = sink(std::span(buffer).first(static_cast<size_t>(got)));
  }
  if (status.ok() && got < 0) {
    status = core::DataLoss(impl_->path, ": member '", member, "' is damaged (",
                            zip_file_strerror(file), ")");
  }
  zip_fclose(file);
  return status;
}

}  // namespace rml::cli
