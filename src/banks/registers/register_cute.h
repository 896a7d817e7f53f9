// CuTe's layouts of threads and values, as C++ and the Python DSL print them.
//
//   TiledMMA            Thr Layout VMNK, Permutation MNK, and the atom below
//   MMA_Atom            ThrID, Shape_MNK, LayoutA_TV, LayoutB_TV, LayoutC_TV
//   TiledCopy           Tiler_MN, TiledLayout_TV, and the atom's ValLayoutSrc, Dst and Ref
//   SM80_16x8x16_F32F16F16F32_TN       an atom of an instruction by its name, or several of them:
//   make_tiled_mma(SM80_…{}, Layout<Shape<_2,_2,_1>>{}, Tile<_32,_32,_16>{})
//   ((_4,_8),(_2,_2)):((_32,_1),(_16,_8))    over a shape: threads, then values
//
// A is M x K, B is N x K and C is M x N. Values of a thread count as its registers do: those of the
// atom first, then the atoms along the first mode, then along the second. A tensor larger than the
// tile goes on so.
#pragma once
#include "banks/registers/register_layout.h"

// Whether the text is a TiledMMA, a TiledCopy, an atom of them or the name of one.
bool register_cute_is(const char *text);
// operand: "A", "B", "C" of a product; "S", "D" or NULL (the tile's own) of a copy. NULL after
// findings of rule "layout". shape: rank 0: as large as the tile.
const RegisterLayout *register_cute_read(Arena *arena, const char *text, const char *operand,
                                         const TensorShape *shape, Diags *diags);
// A plain layout whose modes are threads and values, over `shape`.
const RegisterLayout *register_tv_read(Arena *arena, const char *text, const TensorShape *shape,
                                       Diags *diags);
