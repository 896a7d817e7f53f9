// Worked example, eight floats of b that the assembler reads as two LDS.128:
//
//   {"number":4,"text":"b <- B_s  LDS.128","op":"lds128","wavefronts":4,…,"accesses":"compiled",
//    "forms":[{"op":"lds128","executions_per_slab":32,"wavefronts":4,"ideal":4}],
//    "written":{"op":"lds32","executions_per_slab":128,"wavefronts":1,"ideal":1}}
#include "model/readings/cost/site_json.h"

#include <math.h>

static void put_count(JsonWriter *w, const BankOp *op, double executions, const BankCount *count) {
  json_member_string(w, "op", op->name);
  json_member_double(w, "executions_per_slab", executions);
  json_member_known(w, "wavefronts", count->known, count->wavefronts);
  json_member_known(w, "ideal", count->known, count->ideal);
}

static void put_forms(JsonWriter *w, const Site *site) {
  json_key(w, "forms");
  json_begin_array(w);
  for (int i = 0; i < site->n_forms; i++) {
    const SiteForm *form = &site->form[i];
    json_begin_object(w);
    put_count(w, form->op, form->executions, &form->count);
    json_end_object(w);
  }
  json_end_array(w);
}

static void put_name(JsonWriter *w, int number, const char *text) {
  json_member_int(w, "number", number);
  json_member_int(w, "site", number);
  json_member_string(w, "text", text);
}

static void put_lanes(JsonWriter *w, const char *key, const int64_t addr[BANK_LANES]) {
  json_key(w, key);
  json_begin_array(w);
  for (int lane = 0; lane < BANK_LANES; lane++) json_put_int(w, addr[lane]);
  json_end_array(w);
}

static void put_addresses(JsonWriter *w, const int64_t addr[BANK_LANES]) {
  put_lanes(w, "addr_bytes", addr);
  put_lanes(w, "addr", addr);
}

void site_put_json(JsonWriter *w, const Site *site, double clocks_measured) {
  const BankCount *count = &site->count;
  const Site *written = site->written;
  json_begin_object(w);
  put_name(w, site->number, site->text);
  json_member_string(w, "slab", site->slab->name);
  json_member_bool(w, "store", site->is_store);
  json_member_int(w, "statement", site->stmt->id);
  json_member_int(w, "warp", site->warp);
  put_count(w, site->op, site->executions, count);
  json_member_known(w, "conflicts", count->known, count->conflicts);
  json_member_known(w, "ways", count->known, count->ways);
  json_member_double(w, "wavefronts_per_slab", count->known ? site->clocks : NAN);
  json_member_double(w, "profiled_per_slab", site->profiled);
  json_member_double(w, "profiled_per_slab_at_most", site->profiled_most);
  json_member_string(w, "accesses", access_word_name(site->word));
  json_member_double(w, "prediction_right_share", access_certainty(site->word));
  put_forms(w, site);
  json_key(w, "written");
  json_begin_object(w);
  put_count(w, written->op, written->executions, &written->count);
  json_end_object(w);
  put_addresses(w, site->addr);
  json_member_double(w, "clocks_measured", clocks_measured);
  json_end_object(w);
}

static void put_global(JsonWriter *w, const Model *model, const GlobalSite *site) {
  const SectorCount *count = &site->count;
  json_begin_object(w);
  put_name(w, site->number, site->text);
  json_member_string(w, "matrix", site->matrix->name);
  json_member_string(w, "op", site->op->name);
  json_member_string(w, "compiled", site->compiled->name);
  json_member_bool(w, "store", site->is_store);
  json_member_bool(w, "in_loop", site->in_loop);
  json_member_int(w, "warp", site->warp);
  json_member_known(w, "sectors", count->known, count->sectors);
  json_member_known(w, "ideal", count->known, count->ideal);
  json_member_known(w, "lines", count->known, count->lines);
  json_member_known(w, "lines_ideal", count->known, count->lines_ideal);
  json_member_known(w, "l1_clocks", count->wavefronts > 0, count->wavefronts);
  json_member_double(w, "requests_per_block", count->known ? site->requests : NAN);
  json_member_double(w, "sectors_per_block", count->known ? site->sectors : NAN);
  json_member_double(w, "ideal_sectors_per_block", count->known ? site->ideal : NAN);
  double blocks = (double)model->resources.n_blocks;
  json_member_double(w, "requests_grid", count->known ? site->requests * blocks : NAN);
  json_member_double(w, "sectors_grid", count->known ? site->sectors * blocks : NAN);
  put_addresses(w, site->addr);
  json_end_object(w);
}

void global_sites_put_json(JsonWriter *w, const Model *model) {
  json_key(w, "global_sites");
  json_begin_array(w);
  for (int i = 0; i < model->global.n; i++) put_global(w, model, &model->global.site[i]);
  json_end_array(w);
}

void resources_put_limiters(JsonWriter *w, const Resources *r) {
  json_key(w, "limiters");
  json_begin_array(w);
  for (int i = 0; r->limiters[i]; i++) json_put_string(w, r->limiters[i]);
  json_end_array(w);
}
