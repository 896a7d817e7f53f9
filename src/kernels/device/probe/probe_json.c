// Requests and results of the probe on the worker's pipe, by base/record_json.h's tables:
//
//   {"accesses":[{"op":"lds32","addr":[0,128,256,…]}]}
//   {"cancelled":false,"probes":[{"ok":true,"error":null,…,"clocks":32.01,…,"wavefronts":32,…}]}
//
// A request comes from outside and ends as a kernel, so its operations and addresses are checked
// here, before anything is compiled.
#include <stddef.h>

#include "base/record_json.h"
#include "kernels/device/probe/probe.h"

static const RecordField access_fields[] = {
    RECORD_FIELD(ProbeAccess, op, RECORD_TEXT),
    {.key = "addr",
     .kind = RECORD_INT64S,
     .offset = offsetof(ProbeAccess, addr),
     .max = BANK_LANES},
};
static const Record access_record = RECORD_OF(ProbeAccess, access_fields);

static const RecordField request_fields[] = {
    RECORD_MANY(ProbeRequest, RECORD_LIST, "accesses", access, n, PROBE_ACCESSES_MAX,
                &access_record),
};
static const Record request_record = RECORD_OF(ProbeRequest, request_fields);

static const RecordField result_fields[] = {
    RECORD_FIELD(ProbeResult, ok, RECORD_BOOL, "it was measured"),
    RECORD_FIELD(ProbeResult, error, RECORD_MAYBE_TEXT, "the reason why not"),
    RECORD_FIELD(ProbeResult, poisoned, RECORD_BOOL, "the context of the GPU was lost"),
    RECORD_FIELD(ProbeResult, op, RECORD_TEXT, "the operation"),
    RECORD_FIELD(ProbeResult, clocks, RECORD_POSITIVE, "SM clocks of an access, the median"),
    RECORD_FIELD(ProbeResult, p10_clocks, RECORD_POSITIVE, "tenth percentile"),
    RECORD_FIELD(ProbeResult, p90_clocks, RECORD_POSITIVE, "ninetieth percentile"),
    RECORD_FIELD(ProbeResult, n_samples, RECORD_INT, "number of times taken"),
    RECORD_FIELD(ProbeResult, wavefronts, RECORD_COUNT, "wavefronts by the bank model"),
    RECORD_FIELD(ProbeResult, clocks_per_wavefront, RECORD_POSITIVE, "SM clocks over wavefronts"),
    RECORD_FIELD(ProbeResult, gpu, RECORD_MAYBE_TEXT, "the GPU, as its driver names it"),
    RECORD_FIELD(ProbeResult, date, RECORD_MAYBE_TEXT, "when, in UTC"),
};
const Record probe_result_record = RECORD_OF(ProbeResult, result_fields);

static const RecordField results_fields[] = {
    RECORD_FIELD(ProbeResults, cancelled, RECORD_BOOL),
    RECORD_MANY(ProbeResults, RECORD_LIST, "probes", result, n, PROBE_ACCESSES_MAX,
                &probe_result_record),
};
static const Record results_record = RECORD_OF(ProbeResults, results_fields);

static bool check_access(const ProbeAccess *access, int i, Diags *diags) {
  if (!banks_op_find(access->op)) {
    diag_add(diags, "bank_op", "access %d: there is no operation \"%.40s\"", i,
             str_sanitise(diags->arena, access->op))
        ->nearest = "lds32";
    return false;
  }
  for (int lane = 0; lane < BANK_LANES; lane++) {
    if (access->addr[lane] < BANK_SMEM_BYTES_MAX) continue;
    diag_add(diags, "addr_range", "access %d: lane %d: %lld is outside shared memory", i, lane,
             (long long)access->addr[lane])
        ->nearest = arena_printf(diags->arena, "%d", BANK_SMEM_BYTES_MAX - 1);
    return false;
  }
  return true;
}

void probe_request_write_json(Str *out, const ProbeRequest *request) {
  record_write_text(out, &request_record, request);
}

ProbeRequest *probe_request_read_json(Arena *arena, const char *text, Diags *diags) {
  ProbeRequest *request = record_read_text(arena, text, "probe", &request_record, diags);
  if (request && request->n == 0) diag_add(diags, "probe", "there is no access to probe");
  for (int i = 0; request && i < request->n; i++)
    if (!check_access(&request->access[i], i, diags)) return NULL;
  return request && request->n > 0 ? request : NULL;
}

void probe_results_write_json(Str *out, const ProbeResults *results) {
  record_write_text(out, &results_record, results);
}

ProbeResults *probe_results_read_json(Arena *arena, const char *text, Diags *diags) {
  return record_read_text(arena, text, "probe results", &results_record, diags);
}
