// The data of source, fragments and swizzle: what their `prepare` made, as tables.
//
// Worked example: an m16n8k16 A fragment has 256 cells, each a row of "elements": [lane, register,
// part, row, column], in the order of lanes and registers.
#include <math.h>

#include "base/str.h"
#include "model/readings/place/fragment_json.h"
#include "tui/frame/view_json.h"
#include "tui/views/data/view_data.h"
#include "tui/views/memory/swizzle.h"
#include "tui/views/places/fragments.h"
#include "tui/views/program/source.h"

// ---- source -------------------------------------------------------------------------------------

static void put_line(JsonWriter *w, const SourceLine *line, bool is_sass) {
  static const char *const bank_names[] = {NULL, "spared", "conflict"};
  json_begin_object(w);
  json_member_int(w, "line", line->number);
  view_json_kind(w, line->kind);
  json_member_string(w, "text", line->text);
  view_json_knob(w, "knob", line->knob);
  if (line->site)
    json_member_int(w, "site", line->site);
  else
    json_member_null(w, "site");
  if (line->cuda_line >= 0)
    json_member_int(w, "cuda_line", line->cuda_line);
  else
    json_member_null(w, "cuda_line");
  if (is_sass) json_member_string(w, "register_bank", bank_names[line->bank_mark]);
  json_end_object(w);
}

static void put_opcodes(JsonWriter *w, const Source *source, bool comparing) {
  json_key(w, "opcodes");
  json_begin_array(w);
  for (int i = 0; i < source->n_opcodes; i++) {
    const OpcodeRow *row = &source->opcode[i];
    json_begin_object(w);
    json_member_string(w, "opcode", row->opcode);
    json_member_int(w, "count", row->b);
    if (comparing) json_member_int(w, "count_a", row->a);
    json_end_object(w);
  }
  json_end_array(w);
}

void source_json(JsonWriter *w, Session *session) {
  static const char *const modes[] = {
      [SOURCE_CUDA] = "cuda", [SOURCE_PTX] = "ptx", [SOURCE_SASS] = "sass"};
  const Source *source = session->prepared;
  json_member_string(w, "language", modes[source->mode]);
  json_member_string(w, "missing", source->missing);
  json_key(w, "source");
  json_begin_array(w);
  for (int i = 0; i < source->n_whole; i++)
    if (source->whole[i].text) put_line(w, &source->whole[i], source->mode == SOURCE_SASS);
  json_end_array(w);
  if (source->mode == SOURCE_SASS) json_member_string(w, "register_banks", source->register_banks);
  put_opcodes(w, source, session->comparing);
}

// ---- fragments ----------------------------------------------------------------------------------

static void put_element(JsonWriter *w, const Fragments *f, int lane, int value) {
  FragmentElement at = fragment_map_element(&f->map, lane, value);
  int per = f->packing.per_register;
  int five[] = {lane, value / per, value % per, at.row, at.col};
  json_begin_array(w);
  for (int i = 0; i < 5; i++) json_put_int(w, five[i]);
  json_end_array(w);
}

static void put_elements(JsonWriter *w, const Fragments *f) {
  json_key(w, "elements_lane_register_part_row_col");
  json_begin_array(w);
  for (int lane = 0; f->held && lane < f->map.n_lanes; lane++)
    for (int value = 0; value < f->map.n_values; value++) put_element(w, f, lane, value);
  json_end_array(w);
}

static void put_cursor(JsonWriter *w, const Fragments *f) {
  json_key(w, "cursor");
  json_begin_object(w);
  json_member_int(w, "row", f->row);
  json_member_int(w, "col", f->col);
  json_member_int(w, "lane", f->owner.lane);
  json_member_int(w, "warp", f->owner.lane / 32);
  json_member_int(w, "register", f->reg);
  json_member_int(w, "part", f->part);
  if (f->address_lane >= 0)
    json_member_int(w, "ldmatrix_address_lane", f->address_lane);
  else
    json_member_null(w, "ldmatrix_address_lane");
  json_end_object(w);
}

void fragments_json(JsonWriter *w, Session *session) {
  const Fragments *f = session->prepared;
  json_member_string(w, "atom", f->atom->name);
  json_member_string(w, "ptx", f->ptx);
  json_member_string(w, "operand", atom_operand_name(f->operand));
  json_member_bool(w, "in_registers", f->held);
  json_member_string(w, "ldmatrix", f->memory.legal ? f->memory.ptx : NULL);
  if (f->held) {
    json_member_int(w, "operand_rows", f->map.rows);
    json_member_int(w, "operand_cols", f->map.cols);
    json_member_int(w, "register_bits", f->packing.register_bits);
    put_cursor(w, f);
  }
  if (f->of_row) fragment_put_row(w, f->arena, &f->map, f->row);
  if (f->joined) fragment_put_relayout(w, f->arena, f->atom, f->atom);
  put_elements(w, f);
}

// ---- swizzle ------------------------------------------------------------------------------------

static void put_costs(JsonWriter *w, const Swizzle *work, const SwizzleColumn *column) {
  json_key(w, "sites");
  json_begin_array(w);
  for (int i = 0; column->cost && i < work->slab.problem.n_sites; i++) {
    const SlabCost *cost = &column->cost[i];
    bool shown = cost->known && cost->legal;
    json_begin_object(w);
    json_member_int(w, "site", work->slab.use[i].site->number);
    json_member_double(w, "wavefronts", shown ? cost->wavefronts : (double)NAN);
    json_member_double(w, "ideal", shown ? cost->ideal : (double)NAN);
    json_member_double(w, "executions", (double)work->slab.use[i].executions);
    json_member_bool(w, "aligned", cost->legal);
    json_end_object(w);
  }
  json_end_array(w);
}

static void put_column(JsonWriter *w, const Swizzle *work, const SwizzleColumn *column) {
  json_begin_object(w);
  json_member_string(w, "name", column->name);
  json_member_string(w, "layout", column->layout->text);
  json_member_string(w, "typed_unit", column->unit);
  json_member_int(w, "storage_bytes", column->layout->storage_bytes);
  json_member_bool(w, "bijective", column->facts.bijective);
  json_member_bool(w, "linear", column->facts.linear);
  json_member_int(w, "whole_bytes", column->facts.whole_bytes);
  json_member_bool(w, "legal", column->legal);
  json_member_double(w, "total_wavefronts", column->cost ? column->total : (double)NAN);
  put_costs(w, work, column);
  json_end_object(w);
}

void swizzle_json(JsonWriter *w, Session *session) {
  const Swizzle *work = view_own(session, &swizzle_view);
  json_member_string(w, "missing", work->why);
  json_member_string(w, "slab", work->built && !work->why ? work->slab.slab->name : NULL);
  json_member_string(w, "error", work->error);
  json_key(w, "layouts");
  json_begin_array(w);
  for (int i = 0; i < SWIZZLE_COLUMNS && !work->why; i++)
    if (work->column[i].layout) put_column(w, work, &work->column[i]);
  json_end_array(w);
  if (work->solved)
    json_member_int(w, "bound_wavefronts", work->result.bound);
  else
    json_member_null(w, "bound_wavefronts");
}
