// The instruction of the tensor core in the line under the cursor, for view `fragments`.
//
// For ldmatrix it is the one that its registers go to: the first mma or wgmma behind it that names
// one of them as A or B, by way of moves too. Worked example, of a line with
//
//   ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r132,%r133,%r134,%r135}, [%r143];
//
// the next mma has {%r132,…} as its second list: operand A of its atom.
#include <string.h>

#include "base/str.h"
#include "tui/views/own/own_subject.h"
#include "tui/views/own/own_work.h"

enum { REGISTERS_MAX = 32, LIST_A = 1, LIST_B = 2 };

// Behind a predicate: "@%p1 mma.sync…".
static const char *opcode_in(const char *text) {
  text += strspn(text, " \t");
  if (*text == '@') text += strcspn(text, " \t");
  return text + strspn(text, " \t{");
}

static bool multiplies(const char *op) {
  return str_starts(op, "mma.sync") || str_starts(op, "wgmma.mma_async");
}

static bool loads(const char *op) { return str_starts(op, "ldmatrix."); }

static int find_line(const OwnFrame *frame, bool (*is)(const char *op)) {
  const Opened *o = frame->opened;
  for (int i = 0; i < o->n_code; i++) {
    const OpenedText *t = &o->code[i];
    if (is(opcode_in(t->text)) &&
        opened_line_of(frame->source, &t->chain, t->ptx_line, frame->work->calls) == frame->line)
      return i;
  }
  return -1;
}

// ---- where the registers of an ldmatrix go ------------------------------------------------------

typedef struct Names {
  const char *at[REGISTERS_MAX];
  size_t length[REGISTERS_MAX];
  int n;
} Names;

// The names "%r12" from `text` to `end`.
static Names names_in(const char *text, const char *end) {
  Names out = {.n = 0};
  while (out.n < REGISTERS_MAX && (text = memchr(text, '%', (size_t)(end - text)))) {
    out.at[out.n] = text;
    out.length[out.n++] = strcspn(text, ",} \t;");
    text++;
  }
  return out;
}

// List i of "op {…}, {…}, …"; empty where an operand is no list.
static Names list_of(const char *op, int i) {
  const char *open = strchr(op, '{');
  for (; open && i > 0; i--) open = strchr(open + 1, '{');
  const char *close = open ? strchr(open, '}') : NULL;
  return close ? names_in(open, close) : (Names){.n = 0};
}

static bool share(const Names *a, const Names *b) {
  for (int i = 0; i < a->n; i++)
    for (int j = 0; j < b->n; j++)
      if (a->length[i] == b->length[j] && !memcmp(a->at[i], b->at[j], a->length[i])) return true;
  return false;
}

// "mov.b32 %r9, %r4;": a register that holds a value hands it on.
static void follow_move(Names *held, const char *op) {
  const char *comma = strchr(op, ',');
  if (!str_starts(op, "mov.") || !comma || held->n == REGISTERS_MAX) return;
  const Names to = names_in(op, comma), from = names_in(comma, comma + strlen(comma));
  if (to.n != 1 || from.n != 1 || !share(held, &from)) return;
  held->at[held->n] = to.at[0];
  held->length[held->n++] = to.length[0];
}

// The index of the instruction that takes what instruction `at` loaded, and as which operand.
static int consumer_of(const Opened *o, int at, AtomOperand *operand) {
  Names held = list_of(opcode_in(o->code[at].text), 0);
  for (int i = at + 1; i < o->n_code; i++) {
    const char *op = opcode_in(o->code[i].text);
    follow_move(&held, op);
    if (!multiplies(op)) continue;
    const Names a = list_of(op, LIST_A), b = list_of(op, LIST_B);
    *operand = share(&held, &a) ? ATOM_A : ATOM_B;
    if (share(&held, &a) || share(&held, &b)) return i;
  }
  return -1;
}

// ---- the atom -----------------------------------------------------------------------------------

static SubjectAtom read_atom(Session *session, const char *op) {
  SubjectAtom out = {.said = arena_strndup(session->frame, op, strcspn(op, " \t"))};
  Diags diags = diags_new(session->frame);
  out.there = atom_parse(out.said, &out.atom, &diags);
  if (!out.there)
    out.said =
        arena_printf(session->frame, "this view has no fragment map for it: %s", diags.first->text);
  return out;
}

// For a wgmma that reads A by a descriptor the registers hold C alone.
static SubjectAtom of_multiply(Session *session, const char *op) {
  SubjectAtom out = read_atom(session, op);
  const bool described = str_starts(op, "wgmma.") && list_of(op, LIST_A).n == 0;
  out.operand = described ? ATOM_C : ATOM_A;
  return out;
}

static SubjectAtom of_load(Session *session, const Opened *o, int at) {
  AtomOperand operand = ATOM_A;
  const char *load = opcode_in(o->code[at].text);
  const int to = consumer_of(o, at, &operand);
  if (to < 0)
    return (SubjectAtom){.said =
                             "no mma or wgmma takes the registers of this ldmatrix as they are"};
  SubjectAtom out = read_atom(session, opcode_in(o->code[to].text));
  out.operand = operand;
  out.loads = true;
  out.trans = strstr(load, ".trans") != NULL;
  if (out.there)
    out.said = arena_printf(session->frame, "%.*s loads %s of %s", (int)strcspn(load, " \t"), load,
                            atom_operand_name(operand), out.atom.name);
  return out;
}

SubjectAtom own_atom(Session *session) {
  const OwnFrame *frame = own_look(session);
  int at = find_line(frame, multiplies);
  if (at >= 0) return of_multiply(session, opcode_in(frame->opened->code[at].text));
  at = find_line(frame, loads);
  if (at >= 0) return of_load(session, frame->opened, at);
  return (SubjectAtom){.said =
                           arena_printf(session->frame,
                                        "line %d has no mma, wgmma or ldmatrix: this is the last "
                                        "atom",
                                        frame->line)};
}
