#include <httplib.h>  // its flags, OpenSSL among them, come from pkg-config

#include <cstdio>
#include <string>

#include "rml/cli/pull/fetch.h"
#include "rml/cli/report.h"
#include "rml/core/format_bytes.h"
#include "rml/io/file_writer.h"

namespace rml::cli {

using core::Expected;
using core::Status;

bool IsUrl(const std::string& text) {
  return text.starts_with("http://") || text.starts_with("https://");
}

Expected<std::string> DownloadUrl(const std::string& url, const std::string& folder) {
  const size_t host_begin = url.find("://") + 3;
  const size_t path_begin = std::min(url.find('/', host_begin), url.size());
  const std::string origin = url.substr(0, path_begin);
  const std::string path = path_begin == url.size() ? "/" : url.substr(path_begin);
  const std::string bare = path.substr(0, path.find_first_of("?#"));
  const std::string name = bare.substr(bare.rfind('/') + 1);
  if (name.empty() || name == "." || name == "..") {
    return core::InvalidArgument(url, ": the URL names no file");
  }
  const std::string target = core::StrCat(folder, "/", name);
  RML_ASSIGN(io::FileWriter writer, io::FileWriter::Create(target));

  httplib::Client client(origin);
  client.set_follow_location(true);
  client.set_connection_timeout(30);
  client.set_read_timeout(60);
  Status written;
  const bool show = StderrIsTerminal();
  const auto result = client.Get(
      path,
      [&](const char* data, size_t size) {
        written = writer.Write(std::string_view(data, size));
        return written.ok();
      },
      [&](uint64_t done, uint64_t total) {
        if (show) {
          std::fprintf(stderr, "\r%s  %s of %s ", name.c_str(),
                       core::FormatBytes(static_cast<int64_t>(done)).c_str(),
                       core::FormatBytes(static_cast<int64_t>(total)).c_str());
        }
        return true;
      });
  if (show) std::fputc('\n', stderr);
  RML_TRY(written);
  if (!result) {
    return Status(core::StatusCode::kIo, core::StrCat(url, ": ", httplib::to_string(result.error()),
                                                      "; check the address and the network"));
  }
  if (result->status != 200) {
    return core::NotFound(url, ": the server answered with status ", result->status);
  }
  RML_TRY(writer.Commit());
  return target;
}

}  // namespace rml::cli
