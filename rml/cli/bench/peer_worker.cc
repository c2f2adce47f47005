#include "rml/cli/bench/peer_worker.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "rml/core/device.h"

extern char** environ;

namespace rml::cli {

using core::Expected;
using core::Status;
using core::StrCat;
using core::Tensor;
using io::Json;

namespace {

constexpr std::array<std::string_view, 3> kPeers = {"torch", "mkl", "openblas"};

std::string FromEnvironment(const char* name, const char* fallback) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : fallback;
}

Json DimsJson(const core::Shape& shape) {
  Json dims = Json::MakeArray();
  for (const int64_t dim : shape.dims()) dims.Append(dim);
  return dims;
}

Status WriteValues(const std::string& path, const Tensor& tensor) {
  RML_ASSIGN(const std::span<const std::byte> bytes, tensor.HostBytes());
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return core::IoError(StrCat("cannot write ", path), errno);
  return {};
}

class PeerContender final : public Contender {
 public:
  PeerContender(PeerWorker& worker, std::string output, const ir::Type& type)
      : worker_(worker), output_(std::move(output)), type_(type) {}

  Expected<double> Time(double seconds) override {
    RML_ASSIGN(const Json answer, worker_.Ask(Json::MakeObject().Set("run", seconds)));
    RML_ASSIGN(const double took, answer.Get<double>("seconds_per_call"));
    if (!(took > 0)) return core::Internal("a peer answered ", took, " seconds");
    return took;
  }

  Expected<Tensor> Output() override {
    RML_ASSIGN(const Tensor tensor, Tensor::Empty(type_.dtype, type_.dims.shape(), core::Cpu()));
    RML_ASSIGN(const std::span<std::byte> bytes, tensor.MutableHostBytes());
    std::ifstream file(output_, std::ios::binary);
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (static_cast<size_t>(file.gcount()) != bytes.size() || file.peek() != EOF)
      return core::DataLoss("the peer's result is not of ", bytes.size(), " bytes");
    return tensor;
  }

 private:
  PeerWorker& worker_;
  std::string output_;
  ir::Type type_;
};

}  // namespace

bool PeerWorker::Knows(std::string_view name) {
  return std::ranges::find(kPeers, name) != kPeers.end();
}

Expected<std::unique_ptr<PeerWorker>> PeerWorker::Start(const std::string& name, int threads) {
  std::unique_ptr<PeerWorker> worker(new PeerWorker());
  worker->name_ = name;
  std::string folder = (std::filesystem::temp_directory_path() / "rml_bench_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr)
    return core::IoError(StrCat("cannot make the folder ", folder), errno);
  worker->folder_ = folder;
  // A socket, so that writing to a worker that has ended is an error and no signal.
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return core::IoError("cannot make a socket for a peer", errno);
  worker->to_ = pair[0];
  worker->from_ = pair[0];
  const std::string python = FromEnvironment("RML_PEER_PYTHON", "python3");
  const std::string script = FromEnvironment("RML_PEER_SCRIPT", "bench/peers/kernel_peer.py");
  std::vector<std::string> texts = {python, script,      "--peer",
                                    name,   "--threads", std::to_string(threads)};
  std::vector<char*> arguments;
  for (std::string& text : texts) arguments.push_back(text.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pair[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pair[1], STDOUT_FILENO);
  const int error =
      posix_spawnp(&worker->process_, python.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pair[1]);
  if (error != 0) {
    worker->process_ = -1;
    return core::IoError(StrCat("cannot start ", python, " for the peer ", name), error);
  }
  return worker;
}

PeerWorker::~PeerWorker() {
  if (to_ >= 0) close(to_);
  if (process_ > 0) {
    kill(process_, SIGKILL);  // stopped or not
    waitpid(process_, nullptr, 0);
  }
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

Status PeerWorker::Read(std::string* line) {
  for (;;) {
    if (const size_t end = pending_.find('\n'); end != std::string::npos) {
      *line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return {};
    }
    char buffer[4096];
    const ssize_t got = read(from_, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return core::IoError(StrCat("cannot read from the peer ", name_), errno);
    if (got == 0) return core::FailedPrecondition("the peer ", name_, " ended; see its message");
    pending_.append(buffer, static_cast<size_t>(got));
  }
}

Expected<Json> PeerWorker::Ask(const Json& request) {
  const std::string text = request.Dump() + "\n";
  kill(process_, SIGCONT);
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t n = send(to_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return core::IoError(StrCat("cannot write to the peer ", name_), errno);
    sent += static_cast<size_t>(n);
  }
  std::string line;
  RML_TRY(Read(&line));
  kill(process_, SIGSTOP);
  auto answer = Json::Parse(line);
  if (!answer.ok()) return answer.status().WithContext(StrCat("the peer ", name_));
  return answer;
}

Expected<std::unique_ptr<Contender>> PeerWorker::Prepare(const LoadedCase& c,
                                                         std::string* refused) {
  if (c.description.generated || c.types.empty() || !c.types[0].dims.is_static()) {
    *refused = "peers take cases of files with a result of known size";
    return std::unique_ptr<Contender>();
  }
  Json inputs = Json::MakeArray();
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const CaseInput& input = c.description.inputs[i];
    if (!input.given) {
      inputs.Append(Json());
      continue;
    }
    const std::string path = StrCat(folder_, "/input", i);
    Tensor stored = c.inputs[i];
    if (input.transposed) {
      RML_ASSIGN(stored, stored.Transpose(-1, -2));  // as it lies in memory
    }
    RML_TRY(WriteValues(path, stored));
    inputs.Append(Json::MakeObject()
                      .Set("dtype", std::string(core::Name(input.dtype)))
                      .Set("dims", DimsJson(stored.shape()))
                      .Set("transposed", input.transposed)
                      .Set("constant", input.constant)
                      .Set("path", path));
  }
  const std::string output = StrCat(folder_, "/output");
  RML_ASSIGN(const Json answer, Ask(Json::MakeObject()
                                        .Set("op", std::string(c.description.op->name))
                                        .Set("attributes", c.description.attributes_json)
                                        .Set("inputs", std::move(inputs))
                                        .Set("output", output)));
  RML_ASSIGN(*refused, answer.GetOr<std::string>("refused", ""));
  if (!refused->empty()) return std::unique_ptr<Contender>();
  RML_ASSIGN(version_, answer.Get<std::string>("version"));
  return std::unique_ptr<Contender>(std::make_unique<PeerContender>(*this, output, c.types[0]));
}

}  // namespace rml::cli
