// The sectors of one access: lane addresses → 32-byte sectors → 128-byte lines.
//
// An access of W bytes is aligned to W, and W is at most 16, so it lies in one sector, and two
// lanes ask for the same bytes or for none in common. Counting is therefore counting distinct
// numbers: of addresses (times W: the bytes of use), of sectors, of lines.
//
// Worked example, the sums of m16n8k16 leaving as pairs of f32, rows of 16 KiB: lane l writes 8
// bytes at row l / 4, column l % 4 · 2. Eight rows of 32 bytes: 8 sectors in 8 lines for 256 bytes,
// which is ideal in sectors, but each lies in a line of its own where two lines would do. As pairs
// of f16 the same rows have 16 bytes each: 8 sectors where 4 would do.
//
// L1 answers a load from banks that are those of shared memory, phase by phase as there, except
// that no phases merge; and looks up four lines a clock. Measured on an H200
// (tests/data/h200_l1.tsv has every pattern and its clocks): the larger of the two is right for 19
// in 20 patterns.
//
// Worked example, ldg32 of 32 rows of 132 bytes: no two words in one bank, but 32 lines: 8 clocks.
// In rows of 128 bytes all words lie in one bank: 32 clocks.
#include "banks/engine/sector.h"

#include <string.h>

#include "base/whole.h"

#define GLOBAL(id, spelling, form, width)                                           \
  {                                                                                 \
    .name = id, .sass = spelling, .ptx = form, .kind = BANK_GLOBAL, .bytes = width, \
    .n_addresses = BANK_LANES, .lanes_per_phase = BANK_LANES, .shares_words = true, \
    .counted = true                                                                 \
  }

static const BankOp OPS[] = {
    GLOBAL("ldg8", "LDG.E.U8", "ld.global.u8", 1),
    GLOBAL("ldg16", "LDG.E.U16", "ld.global.u16", 2),
    GLOBAL("ldg32", "LDG.E", "ld.global.b32", 4),
    GLOBAL("ldg64", "LDG.E.64", "ld.global.v2.b32", 8),
    GLOBAL("ldg128", "LDG.E.128", "ld.global.v4.b32", 16),
    GLOBAL("stg8", "STG.E.U8", "st.global.u8", 1),
    GLOBAL("stg16", "STG.E.U16", "st.global.u16", 2),
    GLOBAL("stg32", "STG.E", "st.global.b32", 4),
    GLOBAL("stg64", "STG.E.64", "st.global.v2.b32", 8),
    GLOBAL("stg128", "STG.E.128", "st.global.v4.b32", 16),
    GLOBAL("red16", "RED.E.ADD.16", "red.global.add.f16", 2),
    GLOBAL("red32", "RED.E.ADD", "red.global.add.f32", 4),
    GLOBAL("red64", "RED.E.ADD.64", "red.global.add.f64", 8),
    GLOBAL("red128", "RED.E.ADD.128", "red.global.add.v4.f32", 16),
    GLOBAL("ldgsts32", "LDGSTS.E", "cp.async.ca.shared.global", 4),
    GLOBAL("ldgsts64", "LDGSTS.E.64", "cp.async.ca.shared.global", 8),
    GLOBAL("ldgsts128", "LDGSTS.E.BYPASS.128", "cp.async.cg.shared.global", 16),
    {.name = "utmaldg",
     .sass = "UTMALDG",
     .ptx = "cp.async.bulk.tensor",
     .kind = BANK_GLOBAL,
     .bytes = 16},
    {.name = "utmastg",
     .sass = "UTMASTG",
     .ptx = "cp.async.bulk.tensor.global.shared::cta",
     .kind = BANK_GLOBAL,
     .bytes = 16},
    {.name = "utmaredg",
     .sass = "UTMAREDG",
     .ptx = "cp.reduce.async.bulk.tensor",
     .kind = BANK_GLOBAL,
     .bytes = 16},
};

int sectors_op_count(void) { return (int)(sizeof OPS / sizeof OPS[0]); }

const BankOp *sectors_op_at(int index) { return &OPS[index]; }

const BankOp *sectors_op_find(const char *name) {
  for (int i = 0; i < sectors_op_count(); i++)
    if (strcmp(OPS[i].name, name) == 0) return &OPS[i];
  return NULL;
}

const BankOp *sectors_load(int bytes) {
  int i = 0;  // the loads stand first
  while (OPS[i].bytes != bytes) i++;
  return &OPS[i];
}

// Distinct multiples of `unit` below the addresses; `seen` gets them in the order of lanes. Most
// ask for what the lane before them asked for, or for more than all before: those need no
// comparison.
static int distinct(const BankOp *op, const int64_t addr[BANK_LANES], int unit,
                    int64_t seen[BANK_LANES]) {
  int n = 0;
  int64_t most = -1;
  for (int lane = 0; lane < op->n_addresses; lane++) {
    if (addr[lane] < 0) continue;
    int64_t at = addr[lane] / unit;
    if (at > most) {
      seen[n++] = most = at;
      continue;
    }
    int i = n;
    while (i > 0 && seen[i - 1] != at) i--;
    if (i == 0) seen[n++] = at;
  }
  return n;
}

// The load of shared memory that is as wide, without the merging that only those do.
static BankOp bank_load(int bytes) {
  int i = 0;
  while (banks_op_at(i)->kind != BANK_LOAD || banks_op_at(i)->bytes != bytes) i++;
  BankOp load = *banks_op_at(i);
  load.merges_pairs = false;
  return load;
}

static int l1_wavefronts(const BankOp *op, const int64_t addr[BANK_LANES], int lines) {
  if (op != sectors_load(op->bytes)) return 0;
  const BankOp load = bank_load(op->bytes);
  const int banks = banks_count(&load, addr).wavefronts,
            tags = (int)ceil_div(lines, SECTOR_LINES_PER_CLOCK);
  return banks > tags ? banks : tags;
}

SectorCount sectors_count(const BankOp *op, const int64_t addr[BANK_LANES]) {
  int64_t seen[BANK_LANES];
  if (!op->counted) return (SectorCount){0};
  int bytes = distinct(op, addr, op->bytes, seen) * op->bytes;
  int lines = distinct(op, addr, BANK_LINE_BYTES, seen);
  return (SectorCount){.known = true,
                       .sectors = distinct(op, addr, SECTOR_BYTES, seen),
                       .ideal = (int)ceil_div(bytes, SECTOR_BYTES),
                       .lines = lines,
                       .lines_ideal = (int)ceil_div(bytes, BANK_LINE_BYTES),
                       .bytes = bytes,
                       .wavefronts = l1_wavefronts(op, addr, lines)};
}

static void sort(int64_t *value, int n) {
  for (int i = 1; i < n; i++)
    for (int at = i; at > 0 && value[at - 1] > value[at]; at--) {
      int64_t swap = value[at];
      value[at] = value[at - 1];
      value[at - 1] = swap;
    }
}

static void ask(SectorLine *line, int64_t byte, int bytes, int lane) {
  int first = (int)(byte / BANK_WORD_BYTES), last = (int)((byte + bytes - 1) / BANK_WORD_BYTES);
  line->sectors |= (uint8_t)(1 << byte / SECTOR_BYTES);
  for (int word = first; word <= last; word++) {
    if (line->lane[word] < 0) line->lane[word] = (int8_t)lane;
    line->lanes[word] |= 1u << lane;
  }
}

void sectors_map(SectorMap *map, const BankOp *op, const int64_t addr[BANK_LANES]) {
  int64_t line[BANK_LANES];
  *map = (SectorMap){.op = op, .count = sectors_count(op, addr)};
  if (!op->counted) return;
  map->n_lines = distinct(op, addr, BANK_LINE_BYTES, line);
  sort(line, map->n_lines);
  for (int i = 0; i < map->n_lines; i++) {
    map->line[i].line = line[i];
    memset(map->line[i].lane, -1, sizeof map->line[i].lane);
  }
  for (int lane = 0; lane < op->n_addresses; lane++) {
    if (addr[lane] < 0) continue;
    int64_t byte = addr[lane] / op->bytes * op->bytes;
    int at = 0;
    while (line[at] != byte / BANK_LINE_BYTES) at++;
    ask(&map->line[at], byte % BANK_LINE_BYTES, op->bytes, lane);
  }
}
