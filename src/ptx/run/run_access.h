// One warp's access, lane by lane, and tensor maps: what the files of run_ share.
#pragma once
#include "ptx/run/run.h"

void ptx_access_begin(PtxMachine *m, PtxWarp *w, const PtxInst *i, uint32_t mask, int bytes,
                      bool is_store, const PtxGroup *address, PtxAccess *out);
uint64_t ptx_access_address(const PtxMachine *m, PtxWarp *w, const PtxGroup *g, uint32_t lane);
PtxPlace ptx_access_lane(PtxMachine *m, PtxWarp *w, PtxAccess *access, uint32_t lane,
                         PtxSpace space, uint64_t address);
void ptx_access_end(PtxMachine *m, const PtxAccess *access);
// False after a finding that none of the bytes was ever written.
bool ptx_check_written(PtxMachine *m, PtxWarp *w, const PtxAccess *access, uint32_t lane,
                       const PtxPlace *place, int64_t address);
bool ptx_place_is_data(const PtxPlace *place, int bytes);
void ptx_mark_written(const PtxPlace *place, int bytes, bool is_data);
void ptx_mark_atomic(const PtxPlace *place, int bytes);  // the same by an atomic operation
// Tells what an atomic operation leaves in memory; `c` is the new value of cas.
uint64_t ptx_atomic_result(PtxModifier logic, PtxType type, uint64_t old, uint64_t b, uint64_t c);
// The same element by element.
void ptx_atomic_bytes(PtxModifier logic, PtxType type, unsigned char *to, const unsigned char *with,
                      int64_t bytes);
// The copies that a lane issued so far have landed.
void ptx_land_copies(PtxWarp *w, uint32_t lane);

// ---- tensor maps: run_tensor.c, run_tensormap.c ------------------------------------------------

struct PtxTensor {
  unsigned char map[PTX_MAP_BYTES];
  TmaBox box;
  uint64_t address;
  const Layout *layout;
  struct PtxTensor *next;
};

// The tensor of a map that the launch brought; NULL: these bytes are none.
const PtxTensor *ptx_tensor_of(const PtxMachine *m, const unsigned char *bytes);
// The tensor of a map that the kernel made; NULL: these bytes are no map, or *why says the fault.
const PtxTensor *ptx_made_tensor(PtxMachine *m, const unsigned char *bytes, const char **why);
