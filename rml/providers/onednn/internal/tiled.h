// Tiled: one primitive, run over tiles of its operands by the threads of the run.
//
// A call is a grid: its first axis (images, rows) cut into runs of `per_tile`, with a shorter last
// one, and `blocks` equal parts of another (channels). Shapes decide the grid, and a tile is
// computed on one thread, so that results have the same bits on any number.
//
// Operands that the primitive takes in another layout than tensors have are rearranged in the
// workspace: inputs first, each part once; outputs tile by tile. So a shorter last tile must take
// the parts that it shares in the layout of the others; who leaves layouts to the library has none.
#pragma once

#include <vector>

#include "rml/core/function_ref.h"
#include "rml/ops/provider.h"
#include "rml/providers/onednn/internal/primitive.h"

namespace rml::providers::onednn {

struct Grid {
  int64_t first = 1;     // the size of the first axis
  int64_t per_tile = 1;  // of it, in all tiles but the last
  int64_t blocks = 1;

  int64_t runs() const { return (first + per_tile - 1) / per_tile; }
};

// One argument of the primitive and the tensor that holds it, f32 and without gaps.
struct Operand {
  int id = 0;
  bool output = false;
  int tensor = 0;             // which input or output of the call
  dnnl::memory::desc layout;  // of one tile, in the tensor
  int64_t along_first = 0;    // elements from one index of the first axis to the next; 0: all share
  int64_t along_blocks = 0;   // elements from block to block; 0: all share
};

struct TileDescription {
  dnnl::primitive_desc_base primitive;
  std::vector<Operand> operands;
};

class Tiled : public ops::Prepared {
 public:
  // `describe` says what computes a tile of so many indices of the first axis. It may throw
  // dnnl::error.
  static core::Expected<std::shared_ptr<const ops::Prepared>> Make(
      const Grid& grid, core::FunctionRef<TileDescription(int64_t first)> describe);

  // For the table: the workspace, and all of the run but what a kernel adds.
  static int64_t Workspace(const ir::OpCall& call, const ops::Prepared* prepared,
                           const core::RunContext& context);
  static core::Status Run(const ops::KernelArgs& args) noexcept;

 private:
  struct Part {  // an operand of a tile
    Operand operand;
    dnnl::memory::desc wanted;  // as the primitive takes it
    Primitive reorder;          // undefined where the layouts agree
  };
  struct Tile {
    Primitive primitive;
    std::vector<Part> parts;
  };
  struct Layout;
  class Pass;

  Tiled(const Grid& grid, core::FunctionRef<TileDescription(int64_t first)> describe);
  static Tile MakeTile(const TileDescription& description);
  void Measure(const Tile& tile);
  // The last run of the first axis may be shorter, and has a primitive of its own.
  const Tile& TileOf(int64_t run) const {
    return tail_.primitive.defined() && run + 1 == grid_.runs() ? tail_ : whole_;
  }
  // How many different parts of this operand there are, and which of them a tile takes.
  int64_t Parts(const Operand& operand) const {
    return (operand.along_first != 0 ? grid_.runs() : 1) *
           (operand.along_blocks != 0 ? grid_.blocks : 1);
  }
  int64_t PartOf(const Operand& operand, int64_t run, int64_t block) const {
    const int64_t across = operand.along_blocks != 0 ? grid_.blocks : 1;
    return (operand.along_first != 0 ? run * across : 0) + (operand.along_blocks != 0 ? block : 0);
  }
  int64_t OffsetOf(const Operand& operand, int64_t run, int64_t block) const {
    return run * grid_.per_tile * operand.along_first + block * operand.along_blocks;
  }

  Grid grid_;
  Tile whole_;
  Tile tail_;
  int64_t scratch_bytes_ = 0;         // the most that one primitive of these takes
  std::vector<int64_t> place_bytes_;  // of a rearranged part of each operand; 0: none is
};

}  // namespace rml::providers::onednn
