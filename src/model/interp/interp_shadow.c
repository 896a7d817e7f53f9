// Races by happens-before: the record of every element, and the accesses that conflict with it.
//
// A block's barriers cut its time into epochs. Two accesses of different threads are ordered when a
// barrier lies between them, so their epochs differ; threads of different blocks are not ordered
// within a kernel; kernels are. So each access is compared with the record of the element, and a
// race is found whichever of the two the schedule happened to run first. Worked example, the
// barrier after the stores left out:
//
//   epoch 7   warp 0 lane 1 stores A_s[0, 3, 5]        write = {7, thread 1}
//   epoch 7   warp 2 lane 5 loads it                   7 == 7 and 69 != 1: race
//   or the load comes first: read = {7, thread 69}, and the store finds 7 == 7 and 1 != 69.
//
// A copy in flight is a write, and its own thread is not ordered with it either, until it waits.
// Then it counts as a write of that thread in the epoch of the wait, so others still need a
// barrier.
//
// An element of a shared buffer may be several granules (interp_code.h). Each has a shadow of its
// own, and everything said below of "an element" is done to every one of them.
//
// unordered() is the only place that knows an order. With barriers that fewer than all threads
// meet, the order is a question of vector clocks (interp_mbarrier.c): which epochs of the other's
// warp are known to this one.
#include "model/interp/interp_machine.h"
#include "model/ir/op.h"
#include "model/ir/stmt.h"

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
  return !machine->has_clocks || !order_is_over(machine->order, interp_clock(machine, now->thread),
                                                then->thread / LANES, then->epoch);
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
static inline bool unordered_for_async(const Machine *machine, const Touch *then, const Touch *now,
                                       uint32_t first) {
  if (unordered(machine, then, now, first)) return true;
  return then->epoch >= first && !is_agent(machine, then->thread) &&
         !order_is_fenced(machine->order, interp_clock(machine, now->thread), then->thread / LANES,
                          then->epoch) &&
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
static inline void remember(const Machine *machine, Recent *recent, const Touch *now,
                            uint32_t first) {
  if (unordered(machine, &recent->latest, now, first)) recent->other = recent->latest;
  recent->latest = *now;
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

// The latest read by a warp that can reach the memory, where they are kept.
static inline Touch *read_by(const Memory *memory, int64_t granule, int reader) {
  return &memory->reads->read[reader * memory->reads->apart + granule];
}

// For a warp that can reach the memory, or of its share of the tensor core, which stands behind all
// of those.
static inline int reader_of(const Machine *machine, uint16_t thread) {
  const int who = thread / LANES;
  if (who < machine->max_warps) return who - machine->first_reader;
  return machine->n_readers + who - machine->first_tensor - machine->first_reader;
}

static inline int count_readers(const Machine *machine) {
  return machine->first_tensor ? 2 * machine->n_readers : machine->n_readers;
}

static inline NewestRead *newest_reads(const Machine *machine, const Memory *memory,
                                       int64_t granule) {
  return &memory->reads->newest[granule / READS_TOGETHER * count_readers(machine)];
}

static inline int64_t granule_of(const Memory *memory, const Shadow *shadow) {
  return memory->first_granule + (shadow - memory->shadow);
}

static inline void remember_read(const Machine *machine, const Memory *memory, const Shadow *shadow,
                                 const Touch *now, uint32_t first, bool is_async) {
  if (!memory->reads) {
    remember(machine, &memory->read[shadow - memory->shadow], now, first);
    return;
  }
  const int64_t granule = granule_of(memory, shadow);
  const int reader = reader_of(machine, now->thread);
  *read_by(memory, granule, reader) = *now;
  NewestRead *newest = &newest_reads(machine, memory, granule)[reader];
  newest->any = now->epoch;
  if (!is_async) newest->to_fence = now->epoch;
}

// Whether all reads of a granule and those beside it are known to be over, and for_async to be
// fenced. False says nothing: the reads of the granule itself are to be looked at.
static bool reads_are_over(const Machine *machine, const Memory *memory, int64_t granule,
                           const Touch *now, uint32_t first, bool for_async) {
  const NewestRead *newest = newest_reads(machine, memory, granule);
  const uint32_t *seen = interp_clock(machine, now->thread) + machine->first_reader;
  const uint32_t *fenced = seen + ORDER_FENCED * machine->order->most;
  for (int w = 0; w < machine->n_readers; w++) {
    if (newest[w].any < first) continue;
    if (newest[w].any >= seen[w]) return false;
    if (for_async && newest[w].to_fence >= fenced[w]) return false;
  }
  if (!machine->first_tensor) return true;
  newest += machine->n_readers;
  seen += machine->first_tensor;
  for (int w = 0; w < machine->n_readers; w++)
    if (newest[w].any >= first && newest[w].any >= seen[w]) return false;
  return true;
}

// The latest atomic adds; NULL where there are none: no thread adds atomically to shared memory.
static inline Recent *adds_of(const Memory *memory, const Shadow *shadow) {
  return memory->add ? &memory->add[shadow - memory->shadow] : NULL;
}

static bool against_recent(Machine *machine, const Memory *memory, const Shadow *shadow,
                           const Recent *recent, const Touch *now, uint32_t first) {
  return recent && (against(machine, memory, shadow, &recent->latest, now, first) ||
                    against(machine, memory, shadow, &recent->other, now, first));
}

// A thread of a kernel that is launched early, and has not waited for the kernel in front: all that
// an earlier kernel wrote may still be under way.
static void against_kernel_before(Machine *machine, const Memory *memory, const Shadow *shadow,
                                  const Touch *now) {
  if (is_shared(memory)) return;
  const Recent *adds = adds_of(memory, shadow);
  const uint32_t stored = shadow->write.epoch, added = adds ? adds->latest.epoch : 0;
  const uint32_t written = added > stored ? added : stored;
  if (written < machine->run_first || written >= machine->kernel_first) return;
  interp_report(machine, FINDING_RACE, &machine->warp[now->thread / LANES], now->thread % LANES,
                machine->code->code[now->code].stmt, memory->buffer,
                (shadow - memory->shadow) / memory->n_shadows,
                "has no griddepcontrol.wait before it, and the kernel in front may still write "
                "there, at");
}

void shadow_check_early(Machine *machine, const Memory *memory, int64_t at, const Touch *now) {
  if (memory->shadow) against_kernel_before(machine, memory, first_of(memory, at), now);
}

static void read_against_all(Machine *machine, const Memory *memory, const Shadow *shadow,
                             const Touch *now, uint32_t first) {
  if (in_flight(shadow, first))
    interp_report_conflict(machine, FINDING_MISSING_WAIT, memory, shadow, &shadow->write, now);
  else if (!against(machine, memory, shadow, &shadow->write, now, first))
    against_recent(machine, memory, shadow, adds_of(memory, shadow), now, first);
}

// Most of a run's time goes by here, so the usual case is decided first: the last write is ordered
// and there are no atomic adds.
static inline bool read_granule(Machine *machine, const Memory *memory, Shadow *shadow,
                                const Touch *now) {
  if (machine->is_early) against_kernel_before(machine, memory, shadow, now);
  uint32_t first = first_epoch(machine, memory);
  const Recent *adds = adds_of(memory, shadow);
  if (shadow->in_flight || unordered(machine, &shadow->write, now, first) ||
      (adds && adds->latest.epoch >= first))
    read_against_all(machine, memory, shadow, now, first);
  remember_read(machine, memory, shadow, now, first, false);
  return is_shared(memory) ? shadow->write.epoch >= first : is_written(machine, memory, shadow);
}

bool shadow_read(Machine *machine, const Memory *memory, int64_t at, const Touch *now) {
  Shadow *shadow = first_of(memory, at);
  bool written = read_granule(machine, memory, shadow, now);
  for (int i = 1; i < memory->n_shadows; i++)
    written = read_granule(machine, memory, shadow + i, now) && written;
  return written;
}

static bool read_granule_async(Machine *machine, const Memory *memory, Shadow *shadow,
                               const Touch *now, const Touch *reader) {
  if (machine->is_early) against_kernel_before(machine, memory, shadow, now);
  uint32_t first = first_epoch(machine, memory);
  if (in_flight(shadow, first))
    interp_report_conflict(machine, FINDING_MISSING_WAIT, memory, shadow, &shadow->write, now);
  else if (unordered_for_async(machine, &shadow->write, now, first))
    interp_report_conflict(machine, FINDING_RACE, memory, shadow, &shadow->write, now);
  remember_read(machine, memory, shadow, reader, first, true);
  return shadow->write.epoch >= first;
}

bool shadow_read_async(Machine *machine, const Memory *memory, int64_t at, const Touch *now) {
  bool written = true;
  for (int i = 0; i < memory->n_shadows; i++)
    written = read_granule_async(machine, memory, first_of(memory, at) + i, now, now) && written;
  return written;
}

bool shadow_read_by(Machine *machine, const Memory *memory, int64_t at, const Touch *now,
                    uint16_t reader) {
  Touch its = *now;
  its.thread = reader;
  bool written = true;
  for (int i = 0; i < memory->n_shadows; i++)
    written = read_granule_async(machine, memory, first_of(memory, at) + i, now, &its) && written;
  return written;
}

// The latest read of it by a box on its way to global memory; NULL where these are not kept.
static inline Touch *stored_of(const Memory *memory, const Shadow *shadow) {
  return memory->stored ? &memory->stored[shadow - memory->shadow] : NULL;
}

static bool against_readers(Machine *machine, const Memory *memory, const Shadow *shadow,
                            const Touch *now, uint32_t first) {
  const Touch *stored = stored_of(memory, shadow);
  if (stored && against(machine, memory, shadow, stored, now, first)) return true;
  if (!memory->reads)
    return against_recent(machine, memory, shadow, &memory->read[shadow - memory->shadow], now,
                          first);
  const int64_t granule = granule_of(memory, shadow);
  if (reads_are_over(machine, memory, granule, now, first, false)) return false;
  for (int w = 0; w < count_readers(machine); w++)
    if (against(machine, memory, shadow, read_by(memory, granule, w), now, first)) return true;
  return false;
}

static void write_against_all(Machine *machine, const Memory *memory, const Shadow *shadow,
                              const Touch *now) {
  uint32_t first = first_epoch(machine, memory);
  if (in_flight(shadow, first))
    interp_report_conflict(machine, FINDING_RACE, memory, shadow, &shadow->write, now);
  else if (!against(machine, memory, shadow, &shadow->write, now, first) &&
           !against_readers(machine, memory, shadow, now, first))
    against_recent(machine, memory, shadow, adds_of(memory, shadow), now, first);
}

static void write_granule(Machine *machine, const Memory *memory, Shadow *shadow, const Touch *now,
                          bool in_background) {
  if (machine->is_early) against_kernel_before(machine, memory, shadow, now);
  write_against_all(machine, memory, shadow, now);
  shadow->write = *now;
  shadow->in_flight = in_background;
}

void shadow_write(Machine *machine, const Memory *memory, int64_t at, const Touch *now) {
  for (int i = 0; i < memory->n_shadows; i++)
    write_granule(machine, memory, first_of(memory, at) + i, now, false);
}

static bool add_granule(Machine *machine, const Memory *memory, Shadow *shadow, const Touch *now) {
  if (machine->is_early) against_kernel_before(machine, memory, shadow, now);
  uint32_t first = first_epoch(machine, memory);
  if (!against(machine, memory, shadow, &shadow->write, now, first))
    against_readers(machine, memory, shadow, now, first);
  remember(machine, adds_of(memory, shadow), now, first);
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

// The read that is in the way of a copy by TMA; NULL: none.
static const Touch *read_in_the_way(const Machine *machine, const Memory *memory,
                                    const Shadow *shadow, const Touch *now, uint32_t first) {
  const int64_t granule = granule_of(memory, shadow);
  if (!memory->reads || reads_are_over(machine, memory, granule, now, first, true)) return NULL;
  for (int w = 0; w < count_readers(machine); w++) {
    const Touch *read = read_by(memory, granule, w);
    if (unordered_for_async(machine, read, now, first)) return read;
  }
  return NULL;
}

// The earlier access that is in the way of a copy by TMA; NULL: none.
static const Touch *in_the_way(const Machine *machine, const Memory *memory, const Shadow *shadow,
                               const Touch *now) {
  uint32_t first = first_epoch(machine, memory);
  if (in_flight(shadow, first) || unordered_for_async(machine, &shadow->write, now, first))
    return &shadow->write;
  const Touch *read = read_in_the_way(machine, memory, shadow, now, first);
  if (read) return read;
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
