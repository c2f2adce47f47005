#include "rml/providers/onednn/internal/tiled.h"

#include <array>
#include <atomic>

#include "rml/core/carver.h"
#include "rml/core/check.h"
#include "rml/ops/host_data.h"

namespace rml::providers::onednn {

using core::Expected;
using core::Status;

// The workspace of a run. Arrays stand in the order of the parts of a tile.
struct Tiled::Layout {
  using Pointers = std::array<std::byte*, Primitive::kMostArguments>;
  Pointers dense = {};           // inputs that have gaps, without them
  Pointers rearranged = {};      // inputs: every part; outputs: one part for each thread
  std::byte* scratch = nullptr;  // for each thread

  Layout(const Tiled& tiled, const ir::OpCall& call, int threads, core::Carver* carver) {
    scratch = carver->Take<std::byte>(tiled.scratch_bytes_ * threads);
    for (size_t i = 0; i < tiled.whole_.parts.size(); ++i) {
      const Part& part = tiled.whole_.parts[i];
      if (!part.operand.output)
        dense[i] = reinterpret_cast<std::byte*>(
            carver->Take<float>(call.input(part.operand.tensor).dims.elements().value()));
      const int64_t count = part.operand.output ? threads : tiled.Parts(part.operand);
      rearranged[i] = carver->Take<std::byte>(tiled.place_bytes_[i] * count);
    }
  }
};

Tiled::Tile Tiled::MakeTile(const TileDescription& description) {
  Tile tile;
  tile.primitive = Primitive(description.primitive);
  for (const Operand& operand : description.operands) {
    Part& part = tile.parts.emplace_back();
    part.operand = operand;
    part.wanted = description.primitive.query_md(dnnl::query::exec_arg_md, operand.id);
    if (part.wanted == operand.layout) continue;
    const auto& from = operand.output ? part.wanted : operand.layout;
    const auto& to = operand.output ? operand.layout : part.wanted;
    part.reorder =
        Primitive(dnnl::reorder::primitive_desc(CpuEngine(), from, CpuEngine(), to, UserScratch()));
  }
  return tile;
}

Tiled::Tiled(const Grid& grid, core::FunctionRef<TileDescription(int64_t first)> describe)
    : grid_(grid) {
  const OnThisThread alone;  // the library decides here how many threads will share the work
  whole_ = MakeTile(describe(std::min(grid.per_tile, grid.first)));
  const int64_t rest = grid.first % grid.per_tile;
  Measure(whole_);
  if (grid.first < grid.per_tile || rest == 0) return;
  tail_ = MakeTile(describe(rest));
  Measure(tail_);
  for (size_t i = 0; i < whole_.parts.size(); ++i) {
    const Part& part = whole_.parts[i];
    RML_CHECK(part.operand.along_first != 0 || part.wanted == tail_.parts[i].wanted);
  }
}

void Tiled::Measure(const Tile& tile) {
  // Neighbours start at cache lines of their own.
  const auto grow = [](int64_t bytes, int64_t* most) {
    *most = std::max(*most, (bytes + 63) / 64 * 64);
  };
  place_bytes_.resize(tile.parts.size());
  grow(tile.primitive.scratch_bytes(), &scratch_bytes_);
  for (size_t i = 0; i < tile.parts.size(); ++i) {
    if (!tile.parts[i].reorder.defined()) continue;
    grow(tile.parts[i].reorder.scratch_bytes(), &scratch_bytes_);
    grow(static_cast<int64_t>(tile.parts[i].wanted.get_size()), &place_bytes_[i]);
  }
}

Expected<std::shared_ptr<const ops::Prepared>> Tiled::Make(
    const Grid& grid, core::FunctionRef<TileDescription(int64_t first)> describe) {
  try {
    return std::shared_ptr<const ops::Prepared>(new Tiled(grid, describe));
  } catch (const dnnl::error& error) {
    return core::Unsupported("oneDNN: ", error.what());
  }
}

int64_t Tiled::Workspace(const ir::OpCall& call, const ops::Prepared* prepared,
                         const core::RunContext& context) {
  core::Carver counter;
  const Layout layout(static_cast<const Tiled&>(*prepared), call, context.threads(), &counter);
  (void)layout;
  return static_cast<int64_t>(counter.used()) + static_cast<int64_t>(core::Carver::kAlign);
}

// One run: where the tensors are, and the two steps over them.
class Tiled::Pass {
 public:
  Pass(const Tiled& tiled, const ops::KernelArgs& args, core::Carver* carver)
      : tiled_(tiled),
        context_(*args.context),
        layout_(tiled, *args.call, args.context->threads(), carver) {}

  Status FindTensors(const ops::KernelArgs& args) {
    for (size_t i = 0; i < tiled_.whole_.parts.size(); ++i) {
      const Operand& operand = tiled_.whole_.parts[i].operand;
      if (operand.output) {
        tensors_[i] = ops::MutableData<float>(args.outputs[static_cast<size_t>(operand.tensor)]);
        continue;
      }
      RML_ASSIGN(const float* const data,
                 ops::Dense(args.in(operand.tensor), reinterpret_cast<float*>(layout_.dense[i])));
      tensors_[i] = const_cast<float*>(data);
    }
    return {};
  }

  void RearrangeInputs() {
    for (size_t i = 0; i < tiled_.whole_.parts.size(); ++i) {
      const Operand& operand = tiled_.whole_.parts[i].operand;
      if (operand.output || tiled_.place_bytes_[i] == 0) continue;
      const int64_t across = operand.along_blocks != 0 ? tiled_.grid_.blocks : 1;
      context_.Run(tiled_.Parts(operand), [&](int64_t number, int worker) {
        const int64_t run = number / across;
        const int64_t block = number % across;
        const Part& part = tiled_.TileOf(operand.along_first != 0 ? run : 0).parts[i];
        if (!part.reorder.defined()) return;
        Rearrange(part, tensors_[i] + tiled_.OffsetOf(operand, run, block), PlaceOf(i, number),
                  worker);
      });
    }
  }

  void ComputeTiles() {
    context_.Run(tiled_.grid_.runs() * tiled_.grid_.blocks, [&](int64_t number, int worker) {
      ComputeTile(number / tiled_.grid_.blocks, number % tiled_.grid_.blocks, worker);
    });
  }

  Status status() const { return ToStatus(static_cast<dnnl_status_t>(failure_.load())); }

 private:
  void ComputeTile(int64_t run, int64_t block, int worker) {
    const Tile& tile = tiled_.TileOf(run);
    std::array<Argument, Primitive::kMostArguments> arguments;
    for (size_t i = 0; i < tile.parts.size(); ++i) {
      const Part& part = tile.parts[i];
      arguments[i] = {part.operand.id, &part.wanted.data,
                      tensors_[i] + tiled_.OffsetOf(part.operand, run, block)};
      if (!part.reorder.defined()) continue;
      arguments[i].data =
          PlaceOf(i, part.operand.output ? worker : tiled_.PartOf(part.operand, run, block));
    }
    Note(tile.primitive.Run(std::span(arguments).first(tile.parts.size()), ScratchOf(worker)));
    for (size_t i = 0; i < tile.parts.size(); ++i) {
      const Part& part = tile.parts[i];
      if (!part.operand.output || !part.reorder.defined()) continue;
      Rearrange(part, arguments[i].data, tensors_[i] + tiled_.OffsetOf(part.operand, run, block),
                worker);
    }
  }

  void Rearrange(const Part& part, const void* from, const void* to, int worker) {
    const bool out = part.operand.output;
    const std::array arguments = {
        Argument{DNNL_ARG_FROM, out ? &part.wanted.data : &part.operand.layout.data, from},
        Argument{DNNL_ARG_TO, out ? &part.operand.layout.data : &part.wanted.data, to}};
    Note(part.reorder.Run(arguments, ScratchOf(worker)));
  }

  std::byte* PlaceOf(size_t i, int64_t number) const {
    return layout_.rearranged[i] + number * tiled_.place_bytes_[i];
  }
  std::byte* ScratchOf(int worker) const {
    return layout_.scratch + tiled_.scratch_bytes_ * worker;
  }
  void Note(dnnl_status_t status) {
    if (status != dnnl_success) failure_.store(status);
  }

  const Tiled& tiled_;
  const core::RunContext& context_;
  const Layout layout_;
  std::array<float*, Primitive::kMostArguments> tensors_ = {};
  std::atomic<int> failure_ = dnnl_success;  // one of those that there were
};

Status Tiled::Run(const ops::KernelArgs& args) noexcept {
  core::Carver carver(args.workspace);
  Pass pass(static_cast<const Tiled&>(*args.prepared), args, &carver);
  RML_TRY(pass.FindTensors(args));
  pass.RearrangeInputs();
  pass.ComputeTiles();
  return pass.status();
}

}  // namespace rml::providers::onednn
