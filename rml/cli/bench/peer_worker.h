// PeerWorker: another library, in a process of its own (bench/peers/kernel_peer.py), that computes
// the same cases. It gets the values of the inputs as files and gives its result as one, so that
// nothing is compared that was not computed from the same bits. While it is not its turn it is
// stopped: threads that spin would take our cores.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>

#include "rml/cli/bench/contender.h"
#include "rml/core/expected.h"
#include "rml/io/json.h"

namespace rml::cli {

class PeerWorker {
 public:
  static bool Knows(std::string_view name);  // torch, mkl, openblas

  // RML_PEER_PYTHON or python3 runs the script RML_PEER_SCRIPT or bench/peers/kernel_peer.py.
  static core::Expected<std::unique_ptr<PeerWorker>> Start(const std::string& name, int threads);
  ~PeerWorker();
  PeerWorker(const PeerWorker&) = delete;
  PeerWorker& operator=(const PeerWorker&) = delete;

  const std::string& version() const { return version_; }  // of the library, after the first case

  // Null, with the reason in `refused`, where the library has no such thing. One at a time: the
  // next case takes the place of the last.
  core::Expected<std::unique_ptr<Contender>> Prepare(const LoadedCase& c, std::string* refused);
  core::Expected<io::Json> Ask(const io::Json& request);

 private:
  PeerWorker() = default;
  core::Status Read(std::string* line);

  std::string name_;
  std::string version_;
  std::string folder_;  // of the values
  pid_t process_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string pending_;  // read, and not yet a line
};

}  // namespace rml::cli
