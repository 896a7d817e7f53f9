// Races by happens-before: what is remembered of every element, and what conflicts with what.
//
// A block's barriers cut its time into epochs. Two accesses of different threads are ordered when a
// barrier lies between them, that is when their epochs differ; threads of different blocks are not
// ordered within a kernel; kernels are. So each access is compared with what the element remembers,
// and a race is found whichever of the two the schedule happened to run first. Worked example, the
// barrier after the stores left out:
//
//   epoch 7   warp 0 lane 1 stores A_s[0, 3, 5]        write = {7, thread 1}
//   epoch 7   warp 2 lane 5 loads it                   7 == 7 and 69 != 1: race
//   or the load comes first: read = {7, thread 69}, and the store finds 7 == 7 and 1 != 69.
//
// A copy in flight is a write that its own thread is not ordered with either, until it waits; then
// it counts as a write of that thread in the epoch of the wait, so others still need a barrier.
//
// An element of a shared buffer may be several granules (interp_machine.h); each has a shadow of
// its own, and what is said below of "an element" is done to every one of them.
//
// unordered() is the only place that knows what an order is. Barriers that fewer than all threads
// meet make it a question of vector clocks (interp_mbarrier.c): which epochs of the other's warp
// are known to this one.
#include "model/interp/interp_machine.h"

static inline bool is_shared(const Memory *memory) { return memory->buffer->space == SPACE_SHARED; }

// Accesses older than this are ordered with everything: another block had this shared memory, or
// another kernel this global memory.
static inline uint32_t first_epoch(const Machine *machine, const Memory *memory) {
  return is_shared(memory) ? machine->block_first : machine->kernel_first;
}

static inline bool unordered(const Machine *machine, const Touch *then, const Touch *now,
                             uint32_t first) {
  if (then->epoch < first) return false;
  if (then->block != now->block) return true;
  if (then->thread == now->thread) return false;
  // A barrier that all threads met says nothing of what an agent wrote: for that one waits.
  if (then->epoch < machine->joined && !is_agent(machine, then->thread)) return false;
  return !machine->has_clocks ||
         then->epoch >= interp_clock(machine, now->thread)[then->thread / LANES].seen;
}

bool shadow_ordered(const Machine *machine, const Touch *then, const Touch *now) {
  return !unordered(machine, then, now, machine->block_first);
}

// Whether an access was made through the async proxy itself: between those a wait is enough.
static bool was_async(const Machine *machine, const Touch *then) {
  const Code *code = &machine->code->code[then->code];
  return code->stmt && op_facts(code->stmt->op.kind)->proxy == PROXY_ASYNC;
}

// The same of an access through the async proxy, which `now` asks for: what threads did must have
// been fenced as well.
static bool unordered_for_async(const Machine *machine, const Touch *then, const Touch *now,
                                uint32_t first) {
  if (unordered(machine, then, now, first)) return true;
  return then->epoch >= first && !is_agent(machine, then->thread) &&
         then->epoch >= interp_clock(machine, now->thread)[then->thread / LANES].fenced &&
         !was_async(machine, then);
}

static inline bool is_written(const Machine *machine, const Memory *memory, const Shadow *shadow) {
  uint32_t since = is_shared(memory) ? machine->block_first : machine->run_first;
  return shadow->write.epoch >= since;
}

static inline Shadow *first_of(const Memory *memory, int64_t at) {
  return &memory->shadow[at * memory->n_shadows];
}

bool shadow_is_written(const Machine *machine, const Memory *memory, int64_t at) {
  bool all = true;
  for (int i = 0; memory->shadow && i < memory->n_shadows; i++)
    all = all && is_written(machine, memory, first_of(memory, at) + i);
  return all;
}

// Keeps the latest access and one that is unordered with it.
static inline void remember(const Machine *machine, Touch *latest, Touch *other, const Touch *now,
                            uint32_t first) {
  if (unordered(machine, latest, now, first)) *other = *latest;
  *latest = *now;
}

static inline bool in_flight(const Shadow *shadow, uint32_t first) {
  return shadow->in_flight && shadow->write.epoch >= first;
}

static bool against(Machine *machine, const Memory *memory, const Shadow *shadow, const Touch *then,
                    const Touch *now, uint32_t first) {
  if (!unordered(machine, then, now, first)) return false;
  interp_report_conflict(machine, FINDING_RACE, memory, shadow, then, now);
  return true;
}

// The latest reads of all warps that can reach the memory, `machine->n_readers` of them; NULL where
// nobody keeps them.
static inline Touch *reads_of(const Machine *machine, const Memory *memory, const Shadow *shadow) {
  return memory->reads ? &memory->reads[(shadow - memory->shadow) * machine->n_readers] : NULL;
}

static void read_against_all(Machine *machine, const Memory *memory, const Shadow *shadow,
                             const Touch *now, uint32_t first) {
  if (in_flight(shadow, first))
    interp_report_conflict(machine, FINDING_MISSING_WAIT, memory, shadow, &shadow->write, now);
  else if (!against(machine, memory, shadow, &shadow->write, now, first) &&
           !against(machine, memory, shadow, &shadow->atomic, now, first))
    against(machine, memory, shadow, &shadow->other_atomic, now, first);
}

// Most of a run's time goes by here, so the usual case is decided first: the last write is ordered
// and nobody adds atomically.
static inline bool read_granule(Machine *machine, const Memory *memory, Shadow *shadow,
                                const Touch *now) {
  uint32_t first = first_epoch(machine, memory);
  if (shadow->in_flight || unordered(machine, &shadow->write, now, first) ||
      shadow->atomic.epoch >= first)
    read_against_all(machine, memory, shadow, now, first);
  Touch *reads = reads_of(machine, memory, shadow);
  if (reads)
    reads[now->thread / LANES - machine->first_reader] = *now;
  else
    remember(machine, &shadow->read, &shadow->other_read, now, first);
  return is_shared(memory) ? shadow->write.epoch >= first : is_written(machine, memory, shadow);
}

bool shadow_read(Machine *machine, const Memory *memory, int64_t at, const Touch *now) {
  Shadow *shadow = first_of(memory, at);
  bool written = read_granule(machine, memory, shadow, now);
  for (int i = 1; i < memory->n_shadows; i++)
    written = read_granule(machine, memory, shadow + i, now) && written;
  return written;
}

// Nobody adds atomically to shared memory.
static bool read_granule_async(Machine *machine, const Memory *memory, Shadow *shadow,
                               const Touch *now) {
  uint32_t first = first_epoch(machine, memory);
  if (in_flight(shadow, first))
    interp_report_conflict(machine, FINDING_MISSING_WAIT, memory, shadow, &shadow->write, now);
  else if (unordered_for_async(machine, &shadow->write, now, first))
    interp_report_conflict(machine, FINDING_RACE, memory, shadow, &shadow->write, now);
  Touch *reads = reads_of(machine, memory, shadow);
  if (reads)
    reads[now->thread / LANES - machine->first_reader] = *now;
  else
    remember(machine, &shadow->read, &shadow->other_read, now, first);
  return shadow->write.epoch >= first;
}

bool shadow_read_async(Machine *machine, const Memory *memory, int64_t at, const Touch *now) {
  bool written = true;
  for (int i = 0; i < memory->n_shadows; i++)
    written = read_granule_async(machine, memory, first_of(memory, at) + i, now) && written;
  return written;
}

// The latest read of it by a box on its way to global memory; NULL where nobody keeps them.
static inline Touch *stored_of(const Memory *memory, const Shadow *shadow) {
  return memory->stored ? &memory->stored[shadow - memory->shadow] : NULL;
}

static bool against_readers(Machine *machine, const Memory *memory, const Shadow *shadow,
                            const Touch *now, uint32_t first) {
  const Touch *reads = reads_of(machine, memory, shadow), *stored = stored_of(memory, shadow);
  if (stored && against(machine, memory, shadow, stored, now, first)) return true;
  if (!reads)
    return against(machine, memory, shadow, &shadow->read, now, first) ||
           against(machine, memory, shadow, &shadow->other_read, now, first);
  for (int w = 0; w < machine->n_readers; w++)
    if (against(machine, memory, shadow, &reads[w], now, first)) return true;
  return false;
}

static void write_against_all(Machine *machine, const Memory *memory, const Shadow *shadow,
                              const Touch *now) {
  uint32_t first = first_epoch(machine, memory);
  if (in_flight(shadow, first))
    interp_report_conflict(machine, FINDING_RACE, memory, shadow, &shadow->write, now);
  else if (!against(machine, memory, shadow, &shadow->write, now, first) &&
           !against_readers(machine, memory, shadow, now, first) &&
           !against(machine, memory, shadow, &shadow->atomic, now, first))
    against(machine, memory, shadow, &shadow->other_atomic, now, first);
}

static void write_granule(Machine *machine, const Memory *memory, Shadow *shadow, const Touch *now,
                          bool in_background) {
  write_against_all(machine, memory, shadow, now);
  shadow->write = *now;
  shadow->in_flight = in_background;
}

void shadow_write(Machine *machine, const Memory *memory, int64_t at, const Touch *now) {
  for (int i = 0; i < memory->n_shadows; i++)
    write_granule(machine, memory, first_of(memory, at) + i, now, false);
}

static bool add_granule(Machine *machine, const Memory *memory, Shadow *shadow, const Touch *now) {
  uint32_t first = first_epoch(machine, memory);
  if (!against(machine, memory, shadow, &shadow->write, now, first))
    against_readers(machine, memory, shadow, now, first);
  remember(machine, &shadow->atomic, &shadow->other_atomic, now, first);
  return is_written(machine, memory, shadow);
}

bool shadow_atomic(Machine *machine, const Memory *memory, int64_t at, const Touch *now) {
  bool written = true;
  for (int i = 0; i < memory->n_shadows; i++)
    written = add_granule(machine, memory, first_of(memory, at) + i, now) && written;
  return written;
}

void shadow_launch(Machine *machine, const Memory *memory, int64_t at, const Touch *now) {
  for (int i = 0; i < memory->n_shadows; i++)
    write_granule(machine, memory, first_of(memory, at) + i, now, true);
}

// The earlier access that is in the way of a copy by TMA; NULL: none.
static const Touch *in_the_way(const Machine *machine, const Memory *memory, const Shadow *shadow,
                               const Touch *now) {
  uint32_t first = first_epoch(machine, memory);
  const Touch *reads = reads_of(machine, memory, shadow);
  if (in_flight(shadow, first) || unordered_for_async(machine, &shadow->write, now, first))
    return &shadow->write;
  for (int w = 0; reads && w < machine->n_readers; w++)
    if (unordered_for_async(machine, &reads[w], now, first)) return &reads[w];
  const Touch *stored = stored_of(memory, shadow);
  return stored && unordered(machine, stored, now, first) ? stored : NULL;
}

static void ask_granule(Machine *machine, const Memory *memory, Shadow *shadow, const Touch *now) {
  const Touch *then = in_the_way(machine, memory, shadow, now);
  if (then) interp_report_conflict(machine, FINDING_RACE, memory, shadow, then, now);
  shadow->write = *now;
  shadow->in_flight = true;
}

void shadow_ask(Machine *machine, const Memory *memory, int64_t at, const Touch *now) {
  for (int i = 0; i < memory->n_shadows; i++)
    ask_granule(machine, memory, first_of(memory, at) + i, now);
}

void shadow_arrive(Machine *machine, const Memory *memory, int64_t at, const Touch *now) {
  for (int i = 0; i < memory->n_shadows; i++) {
    Shadow *shadow = first_of(memory, at) + i;
    bool same = shadow->write.thread == now->thread && shadow->write.block == now->block;
    if (!in_flight(shadow, first_epoch(machine, memory)) || !same) continue;
    shadow->write.epoch = now->epoch;
    shadow->in_flight = 0;
  }
}

void shadow_land(const Memory *memory, int64_t at, const Touch *now) {
  for (int i = 0; i < memory->n_shadows; i++) {
    Shadow *shadow = first_of(memory, at) + i;
    shadow->write = *now;
    shadow->in_flight = 0;
  }
}

// One box at a time is remembered as the reader of an element: of two that are sent from one place
// at once the first may be missed, and nothing is made up.
static bool send_granule(Machine *machine, const Memory *memory, Shadow *shadow, const Touch *now) {
  uint32_t first = first_epoch(machine, memory);
  if (in_flight(shadow, first))
    interp_report_conflict(machine, FINDING_MISSING_WAIT, memory, shadow, &shadow->write, now);
  else if (unordered_for_async(machine, &shadow->write, now, first))
    interp_report_conflict(machine, FINDING_RACE, memory, shadow, &shadow->write, now);
  Touch *stored = stored_of(memory, shadow);
  *stored = *now;
  stored->thread = interp_stores(machine);
  return is_written(machine, memory, shadow);
}

bool shadow_send(Machine *machine, const Memory *memory, int64_t at, const Touch *now) {
  bool written = true;
  for (int i = 0; i < memory->n_shadows; i++)
    written = send_granule(machine, memory, first_of(memory, at) + i, now) && written;
  return written;
}

void shadow_sent(const Memory *memory, int64_t at, const Touch *now) {
  for (int i = 0; i < memory->n_shadows; i++) *stored_of(memory, first_of(memory, at) + i) = *now;
}
