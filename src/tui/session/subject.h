// The kernel that the views of accesses, layouts, instructions and texts show: the program of the
// session's schedule, or one that a view brings along (ViewBody.subject).
//
//   Accesses all = session_accesses(session);
//   const Site *site = session_site(session);                    the one under the cursor
//   const BankMap *map = session_map(session, all.site - site);
//
// No code that draws asks which of the two it is: what one of them does not have is NULL or empty.
#pragma once
#include "kernels/toolchain/machine/clock_answer.h"
#include "model/schedules/slab_problem.h"
#include "model/words/fragment.h"
#include "tui/session/session.h"

// Accesses to shared memory in the order of the kernel.
typedef struct Accesses {
  int n;
  const Site *site;
  double wavefronts;  // of all that have a count, to which Site.clocks is a share
  const char *per;    // what Site.executions are counted in: "per slab", "in all"
  const char *none;   // what to say where there are none
} Accesses;

// The slab of an access, as it lies.
typedef struct AccessLayout {
  const Layout *layout;  // NULL: it has none
  const char *text;      // "swizzle:3,4,3"
} AccessLayout;

// An instruction of the tensor core, or one that loads its operand.
typedef struct SubjectAtom {
  bool there;
  Atom atom;
  AtomOperand operand;
  bool loads, trans;  // ldmatrix, and its .trans
  const char *said;   // what the instruction is, or why there is none; NULL: nothing to say
} SubjectAtom;

// A line of the source.
typedef struct SubjectLine {
  const char *text;
  int site;  // the first access in it, from 1; 0: none
} SubjectLine;

typedef struct SubjectText {
  const SubjectLine *line;
  int n;
  const Compiled *compiled;  // PTX and machine code that were made of it
  int sm;                    // compute capability that it is for; 0: not known
} SubjectText;

// A kernel that a view brought, as of this frame.
typedef struct Subject {
  int generation;  // above 0, another one for another kernel
  Accesses accesses;
  int at;                 // the access under the cursor; -1: none
  BankMap map;            // of it
  const BankMap *best;    // of it in the layout on trial, else in the best one; NULL: none
  AccessLayout layout;    // of its slab
  const char *offer;      // the layout that `best` is in; NULL: none
  int slab;               // that slab's number; -1: none
  const char *execution;  // which of its executions is shown
  const char *forms;      // how it is executed, and the source of this
  const char *sentence;   // its line, and its addresses as a formula
  int line;               // the line of the source under the cursor, from 1
  void (*choose)(Session *session, int i);
  void (*step_execution)(Session *session, int step);
  bool (*slab_problem)(Arena *arena, Session *session, SlabProblem *out, Diags *diags);
  // Puts the slab into a layout, on trial; what it says then. NULL after a finding.
  const char *(*lay)(Session *session, const char *layout, Diags *diags);
  SubjectAtom (*atom)(Session *session);
  SubjectText (*text)(Session *session);
  // Where its clocks go; NULL: no machine code of it was run, and `no_clock` says what to do.
  const ClockAnswer *(*clock)(Session *session);
  const char *no_clock;
} Subject;

Accesses session_accesses(const Session *session);
const BankMap *session_map(const Session *session, int i);  // of a brought kernel only the chosen's
// The access under the cursor, one of global memory too; -1: none. session_site() is the same one.
int session_at(const Session *session);
void session_choose(Session *session, int i);
// A|B is about schedules.
bool session_compares(const Session *session);
AccessLayout session_layout(Arena *arena, const Session *session, const Side *side,
                            const Site *site);
SubjectAtom session_atom(Session *session);
// The slab of an access as a problem of layouts; false after findings.
bool session_slab_problem(Arena *arena, Session *session, const Site *site, SlabProblem *out,
                          Diags *diags);
// Lays that slab out otherwise: by knobs, or on trial. What was done, NULL after findings.
const char *session_lay(Session *session, const Buffer *slab, const char *layout, Diags *diags);
