// The part of the prelude that TMA and roles need; prelude_text.c holds the table. Others use
// prelude.h.
#pragma once
#include "base/str.h"
#include "model/text/prelude.h"

void prelude_write_tensor_map(Str *out, const Prelude *prelude);
void prelude_write_mbarrier_init(Str *out, const Prelude *prelude);
void prelude_write_mbarrier_expect(Str *out, const Prelude *prelude);
void prelude_write_mbarrier_arrive(Str *out, const Prelude *prelude);
void prelude_write_mbarrier_wait(Str *out, const Prelude *prelude);
void prelude_write_tma_load(Str *out, const Prelude *prelude);
void prelude_write_tma_multicast(Str *out, const Prelude *prelude);
void prelude_write_tma_pair(Str *out, const Prelude *prelude);
// The way back, storing or adding.
void prelude_write_tma_store(Str *out, const Prelude *prelude);
