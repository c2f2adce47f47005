// Tokenizer::Open: finds and reads the files that make a tokenizer.
#include <zlib.h>

#include <filesystem>
#include <string>

#include "rml/io/gguf.h"
#include "rml/io/mapped_file.h"
#include "rml/text/tokenizer.h"

namespace rml::text {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxJsonBytes = uint64_t{512} << 20;  // the JSON parser's limit as well

bool Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

struct InflateStream {
  z_stream z = {};
  ~InflateStream() { inflateEnd(&z); }
};

core::Expected<std::string> Gunzip(std::string_view data) {
  InflateStream stream;
  constexpr int kGzip = 16 + MAX_WBITS;
  if (inflateInit2(&stream.z, kGzip) != Z_OK)
    return core::ResourceExhausted("no memory to inflate");
  stream.z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.z.avail_in = static_cast<uInt>(data.size());
  std::string result;
  int code = Z_OK;
  while (code != Z_STREAM_END) {
    const size_t before = result.size();
    if (before > kMaxJsonBytes) {
      return core::Unsupported("inflates to more than ", kMaxJsonBytes >> 20, " MiB");
    }
    constexpr size_t kStep = size_t{1} << 20;
    result.resize(before + kStep);
    stream.z.next_out = reinterpret_cast<Bytef*>(result.data() + before);
    stream.z.avail_out = kStep;
    code = inflate(&stream.z, Z_NO_FLUSH);
    result.resize(result.size() - stream.z.avail_out);
    if (code != Z_OK && code != Z_STREAM_END) {
      return core::DataLoss("is no gzip data from byte ", static_cast<uint64_t>(stream.z.total_in),
                            " on, or ends too early");
    }
  }
  return result;
}

bool IsGzip(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x1F' && bytes[1] == '\x8B';
}

// The text of a file, inflated when it is gzip data.
core::Expected<std::string> ReadMaybeGzip(const fs::path& path) {
  auto text = io::ReadTextFile(path.string(), kMaxJsonBytes);
  if (!text.ok() || !IsGzip(*text)) return text;
  auto inflated = Gunzip(*text);
  if (!inflated.ok()) return inflated.status().WithContext(path.string());
  return inflated;
}

// `name` or `name`.gz in `folder`; empty when there is neither.
fs::path FindFile(const fs::path& folder, const std::string& name) {
  for (const std::string& candidate : {name, name + ".gz"}) {
    if (Exists(folder / candidate)) return folder / candidate;
  }
  return {};
}

core::Expected<std::shared_ptr<const Tokenizer>> OpenJson(const fs::path& path) {
  RML_ASSIGN(const std::string json, ReadMaybeGzip(path));
  std::string config;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (const fs::path file = FindFile(folder, "tokenizer_config.json"); !file.empty()) {
    RML_ASSIGN(config, ReadMaybeGzip(file));
  }
  auto tokenizer = Tokenizer::FromJson(json, config);
  if (!tokenizer.ok()) return tokenizer.status().WithContext(folder.string());
  return tokenizer;
}

}  // namespace

core::Expected<std::shared_ptr<const Tokenizer>> Tokenizer::Open(std::string_view name) {
  const fs::path path(name);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    return core::NotFound("'", name,
                          "' does not exist; give a .gguf file, a tokenizer.json or its folder");
  }
  if (fs::is_directory(status)) {
    const fs::path file = FindFile(path, "tokenizer.json");
    if (file.empty()) {
      return core::NotFound("the folder '", name,
                            "' holds neither tokenizer.json nor tokenizer.json.gz");
    }
    return OpenJson(file);
  }
  const std::string extension = path.extension().string();
  if (extension == ".json" || extension == ".gz") return OpenJson(path);
  RML_ASSIGN(const io::GgufFile file, io::GgufFile::Open(name));
  return FromGguf(file);
}

}  // namespace rml::text
