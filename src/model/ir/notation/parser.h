// The state of one reading: parse.c (lines, statements), parse_scan.c (words and what was
// expected), parse_head.c (declarations), parse_expr.c, parse_op.c. Others use parse.h.
//
// Every function that takes something off the line says whether it could; if it could not, it notes
// what it expected. The expectation furthest to the right is reported, so alternatives are simply
// tried one after the other.
#pragma once
#include "model/ir/notation/op_text.h"
#include "model/ir/notation/parse.h"
#include "model/ir/program.h"

enum { EXPECTED_MAX = 6, NESTING_MAX = 60, OPERATORS_MAX = 400, EXTENT_MAX = 1 << 30 };
// No value of an expression and no offset into a buffer is further from 0, so that no calculation
// on a text overflows.
#define VALUE_MAX ((int64_t)1 << 40)

typedef struct SourceLine {
  const char *text;  // without indentation, remark and blanks at the end
  int number, indent;
} SourceLine;

typedef struct ScopeVar {
  const Var *var;
  const struct ScopeVar *outer;
} ScopeVar;

typedef struct KnownVar {
  Var *var;
  struct KnownVar *next;
} KnownVar;

typedef struct KnownTable {
  const int64_t *value;
  int length;
  struct KnownTable *next;
} KnownTable;

typedef struct Parser {
  Arena *arena;
  Program *program;
  const SourceLine *line;  // n_lines of them, and one of number 0 behind the last
  int n_lines, at_line;
  const char *at;         // in the text of the line
  KnobId around;          // of the statement around the list being read
  const ScopeVar *scope;  // the innermost first
  KnownVar *vars;         // one variable for each name, kind, tier and extent
  KnownTable *tables;     // one for each content
  int nesting, n_operators, n_extra_ids;
  int64_t place[BUFFERS_MAX];  // of the buffers that say where they lie, by id, and 1; 0: no such
  int threads_line;            // index; where the head gives the number of threads that multiply
  const char *threads_at;      // in its text; NULL: it does not
  int failed_line;             // index; where reading came furthest
  const char *failed_at;       // in its text; NULL: nothing failed so far
  int n_expected;
  const char *expected[EXPECTED_MAX];
} Parser;

// The first product of the program that is read, which has an atom if any has.
static inline Product *parser_product(const Parser *p) { return &p->program->product[0]; }

// ---- parse_scan.c -------------------------------------------------------------------------------

// Notes that `what` was expected here, or at `at`; always false.
bool parse_fail(Parser *p, const char *what);
bool parse_fail_at(Parser *p, const char *at, const char *what);
// The finding: line, column, what was expected, what stands there.
void parse_report(const Parser *p, const char *name, Diags *diags);

const SourceLine *parse_line(const Parser *p);
void parse_next_line(Parser *p);
bool parse_at_end(Parser *p);  // of the line, without expecting it
bool parse_end(Parser *p);     // of the line
void parse_blanks(Parser *p);

// A word or sign as it stands; blanks in front of it and between its words are free.
bool parse_word(Parser *p, const char *word);
bool parse_peek(Parser *p, const char *word);   // whether it stands here; its absence is no fault
bool parse_maybe(Parser *p, const char *word);  // takes it if it does
bool parse_comma(Parser *p);                    // the same of ",", which is noted as expected
const char *parse_name(Parser *p, const char *what);  // an identifier; NULL
bool parse_number(Parser *p, int64_t lo, int64_t hi, int64_t *out);
bool parse_int(Parser *p, int lo, int hi, int *out);

// ---- parse_expr.c -------------------------------------------------------------------------------

const Expr *parse_expr(Parser *p);  // NULL
// Whether the expression that stands here is printed as `expr` is; NULL: nothing to check.
bool parse_same_expr(Parser *p, const Expr *expr);

// ---- parse_head.c -------------------------------------------------------------------------------

bool parse_head(Parser *p);  // all declarations, up to the first statement or kernel
Buffer *parse_find_buffer(const Parser *p, const char *name);
// "in 0..16 THREAD": NULL, else the one variable of this name, kind, tier and extent.
Var *parse_range(Parser *p, const char *name, VarKind kind);
bool parse_knob(Parser *p, KnobId *knob);  // "@STAGE"

// ---- parse_op.c ---------------------------------------------------------------------------------

bool parse_op(Parser *p, Op *op);  // up to its marks
