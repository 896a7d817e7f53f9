// One thread of a launch, event by event: what it read, wrote and accessed, of the machine code and
// of the PTX, for the way back (mc_back.h).
//
// A value is compared as the whole warp has it: 32 small numbers are alike by chance more seldom
// than one is.
#pragma once
#include "machine/mc_run.h"
#include "ptx/run/machine.h"

// Runs the launch again from its beginning, the PTX or the machine code, and tells the listener.
// False: it cannot be run.
typedef bool McAgain(void *self, bool machine_code, PtxTrace *trace, PtxAccessSink *sink,
                     void *context);

enum { MC_SOURCES = 16, MC_PIECES = 12, MC_NOBODY = -1, MC_EVENTS_MAX = 1 << 20 };

typedef struct McThread {
  int warp, lane, block[3];
} McThread;

// A register of 32 bits, or a predicate behind them, as the warp has it.
typedef struct McPiece {
  uint32_t value;
  uint64_t lanes, shifted;  // hashes; shifted: without what the system has of shared memory
  uint64_t turned;          // with the other sign
  bool varies;              // among lanes
  bool is_pred;
} McPiece;

// An instruction of the PTX.
typedef struct McResult {
  const char *name;
  int line, n, n_read;
  int touch;  // the access that it made; -1
  uint32_t mask;
  int64_t when;
  McPiece *pieces, *read;
} McResult;

typedef struct McTouch {
  int line, nth;
  bool is_store;
  int bytes;
  uint64_t address;
  uint64_t source;  // of an asynchronous copy; 0
} McTouch;

// A word that the PTX loads.
typedef struct McLoaded {
  uint64_t address;
  int result, piece;
} McLoaded;

typedef struct McKnown {
  Arena *arena;
  McThread thread;
  int n, capacity, n_touches, cap_touches, n_seen, n_loaded;
  McResult *results;
  McTouch *touches;
  int touch;                            // of the instruction that is carried out; -1
  McLoaded *loaded;                     // by address, then in the order of time
  uint64_t *seen;                       // all hashes, sorted
  int n_lines, *count, *first, *order;  // by line: results that read or write, in `order`
  int *touched;                         // by line: accesses
  bool *came;                           // by line
} McKnown;

// The loads of the PTX, of McKnown.loaded, that a register's may be; n 0: they are not known.
typedef struct McLoad {
  int first, n;
} McLoad;

// An instruction of the machine code.
typedef struct McEvent {
  const char *name;
  int pc, line;
  int64_t when;
  uint32_t mask;
  int n, n_data;  // of what it read the first n_data are no addresses
  int from[MC_SOURCES];
  PtxArg reg[MC_SOURCES];
  uint32_t read[MC_SOURCES];
  int n_wrote;
  PtxArg wrote[MC_PIECES];
  McPiece *pieces;
  bool loads, stores;
  bool loads_words;  // one into each register, from its own address on
  McLoad load[MC_REGISTERS_OF_ONE];
  bool negates;  // one of its sources
  uint64_t address;
  uint64_t source;       // of an asynchronous copy to `address`; 0
  const uint64_t *rows;  // [32]: of matrices, each lane's address; NULL
  PtxSpace space;
  bool valid;        // right, or a right value was made of it
  bool presumed;     // of it nothing is known, but what it was made of is right
  unsigned is_read;  // by any thread: a bit for each piece
  int nth,
      times;    // among the events of its line that stand for those of the PTX; times -1: none does
  bool is_sum;  // a float that its line of the PTX has, too
  bool stands;  // for one instruction of the PTX, whatever its value
} McEvent;

typedef struct McFollowed {
  Arena *arena;
  McThread thread;
  const int *line;
  const PtxInst *code;
  int n_code;
  bool is_cut;     // the machine code was stopped before its end
  int *last;       // event by register
  uint32_t *held;  // value by register
  int n, capacity, most;
  McEvent *events;
} McFollowed;

enum { MC_FOLLOWED = MC_FRAME_T + MC_FRAME_BP + 1 };  // registers, and predicates behind them

// Whether the thread is one of these lanes of a warp.
bool mc_is_thread(const PtxWarp *w, const McThread *thread, uint32_t mask);
// A register, or a predicate behind MC_FRAME_T, as a warp has it now.
McPiece mc_piece(PtxWarp *w, PtxArg reg, uint32_t mask, int lane);
McKnown mc_learn(Arena *arena, McAgain *again, void *self, const McThread *thread);
// `most`: events, the first ones.
McFollowed mc_follow_thread(Arena *arena, McAgain *again, void *self, const McThread *thread,
                            const int *line, int n_code, int most);
// Marks the right events, the events with values that right ones were made of, and the events that
// are read.
void mc_validate(McFollowed *t, const McKnown *known);

// How often the thread came by a line that writes, and the nth time; *out NULL: not so often.
int mc_times_at(const McKnown *known, int line, int nth, const McResult **out);
bool mc_is_own(const McKnown *known, const McEvent *e, int piece);
// Whether the PTX has a value for each that the event wrote: a wide load may stand for several.
bool mc_is_told(const McKnown *known, const McEvent *e);
bool mc_is_right(const McKnown *known, const McEvent *e, int piece);
// Whether the PTX reads, in the event's place, what another event wrote: a number that is far
// larger or a limit hides a wrong source from the result.
typedef enum McReading { MC_READS_UNKNOWN, MC_READS_RIGHT, MC_READS_WRONG } McReading;
McReading mc_reading(const McKnown *known, const McEvent *e, const McEvent *from, int piece);
// Whether the PTX accesses this address in the event's line; true where that is not known.
bool mc_is_place_right(const McKnown *known, const McEvent *e);
// The address that the PTX accesses at that time of the line; false: not known.
bool mc_place(const McKnown *known, const McEvent *e, uint64_t *address);
// Whether all lanes have what the same line of the PTX gave them when it came by as often: a value
// that it can be told of.
bool mc_is_exact(const McKnown *known, const McEvent *e);
bool mc_comes_by(const McKnown *known, int line);

// ---- mc_lane.c ----------------------------------------------------------------------------------

// A lane for which an event's values are not the PTX's, where they are for the thread that is
// followed: a shuffle brought it the other lane's. MC_NOBODY: there is none, or it is not known.
int mc_wrong_lane(const McKnown *known, const McEvent *e, McAgain *again, void *self);

// ---- mc_loaded.c --------------------------------------------------------------------------------

// Whether each of an instruction's registers gets a word of memory.
bool mc_loads_words(const McStep *step);
void mc_learn_loads(McKnown *known);
void mc_match_loads(McFollowed *t, const McKnown *known);
// Whether the PTX's thread loads from the address of a register that a load wrote; whether it gets
// the same there.
bool mc_is_load_known(const McEvent *e, int piece);
bool mc_is_load_right(const McKnown *known, const McEvent *e, int piece);
// The first register of a load with another word than the PTX's for this thread; MC_NOBODY: all are
// equal, or there are not as many.
int mc_wrong_word(const McKnown *known, const McEvent *e);
// The places in shared memory that a register of a load is from: of matrices those of two halves.
enum { MC_PLACES = 2 };
int mc_loaded_places(const McFollowed *t, const McEvent *e, int piece, uint64_t out[MC_PLACES]);

// ---- mc_turn.c ----------------------------------------------------------------------------------

// The first event of a thread that made a wrong predicate of its own; MC_NOBODY: none is known, or
// the thread went by its stores and sums as often as in the PTX.
int mc_wrong_turn(Arena *arena, const McFollowed *t, const McKnown *known);

// ---- mc_slice.c ---------------------------------------------------------------------------------

// Puts an instruction behind the n that there are, unless it is among them or is none.
void mc_add_once(int out[], int *n, int pc);
// The last event before this one that wrote a register; MC_NOBODY: none did.
int mc_last_writer(const McFollowed *t, PtxArg reg, int before);
// The last branch that a thread took, or went past because of its guard, in front of an event, and
// the event in front of which that was; MC_NOBODY: there is none.
int mc_last_branch(const McFollowed *t, int event, int *before);
// The last instruction in front of an event that waits for other threads; MC_NOBODY.
int mc_last_wait(const McFollowed *t, int event);
// The instructions that the value of an event was made by, through registers, guards and branches:
// itself, then those nearest to it; behind the n that there are already. How many there are then.
int mc_slice(const McFollowed *t, int event, int out[], int n, int most);

// ---- mc_symptom.c ----------------------------------------------------------------------------

// The wrong values that an event left in registers. A change that makes memory right changes them,
// and most changes that do not leave them as they are: a run may end there.
typedef struct McSymptom {
  McThread thread;
  int pc;
  int64_t when;  // lane instructions until then
  uint32_t mask;
  int n;  // registers; 0: there is no symptom
  PtxArg reg[MC_PIECES];
  uint64_t lanes[MC_PIECES];
  bool is_there;  // set by the watching of a run
} McSymptom;

McSymptom mc_symptom_of(const McThread *thread, const McEvent *e);
// A PtxTrace for a run with as many lane instructions as mc_symptom_budget() says; self: McSymptom.
void mc_symptom_watch(void *self, const PtxMachine *m, PtxWarp *w, int pc, uint32_t mask);
int64_t mc_symptom_budget(const McSymptom *symptom);

// ---- mc_early.c ---------------------------------------------------------------------------------

// The events with values that are not those of the PTX's line, and of which none of its values was
// made: in the order of time, the first one of each instruction; how many.
int mc_first_wrong(const McFollowed *t, const McKnown *known, int out[], int most);
