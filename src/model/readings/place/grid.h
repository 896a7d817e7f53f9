// The grid: which CTA computes which tile of C, when, and what it fetches from A and B.
//
//   const Grid *grid = grid_build(arena, model);
//   GridCta cta = grid_cta(grid, 8);               launched ninth: row, column, split
//   GridWindow lap = grid_window(arena, grid, 0, grid->lap_ctas);
//   lap.a_panels, lap.b_panels, lap.bytes          8, 1, 18 MiB
//
// For attention a column is a head, or a part of one: row and column say which queries of which
// head a CTA has. Its panel of A are those queries, which no other CTA reads; that of B is K and V
// of the head.
//
// CTAs count in launch order (blockIdx.x). A persistent kernel is read as if each tile had a CTA of
// its own: what counts as CTA 300 here is tile 300 of the loop over tiles, and a wave is the turn
// in which the blocks that fit have their next tiles, block 36 tile 300 on a GPU that holds 132. A
// panel is what a CTA reads of an operand: the rows of A of its tile, or the columns of B, along
// its part of K. A window is a run of consecutive CTAs; its working set is the distinct panels in
// it, each counted once, edges as they are.
#pragma once
#include "model/ir/launch.h"
#include "model/readings/model.h"
#include "model/readings/place/chip_map.h"

enum {
  GRID_BATCH = LANES,          // CTAs that are evaluated together
  GRID_MAPPED_MAX = 1 << 17,   // CTAs that are evaluated one by one; of more, every n-th
  GRID_WINDOW_MAX = 1 << 16,   // CTAs of a window that are looked at
  GRID_OVERVIEW_SIDE = 256,    // cells of the overview: each way,
  GRID_OVERVIEW_MAX = 1 << 16  // and in all
};

typedef struct GridCta {
  int64_t index;     // blockIdx.x
  int64_t row, col;  // of its tile
  int64_t split;     // its part of K
} GridCta;

// The grid from afar: a cell is row_step × col_step tiles of split_step parts of K, one tile
// where there is room.
typedef struct GridOverview {
  int64_t rows, cols, splits;
  int64_t row_step, col_step, split_step;
  const int64_t *first;  // [splits · rows · cols] the first CTA that works there; -1: none seen
} GridOverview;

typedef struct Grid {
  const Program *program;
  const Product *product;  // whose sums the tiles are
  int64_t heads;           // of attention; 0: a matrix product
  Launch launch;
  int64_t *env;  // [n_vars][32] where index expressions are evaluated
  int64_t n_ctas, rows, cols, splits;
  int64_t tile_m, tile_n, k_part;      // elements of a tile, and of K that one CTA multiplies
  int64_t cluster_rows, cluster_cols;  // of tiles in a cluster; 1: there are none
  int64_t sharers_a, sharers_b;  // CTAs of a cluster that fetch a panel together; 1: each its own
  bool adds;                     // splits add into C one after the other (atomics)
  bool partial;                  // splits leave partial sums for a second kernel
  bool persistent;               // blocks have lists of tiles
  // Where clusters and persistent blocks are on the chip; NULL: no source says it. `anywhere` is
  // the same for clusters that do not ask for a place, and chip itself where these do not.
  const ChipMap *chip, *anywhere;

  // CTA i · stride works on tile (split · rows + row) · cols + col.
  int64_t stride, n_mapped;
  const int64_t *tile;
  const int64_t *cta;  // [splits · rows · cols] the inverse, -1: none; NULL when stride > 1

  GridOverview overview;

  // A wave is all CTAs that fit on the GPU at once, or of a kernel that claims lists, one of each
  // list that has tiles. Estimated: real ones move up one by one.
  int64_t blocks_per_sm, sm_count, wave_ctas, n_waves;
  int64_t tail_ctas;   // of the last wave; wave_ctas when it is full
  int64_t tail_parts;  // along K of each of them, which all blocks share; 1: they are whole
  double tail_idle;    // part of the GPU that the last wave leaves idle, 0 … 1
  double idle;         // the same over all waves
  // CTAs until the order comes back to a panel that it left: a row of blocks, or a group. Their
  // data has to stay in L2 for anything to be fetched once.
  int64_t lap_ctas;
  int64_t l2_bytes;
  double l2_copies;  // that L2 keeps of a panel: SMs of both its halves read it
} Grid;

// Reads the program, the resources and the target of `model`.
const Grid *grid_build(Arena *arena, const Model *model);
// The panels that a CTA reads, numbered from 0: those of A, and behind them those of B.
int64_t grid_a_panel(const Grid *grid, int64_t row, int64_t col, int64_t split);
int64_t grid_b_panel(const Grid *grid, int64_t col, int64_t split);
int64_t grid_panels(const Grid *grid);  // how many there are
// The bytes that a CTA writes: its tile, or the partial sums of it.
int64_t grid_written_bytes(const Grid *grid);

// Holds what CTAs have to do where they do not all do the same: of causal attention blocks of keys,
// fewest, most, the mean, and those of each row of the first head's queries. 0 rows: all do the
// same.
typedef struct GridWork {
  int64_t fewest, most, rows;
  double mean;
  const double *of_row;
} GridWork;
GridWork grid_work(Arena *arena, const Grid *grid);

// A grid without the map of every CTA and without the overview: enough for waves and windows.
const Grid *grid_outline(Arena *arena, const Model *model);

GridCta grid_cta(const Grid *grid, int64_t index);
// CTAs first … first + GRID_BATCH - 1; returns their number.
int grid_ctas(const Grid *grid, int64_t first, GridCta out[GRID_BATCH]);
// The cell of the overview in which a CTA works.
int64_t grid_overview_cell(const GridOverview *overview, const GridCta *cta);
// The CTA of a tile and split; -1 when there is none, or when a grid in an
// order of its own is too large to be mapped.
int64_t grid_owner(const Grid *grid, int64_t row, int64_t col, int64_t split);
int64_t grid_wave(const Grid *grid, int64_t index);
// The time of all waves, in that of a CTA with all of its K: the last one may have parts of it.
double grid_rounds(const Grid *grid);
// The block that has a tile: the CTA itself, or of a persistent kernel tile % blocks of the grid.
int64_t grid_block(const Grid *grid, int64_t index);
// The i-th tile that a block works on, from 0: a tile of the grid, or a part of one along K.
typedef struct GridItem {
  int64_t tile, part;  // part: −1 all of K
} GridItem;
bool grid_item(const Grid *grid, int64_t block, int64_t i, GridItem *out);  // false: it has no more
int64_t grid_blocks(const Grid *grid);  // of the grid that have work; an estimate if persistent
// The place of the chip in which the block of a tile is; -1: any, or not known.
int grid_place(const Grid *grid, int64_t index);

// "CTA", "CTAs", "wave", "waves"; for a persistent kernel "tile", "tiles", "turn", "turns".
typedef struct GridWords {
  const char *cta, *ctas, *wave, *waves;
} GridWords;
GridWords grid_words(const Grid *grid);
int64_t grid_wave_size(const Grid *grid, int64_t wave);  // in CTAs

// The part of K of a split: from `begin` up to `end`, which is at most K; empty where begin = end.
typedef struct GridRange {
  int64_t begin, end;
} GridRange;
GridRange grid_k_range(const Grid *grid, int64_t split);

// Bytes of what a CTA of that row (AXIS_M) or column (AXIS_N) of tiles reads of A, or of B.
int64_t grid_panel_bytes(const Grid *grid, int axis, int64_t at, int64_t split);

typedef struct GridWindow {
  int64_t first, n;            // CTAs; n at most GRID_WINDOW_MAX
  int64_t a_panels, b_panels;  // distinct
  int64_t a_bytes, b_bytes, bytes;
  double reuse;  // panels asked for / distinct ones
} GridWindow;

// CTAs first … first + n - 1, as far as the grid has them.
GridWindow grid_window(Arena *scratch, const Grid *grid, int64_t first, int64_t n);

// The runs that a reader may ask about, one row each: enum, name, what it is.
#define GRID_SPAN_TABLE(X)                                                                     \
  X(LAP, "lap", "the CTAs until a panel is needed again: L2 must hold their panels for reuse") \
  X(ROW, "row", "one CTA for each tile in a row of C")                                         \
  X(WAVE, "wave", "all CTAs that fit on the GPU at once")                                      \
  X(BLOCKS, "blocks", "a number of CTAs that you choose")

typedef enum GridSpan {
#define X(id, name, help) GRID_SPAN_##id,
  GRID_SPAN_TABLE(X)
#undef X
      GRID_SPANS
} GridSpan;

const char *grid_span_name(GridSpan span);
// The same in the words of this grid: a persistent kernel has turns, and no waves.
const char *grid_span_here(const Grid *grid, GridSpan span);
const char *grid_span_help(GridSpan span);
// CTAs of such a window; `blocks` is the reader's own number.
int64_t grid_span_ctas(const Grid *grid, GridSpan span, int64_t blocks);
