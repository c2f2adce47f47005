#include "rml/llm/engine.h"

#include <algorithm>
#include <utility>

#include "rml/core/check.h"
#include "rml/kernels/attention.h"
#include "rml/llm/decoder.h"
#include "rml/llm/decoder_weights.h"
#include "rml/llm/kv_cache.h"
#include "rml/models/model_files.h"

namespace rml::llm {

using core::Expected;
using core::Status;
using models::DecoderSpec;

namespace {

// A context that nobody asked for should not reserve gigabytes.
constexpr int64_t kDefaultContext = 4096;

Expected<EngineOptions> Resolve(EngineOptions options, const DecoderSpec& spec) {
  if (options.context_length == 0) options.context_length = DefaultContext(spec);
  if (options.context_length < 1) {
    return core::InvalidArgument("context length ", options.context_length, " is not positive");
  }
  if (options.context_length > spec.context_length) {
    return core::OutOfRange("a context of ", options.context_length, " tokens is longer than the ",
                            spec.context_length, " that the model was made for; give at most that");
  }
  if (options.max_sequences < 1) {
    return core::InvalidArgument("an engine for ", options.max_sequences,
                                 " sequences cannot hold any");
  }
  if (options.batch_tokens < 1) {
    return core::InvalidArgument("a batch of ", options.batch_tokens, " tokens cannot hold any");
  }
  options.batch_tokens =
      std::min(options.batch_tokens, options.context_length * options.max_sequences);
  if (options.cache_dtype != core::DType::kF16 && options.cache_dtype != core::DType::kF32) {
    return core::Unsupported("a KV cache of ", core::Name(options.cache_dtype),
                             ": f16 and f32 are supported");
  }
  return options;
}

KvCache::Options CacheOptions(const DecoderSpec& spec, const EngineOptions& options) {
  std::vector<int64_t> windows;
  for (const models::LayerSpec& layer : spec.layers) windows.push_back(layer.window);
  return {.layout = {.dtype = options.cache_dtype,
                     .kv_heads = spec.kv_heads,
                     .head_dim = spec.head_dim},
          .windows = std::move(windows),
          .context = options.context_length,
          .sequences = options.max_sequences,
          .step_tokens = options.batch_tokens};
}

Decoder::Limits DecoderLimits(const EngineOptions& options, int threads) {
  return {.tokens = options.batch_tokens, .context = options.context_length, .threads = threads};
}

}  // namespace

int64_t DefaultContext(const DecoderSpec& spec) {
  return std::min(spec.context_length, kDefaultContext);
}

struct Engine::Impl {
  DecoderSpec spec;
  EngineOptions options;
  core::RunContext context;
  std::unique_ptr<core::ThreadPool> own_pool;  // where the context has none
  DecoderWeights weights;
  std::shared_ptr<const text::Tokenizer> tokenizer;
  std::optional<KvCache> cache;
  std::unique_ptr<Decoder> decoder;
};

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Engine::~Engine() = default;

Expected<MemoryUse> EstimateMemory(const DecoderSpec& spec, int64_t weight_bytes,
                                   const EngineOptions& options, int threads) {
  RML_ASSIGN(const EngineOptions resolved, Resolve(options, spec));
  const std::optional<int64_t> cache = KvCache::ReservedBytes(CacheOptions(spec, resolved));
  if (!cache)
    return core::ResourceExhausted(
        "a KV cache of this size cannot be addressed; give a smaller context");
  return MemoryUse{.weights = weight_bytes,
                   .cache = *cache,
                   .workspace = Decoder::WorkspaceBytes(spec, DecoderLimits(resolved, threads))};
}

namespace {

Expected<std::shared_ptr<Engine>> FromFiles(std::shared_ptr<const models::ModelFiles> files,
                                            std::shared_ptr<const text::Tokenizer> tokenizer,
                                            const EngineOptions& options,
                                            const core::RunContext& context) {
  if (tokenizer->vocab_size() > files->spec().vocab) {
    return core::DataLoss(files->path(), ": the tokenizer has ", tokenizer->vocab_size(),
                          " tokens, the embedding only ", files->spec().vocab);
  }
  RML_ASSIGN(DecoderWeights weights, LoadWeights(files));
  return Engine::Make(files->spec(), std::move(weights), std::move(tokenizer), options, context);
}

}  // namespace

Expected<std::shared_ptr<Engine>> Engine::Load(const std::string& path,
                                               const EngineOptions& options,
                                               const core::RunContext& context) {
  RML_ASSIGN(auto files, models::ModelFiles::Open(path));
  RML_ASSIGN(auto tokenizer, files->gguf() != nullptr ? text::Tokenizer::FromGguf(*files->gguf())
                                                      : text::Tokenizer::Open(path));
  return FromFiles(std::move(files), std::move(tokenizer), options, context);
}

Expected<std::shared_ptr<Engine>> Engine::LoadImage(std::span<const std::byte> image,
                                                    std::string_view name,
                                                    const EngineOptions& options,
                                                    const core::RunContext& context) {
  RML_ASSIGN(io::GgufFile gguf, io::GgufFile::Parse(image, name));
  RML_ASSIGN(auto files, models::ModelFiles::FromGguf(std::move(gguf)));
  RML_ASSIGN(auto tokenizer, text::Tokenizer::FromGguf(*files->gguf()));
  return FromFiles(std::move(files), std::move(tokenizer), options, context);
}

Expected<std::shared_ptr<Engine>> Engine::Make(const DecoderSpec& spec, DecoderWeights weights,
                                               std::shared_ptr<const text::Tokenizer> tokenizer,
                                               const EngineOptions& options,
                                               const core::RunContext& context) {
  RML_TRY(models::Validate(spec));
  auto impl = std::make_unique<Impl>();
  impl->spec = spec;
  RML_ASSIGN(impl->options, Resolve(options, spec));
  impl->context = context;
  if (context.pool == nullptr) {
    impl->own_pool = std::make_unique<core::ThreadPool>(1);
    impl->context.pool = impl->own_pool.get();
  }
  impl->weights = std::move(weights);
  impl->tokenizer = std::move(tokenizer);
  RML_ASSIGN(impl->cache, KvCache::Make(CacheOptions(spec, impl->options), impl->context));
  RML_ASSIGN(impl->decoder,
             Decoder::Make(impl->spec, impl->weights,
                           DecoderLimits(impl->options, impl->context.threads()), impl->context));
  return std::shared_ptr<Engine>(new Engine(std::move(impl)));
}

const DecoderSpec& Engine::spec() const { return impl_->spec; }
const EngineOptions& Engine::options() const { return impl_->options; }
const std::shared_ptr<const text::Tokenizer>& Engine::tokenizer() const { return impl_->tokenizer; }
const core::RunContext& Engine::context() const { return impl_->context; }
void Engine::SetCancellation(core::CancellationToken token) {
  impl_->context.cancellation = std::move(token);
}
int64_t Engine::bytes_per_token() const { return impl_->weights.matrix_bytes_per_token; }

MemoryUse Engine::memory() const {
  const auto estimate = EstimateMemory(impl_->spec, impl_->weights.matrix_bytes, impl_->options,
                                       impl_->context.threads());
  return *estimate;  // the options were resolved when the engine was made
}

Session Engine::NewSession() { return Session(shared_from_this(), impl_->cache->NewSequence()); }

Status Engine::Append(std::span<const SessionTokens> batch) {
  std::vector<SequenceRun> pending;
  std::vector<Session*> sessions;
  for (const SessionTokens& item : batch) {
    Session& session = *item.session;
    RML_CHECK(session.engine_.get() == this);
    if (std::ranges::find(sessions, &session) != sessions.end()) {
      return core::InvalidArgument("a session stands twice in one batch");
    }
    RML_TRY(session.CheckFits(item.tokens));
    pending.push_back({.sequence = session.sequence_, .tokens = item.tokens});
    sessions.push_back(&session);
  }

  // Each pass takes as many tokens as fit, in order; a long run is spread over several.
  std::vector<SequenceRun> pass;
  std::vector<Session*> pass_sessions;
  size_t next = 0;
  while (next < pending.size()) {
    pass.clear();
    pass_sessions.clear();
    int64_t room = impl_->options.batch_tokens;
    while (next < pending.size() && room > 0) {
      SequenceRun& run = pending[next];
      const size_t take = std::min(run.tokens.size(), static_cast<size_t>(room));
      const bool finished = take == run.tokens.size();
      if (take > 0) {
        pass.push_back({.sequence = run.sequence,
                        .tokens = run.tokens.first(take),
                        .logits = finished ? LogitsWanted::kLast : LogitsWanted::kNone});
        pass_sessions.push_back(sessions[next]);
      }
      run.tokens = run.tokens.subspan(take);
      room -= static_cast<int64_t>(take);
      if (!finished) break;
      ++next;
    }
    RML_TRY(impl_->decoder->Forward(
        pass, *impl_->cache, [&](int64_t run, int64_t, std::span<const float> logits) {
          pass_sessions[static_cast<size_t>(run)]->logits_.assign(logits.begin(), logits.end());
        }));
    for (size_t i = 0; i < pass.size(); ++i) {
      pass_sessions[i]->tokens_.insert(pass_sessions[i]->tokens_.end(), pass[i].tokens.begin(),
                                       pass[i].tokens.end());
    }
  }
  return {};
}

Session::Session(std::shared_ptr<Engine> engine, int32_t sequence)
    : engine_(std::move(engine)), sequence_(sequence) {}

Session::Session(Session&& other) noexcept
    : engine_(std::move(other.engine_)),
      sequence_(std::exchange(other.sequence_, -1)),
      tokens_(std::move(other.tokens_)),
      logits_(std::move(other.logits_)) {}

Session& Session::operator=(Session&& other) noexcept {
  std::swap(engine_, other.engine_);
  std::swap(sequence_, other.sequence_);
  std::swap(tokens_, other.tokens_);
  std::swap(logits_, other.logits_);
  return *this;
}

Session::~Session() {
  if (sequence_ >= 0) engine_->impl_->cache->FreeSequence(sequence_);
}

Status Session::CheckFits(std::span<const TokenId> tokens) const {
  const Engine::Impl& impl = *engine_->impl_;
  const int64_t grown = length() + static_cast<int64_t>(tokens.size());
  if (grown > impl.options.context_length) {
    return core::OutOfRange("the sequence would be ", grown, " tokens long, and the context holds ",
                            impl.options.context_length,
                            "; shorten the text or give a larger context (-c)");
  }
  for (const TokenId token : tokens) {
    if (token < 0 || token >= impl.spec.vocab) {
      return core::OutOfRange("token ", token, " is not in the vocabulary of ", impl.spec.vocab);
    }
  }
  return {};
}

Status Session::Append(std::span<const TokenId> tokens) {
  const SessionTokens item{.session = this, .tokens = tokens};
  return engine_->Append({&item, 1});
}

Status Session::Append(std::span<const TokenId> tokens, LogitsSink sink) {
  RML_TRY(CheckFits(tokens));
  Engine::Impl& impl = *engine_->impl_;
  while (!tokens.empty()) {
    const auto part =
        tokens.first(std::min(tokens.size(), static_cast<size_t>(impl.options.batch_tokens)));
    const SequenceRun run{.sequence = sequence_, .tokens = part, .logits = LogitsWanted::kAll};
    const int64_t first = length();
    RML_TRY(impl.decoder->Forward({&run, 1}, *impl.cache,
                                  [&](int64_t, int64_t token, std::span<const float> logits) {
                                    sink(first + token, logits);
                                    if (static_cast<size_t>(token) + 1 == part.size())
                                      logits_.assign(logits.begin(), logits.end());
                                  }));
    tokens_.insert(tokens_.end(), part.begin(), part.end());
    tokens = tokens.subspan(part.size());
  }
  return {};
}

Session Session::Fork(int64_t length) const {
  RML_CHECK(length >= 0 && length <= this->length());
  KvCache& cache = *engine_->impl_->cache;
  Session fork(engine_, cache.Fork(sequence_, length));
  const int64_t shared = cache.Length(fork.sequence_);
  fork.tokens_.assign(tokens_.begin(), tokens_.begin() + shared);
  if (shared == this->length()) fork.logits_ = logits_;
  return fork;
}

int64_t Session::Truncate(int64_t length) {
  RML_CHECK(length >= 0 && length <= this->length());
  if (length == this->length()) return length;
  length = engine_->impl_->cache->Truncate(sequence_, length);
  tokens_.resize(static_cast<size_t>(length));
  logits_.clear();
  return length;
}

Expected<int64_t> Session::Become(std::span<const TokenId> tokens) {
  const auto common = std::ranges::mismatch(tokens, tokens_).in1 - tokens.begin();
  // When nothing new would be computed there would be no logits: compute the last token again.
  const bool ready =
      static_cast<size_t>(common) == tokens.size() && common == length() && !logits_.empty();
  if (ready) return static_cast<int64_t>(common);
  const int64_t keep = std::min<int64_t>(common, static_cast<int64_t>(tokens.size()) - 1);
  const int64_t kept = Truncate(std::max<int64_t>(keep, 0));
  RML_TRY(Append(tokens.subspan(static_cast<size_t>(kept))));
  return kept;
}

}  // namespace rml::llm
