#include "rml/ops/testing/thread_collectives.h"

#include <algorithm>
#include <cstring>
#include <thread>

namespace rml::ops::testing {

using core::ReduceOp;
using core::Status;
using core::Tensor;

namespace {

template <typename T>
T Combine(T a, T b, ReduceOp op) {
  switch (op) {
    case ReduceOp::kMax:
      return std::max(a, b);
    case ReduceOp::kMin:
      return std::min(a, b);
    case ReduceOp::kProd:
      return static_cast<T>(a * b);
    case ReduceOp::kSum:
      break;
  }
  return static_cast<T>(a + b);
}

template <typename T>
void CombineInto(std::span<std::byte> out, std::span<const std::byte> in, ReduceOp op) {
  auto* const to = reinterpret_cast<T*>(out.data());
  const auto* const from = reinterpret_cast<const T*>(in.data());
  for (size_t i = 0; i < out.size() / sizeof(T); ++i) to[i] = Combine(to[i], from[i], op);
}

Status CombineInto(core::DType dtype, std::span<std::byte> out, std::span<const std::byte> in,
                   ReduceOp op) {
  switch (dtype) {
    case core::DType::kF64:
      CombineInto<double>(out, in, op);
      return {};
    case core::DType::kF32:
      CombineInto<float>(out, in, op);
      return {};
    case core::DType::kI64:
      CombineInto<int64_t>(out, in, op);
      return {};
    case core::DType::kU64:
      CombineInto<uint64_t>(out, in, op);
      return {};
    default:
      return core::Unsupported("these collectives combine f64, f32, i64 and u64, not ",
                               core::Name(dtype));
  }
}

}  // namespace

class ThreadGroup::Member final : public core::Collectives {
 public:
  Member(ThreadGroup& group, int rank) : group_(group), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(group_.shared_.size()); }

  Status AllReduce(const Tensor& in, const Tensor& out, ReduceOp op) override {
    // `out` may be `in`, which the others still read: the result is made apart.
    std::vector<std::byte> result;
    RML_TRY(Exchange(in, [&](int member, std::span<const std::byte> bytes) -> Status {
      if (member == 0) {
        result.assign(bytes.begin(), bytes.end());
        return {};
      }
      return CombineInto(in.dtype(), result, bytes, op);
    }));
    return Put(result, out);
  }

  Status AllGather(const Tensor& in, const Tensor& out) override {
    std::vector<std::byte> result;
    RML_TRY(Exchange(in, [&](int, std::span<const std::byte> bytes) -> Status {
      result.insert(result.end(), bytes.begin(), bytes.end());
      return {};
    }));
    return Put(result, out);
  }

  Status ReduceScatter(const Tensor& in, const Tensor& out, ReduceOp op) override {
    std::vector<std::byte> result;
    RML_TRY(Exchange(in, [&](int member, std::span<const std::byte> bytes) -> Status {
      const size_t piece = bytes.size() / static_cast<size_t>(size());
      const auto mine = bytes.subspan(piece * static_cast<size_t>(rank_), piece);
      if (member == 0) {
        result.assign(mine.begin(), mine.end());
        return {};
      }
      return CombineInto(in.dtype(), result, mine, op);
    }));
    return Put(result, out);
  }

  Status AllToAll(const Tensor& in, const Tensor& out) override {
    std::vector<std::byte> result;
    RML_TRY(Exchange(in, [&](int, std::span<const std::byte> bytes) -> Status {
      const size_t piece = bytes.size() / static_cast<size_t>(size());
      const auto mine = bytes.subspan(piece * static_cast<size_t>(rank_), piece);
      result.insert(result.end(), mine.begin(), mine.end());
      return {};
    }));
    return Put(result, out);
  }

  Status Broadcast(const Tensor& tensor, int root) override {
    std::vector<std::byte> result;
    RML_TRY(Exchange(tensor, [&](int member, std::span<const std::byte> bytes) -> Status {
      if (member == root) result.assign(bytes.begin(), bytes.end());
      return {};
    }));
    return Put(result, tensor);
  }

 private:
  // Shows `in` to every member, reads all, and waits until all have read.
  template <typename Read>
  Status Exchange(const Tensor& in, Read&& read) {
    group_.shared_[static_cast<size_t>(rank_)] = &in;
    group_.barrier_.arrive_and_wait();
    Status status;
    for (int member = 0; member < size() && status.ok(); ++member) {
      const auto bytes = group_.shared_[static_cast<size_t>(member)]->HostBytes();
      status = bytes.ok() ? read(member, *bytes) : bytes.status();
    }
    group_.barrier_.arrive_and_wait();
    return status;
  }

  static Status Put(std::span<const std::byte> bytes, const Tensor& out) {
    RML_ASSIGN(const std::span<std::byte> to, out.MutableHostBytes());
    if (to.size() != bytes.size())
      return core::InvalidArgument("the result has ", bytes.size(), " bytes, and its place ",
                                   to.size());
    if (!bytes.empty()) std::memcpy(to.data(), bytes.data(), bytes.size());
    return {};
  }

  ThreadGroup& group_;
  const int rank_;
};

ThreadGroup::ThreadGroup(int size) : barrier_(size), shared_(static_cast<size_t>(size)) {
  for (int rank = 0; rank < size; ++rank) members_.push_back(std::make_unique<Member>(*this, rank));
}

ThreadGroup::~ThreadGroup() = default;

void ThreadGroup::Run(const std::function<void(core::Collectives&)>& body) {
  std::vector<std::thread> threads;
  for (const auto& member : members_) threads.emplace_back([&body, &member] { body(*member); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace rml::ops::testing
