// The memory view as data: bytes of each buffer, mbarriers, columns, CTAs.
#include "tui/views/memory/chip.h"

static void put_budget(JsonWriter *w, const SmemBudget *budget) {
  json_key(w, "shared");
  json_begin_object(w);
  json_member_int(w, "bytes", budget->bytes);
  json_member_int(w, "block_most_bytes", budget->block_bytes);
  json_member_int(w, "sm_bytes", budget->sm_bytes);
  json_member_int(w, "reserved_bytes", budget->reserved_bytes);
  json_member_int(w, "stage_bytes", budget->stage_bytes);
  json_member_int(w, "stages", budget->stages);
  json_member_int(w, "most_stages", budget->most_stages);
  json_key(w, "buffers");
  json_begin_array(w);
  for (int i = 0; i < budget->n; i++) {
    const SmemPart *part = &budget->part[i];
    json_begin_object(w);
    json_member_string(w, "name", part->buffer->name);
    json_member_int(w, "from_byte", part->buffer->offset_bytes);
    json_member_int(w, "bytes", part->bytes);
    json_member_int(w, "slots", part->slots);
    json_end_object(w);
  }
  json_end_array(w);
  json_end_object(w);
}

static void put_uses(JsonWriter *w, const char *key, const ChipUse *use, int n) {
  json_key(w, key);
  json_begin_array(w);
  for (int i = 0; i < n; i++) {
    json_begin_object(w);
    json_member_string(w, "role", use[i].role ? use[i].role->name : NULL);
    json_member_string(w, "operation", op_name(use[i].stmt->op.kind));
    json_member_int(w, "warp_mask", use[i].warps);
    json_member_int(w, "by_rank_mask", use[i].by);
    json_member_int(w, "at_rank_mask", use[i].at);
    json_member_int(w, "bytes", use[i].bytes);
    if (use[i].phase >= 0) json_member_int(w, "first_phase", use[i].phase);
    json_end_object(w);
  }
  json_end_array(w);
}

static void put_barriers(JsonWriter *w, const OnChip *chip) {
  json_key(w, "mbarriers");
  json_begin_array(w);
  for (int i = 0; i < chip->n_barriers; i++) {
    const ChipBarrier *barrier = &chip->barrier[i];
    json_begin_object(w);
    json_member_string(w, "name", barrier->buffer->name);
    json_member_string(w, "tirx_name", chip_tirx_name(chip, barrier->buffer));
    json_member_int(w, "slots", barrier->buffer->dim[0]);
    json_member_int(w, "arrivals", barrier->arrivals);
    put_uses(w, "signals", barrier->signal, barrier->n_signals);
    put_uses(w, "waits", barrier->wait, barrier->n_waits);
    json_end_object(w);
  }
  json_end_array(w);
}

static void put_ring(JsonWriter *w, const OnChip *chip) {
  json_key(w, "slabs_slot_full_phase_empty_phase");
  json_begin_array(w);
  for (int i = 0; i < chip->n_turns; i++) {
    const int64_t value[] = {chip->turn[i].slot, chip->turn[i].full_phase,
                             chip->turn[i].empty_phase};
    json_begin_array(w);
    for (int j = 0; j < 3; j++) json_put_int(w, value[j]);
    json_end_array(w);
  }
  json_end_array(w);
}

static void put_tensor(JsonWriter *w, const ChipTensor *tensor) {
  json_key(w, "tensor");
  json_begin_object(w);
  json_member_int(w, "columns", tensor->columns);
  json_key(w, "ranges");
  json_begin_array(w);
  for (int i = 0; i < tensor->n; i++) {
    const ChipRange *range = &tensor->range[i];
    json_begin_object(w);
    json_member_int(w, "first_column", range->first);
    json_member_int(w, "columns", range->n);
    json_member_string(w, "holds", range->factors ? range->factors->name : "sums");
    json_member_int(w, "set", range->set);
    json_member_int(w, "asking_warp", range->asks);
    json_key(w, "reading_warps");
    json_begin_array(w);
    for (int q = 0; q < TENSOR_QUARTERS; q++) json_put_int(w, range->reader[q]);
    json_end_array(w);
    json_end_object(w);
  }
  json_end_array(w);
  json_end_object(w);
}

static void put_slice(JsonWriter *w, const char *key, const ChipSlice *slice) {
  json_key(w, key);
  json_begin_object(w);
  json_member_int(w, "first", slice->first);
  json_member_int(w, "n", slice->n);
  json_member_int(w, "k", slice->k);
  json_member_int(w, "n_k", slice->n_k);
  json_member_int(w, "bytes", slice->bytes);
  json_member_int(w, "to_rank_mask", slice->to);
  json_member_int(w, "counted_at_rank_mask", slice->counted_at);
  json_end_object(w);
}

static void put_ranks(JsonWriter *w, const OnChip *chip) {
  json_key(w, "ctas");
  json_begin_array(w);
  for (int r = 0; r < chip->n_ranks; r++) {
    json_begin_object(w);
    put_slice(w, "a", &chip->rank[r].slice[ATOM_A]);
    put_slice(w, "b", &chip->rank[r].slice[ATOM_B]);
    json_member_int(w, "c_row", chip->rank[r].m);
    json_member_int(w, "c_column", chip->rank[r].n);
    json_member_int(w, "factor_bytes", chip->rank[r].factors);
    json_member_int(w, "fetched_bytes", chip->rank[r].fetched);
    json_end_object(w);
  }
  json_end_array(w);
  json_member_double(w, "flop_per_byte", chip->intensity);
  json_member_double(w, "flop_per_byte_alone", chip->alone);
}

void chip_put(JsonWriter *w, const ChipSide *side) {
  put_budget(w, &side->budget);
  if (!side->chip) return;
  put_barriers(w, side->chip);
  put_ring(w, side->chip);
  put_tensor(w, &side->chip->tensor);
  put_ranks(w, side->chip);
}
