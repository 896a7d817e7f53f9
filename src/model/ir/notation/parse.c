// Text → lines → declarations → statements, by indentation.
//
// Each line is read by the words it begins with: for, if, predicate, role, let, and everything else
// is an operation (parse_op.c). The first line that cannot be read ends the reading. A program that
// was read then goes to program_check, like the program of a pass.
#include "model/ir/notation/parse.h"

#include <string.h>

#include "base/str.h"
#include "model/ir/buffer.h"
#include "model/ir/check.h"
#include "model/ir/elect.h"
#include "model/ir/launch.h"
#include "model/ir/notation/parser.h"
#include "model/ir/stmt.h"
#include "model/words/fragment.h"

enum { LINE_BYTES_MAX = 1 << 17, BLOCKS_MAX = 1 << 30, THREADS_MAX = 1024 };

// ---- lines --------------------------------------------------------------------------------------

// The length up to the remark, which begins at a # outside of quotes.
static size_t length_of_line(const char *at, size_t n) {
  bool quoted = false;
  for (size_t i = 0; i < n; i++) {
    if (at[i] == '"') quoted = !quoted;
    if (at[i] == '#' && !quoted) n = i;
  }
  while (n && (at[n - 1] == ' ' || at[n - 1] == '\r')) n--;
  return n;
}

static bool add_source_line(Parser *p, SourceLine *line, const char *at, size_t n, int number) {
  n = length_of_line(at, n);
  size_t indent = 0;
  while (indent < n && at[indent] == ' ') indent++;
  if (indent == n) return true;
  char *text = arena_strndup(p->arena, at + indent, n - indent);
  line[p->n_lines++] = (SourceLine){text, number, (int)indent};
  p->line = line;
  p->at_line = p->n_lines - 1;
  size_t sound = strlen(text);  // a byte 0 ends it
  const char *tab = strchr(text, '\t');
  if (n > LINE_BYTES_MAX) return parse_fail_at(p, text, "a line of at most 131072 bytes");
  if (tab) return parse_fail_at(p, tab, "blanks instead of tabs");
  return sound == n - indent || parse_fail_at(p, text + sound, "text without a byte 0");
}

static bool split_lines(Parser *p, const char *text, size_t size) {
  size_t n_lines = 2;
  for (size_t i = 0; i < size; i++) n_lines += text[i] == '\n';
  SourceLine *line = ARENA_ARRAY(p->arena, SourceLine, n_lines);
  for (size_t at = 0, number = 1; at < size; number++) {
    const char *end = memchr(text + at, '\n', size - at);
    size_t length = end ? (size_t)(end - text) - at : size - at;
    if (!add_source_line(p, line, text + at, length, (int)number)) return false;
    at += length + 1;
  }
  line[p->n_lines] = (SourceLine){.text = ""};
  p->line = line;
  p->at_line = 0;
  p->at = line->text;
  return true;
}

// ---- marks --------------------------------------------------------------------------------------

// The text between quotes; NULL without any.
static bool parse_note(Parser *p, const char **note) {
  *note = NULL;
  if (!parse_maybe(p, "\"")) return true;
  size_t n = strcspn(p->at, "\"");
  if (!p->at[n]) return parse_fail_at(p, p->at + n, "the other quote");
  *note = str_line(p->arena, arena_strndup(p->arena, p->at, n));
  p->at += n + 1;
  return true;
}

// Reads the marks at the end of a line. Without a mark a statement has the knob of the statement
// around it. One mark is for all of `first`, its body, … down to `last`; else each has its own.
static bool parse_marks(Parser *p, Stmt *first, const Stmt *last) {
  if (parse_at_end(p)) return true;
  if (!parse_peek(p, "@")) return parse_end(p);
  if (!parse_knob(p, &first->knob) || !parse_note(p, &first->note)) return false;
  bool each = parse_peek(p, "@");
  for (Stmt *stmt = first; stmt != last; stmt = stmt->body) {
    stmt->body->knob = first->knob;
    if (each && !(parse_knob(p, &stmt->body->knob) && parse_note(p, &stmt->body->note)))
      return false;
  }
  return parse_end(p);
}

// ---- statements ---------------------------------------------------------------------------------

// Statements of a line after the first have numbers behind the numbers of all lines.
static int new_id(Parser *p, bool is_first) {
  int lines = p->line[p->n_lines - 1].number;
  return is_first ? parse_line(p)->number : lines + 1 + p->n_extra_ids++;
}

static Stmt *new_stmt(Parser *p, StmtKind kind, bool is_first) {
  Stmt *stmt = ARENA_NEW(p->arena, Stmt);
  *stmt = (Stmt){.kind = kind, .id = new_id(p, is_first), .knob = p->around};
  stmt->op.width = 1;
  return stmt;
}

static bool parse_list(Parser *p, int above, Stmt **list);

static void open_scope(Parser *p, const Var *var) {
  ScopeVar *scope = ARENA_NEW(p->arena, ScopeVar);
  *scope = (ScopeVar){var, p->scope};
  p->scope = scope;
}

// Reads the lines that are indented further than the line before them, which had `indent`.
static bool parse_body(Parser *p, int indent, KnobId knob, Stmt **body) {
  const ScopeVar *outer = p->scope;
  KnobId around = p->around;
  p->around = knob;
  parse_next_line(p);
  if (p->nesting++ > NESTING_MAX) return parse_fail(p, "at most 60 levels");
  bool read = parse_list(p, indent, body);
  p->nesting--;
  p->scope = outer;
  p->around = around;
  return read;
}

static bool parse_unroll(Parser *p, int *unroll) {
  *unroll = 0;
  if (!parse_maybe(p, "unroll")) return true;
  *unroll = UNROLL_FULL;
  bool by_number = !parse_at_end(p) && *p->at >= '0' && *p->at <= '9';
  return !by_number || parse_int(p, 1, 1 << 16, unroll);
}

// "for t in 0..512 TILE from list"
static bool parse_first(Parser *p, Stmt *loop) {
  const char *at = p->at;
  if (!parse_maybe(p, "from")) return true;
  if (loop->var->tier != TIER_TILE) return parse_fail_at(p, at, "a loop over tiles in front of it");
  if (!(loop->expr = parse_expr(p))) return false;
  return loop->expr->lo >= 0 || parse_fail_at(p, at, "a tile: 0 or more");
}

// "for k_o in 0..64 SERIAL_OUTER to slabs"
static bool parse_loop_end(Parser *p, Stmt *loop) {
  const char *at = p->at;
  if (!parse_maybe(p, "to")) return true;
  Tier tier = loop->var->tier;
  if (tier != TIER_TILE && tier != TIER_SERIAL && tier != TIER_SERIAL_OUTER)
    return parse_fail_at(p, at, "a loop over tiles or slabs in front of it");
  if (!(loop->end = parse_expr(p))) return false;
  return loop->end->hi >= 0 || parse_fail_at(p, at, "an end: 0 or more");
}

// "for m_t in 0..16 THREAD, n_t in 0..16 THREAD"
static bool parse_for(Parser *p, Stmt **out) {
  int indent = parse_line(p)->indent;
  const ScopeVar *outside = p->scope;
  Stmt **link = out, *last = NULL;
  do {
    last = *link = new_stmt(p, STMT_LOOP, link == out);
    const char *name = parse_name(p, "a variable");
    if (!name || !(last->var = parse_range(p, name, VAR_LOOP))) return false;
    if (!parse_unroll(p, &last->unroll) || !parse_first(p, last) || !parse_loop_end(p, last))
      return false;
    open_scope(p, last->var);
    link = &last->body;
  } while (parse_comma(p));
  if (!parse_marks(p, *out, last) || !parse_body(p, indent, last->knob, link)) return false;
  p->scope = outside;
  bool counts = last->body && last->body->kind == STMT_LET;
  if (last->end && last->var->tier == TIER_TILE && !counts)
    return parse_fail(p, "a let that counts turns, first in a loop over tiles with an end");
  return true;
}

// "if thread == 160, elected"
static bool parse_elected(Parser *p, Stmt *stmt) {
  if (!parse_comma(p)) return true;
  const char *at = p->at;
  if (!parse_word(p, "elected")) return false;
  if (!elect_test(stmt->expr))
    return parse_fail_at(p, at, "a condition that one lane of a warp meets, as thread == 32");
  return stmt->elects = true;
}

static bool parse_condition(Parser *p, bool predicated, const WarpRole *role, Stmt **out) {
  int indent = parse_line(p)->indent;
  Stmt *stmt = *out = new_stmt(p, STMT_IF, true);
  stmt->predicated = predicated;
  stmt->role = role;
  stmt->expr = parse_expr(p);
  if (!stmt->expr || (!predicated && !role && !parse_elected(p, stmt))) return false;
  return parse_marks(p, stmt, stmt) && parse_body(p, indent, stmt->knob, &stmt->body);
}

// "role producer: 255 < thread": one of those that the head lists.
static bool parse_role_body(Parser *p, Stmt **out) {
  const Kernel *listed = &p->program->kernel[0];
  Str names = str_new(p->arena);
  for (int i = 0; i < listed->n_roles; i++) {
    const WarpRole *role = listed->role[i];
    if (parse_maybe(p, role->name))
      return parse_word(p, ":") && parse_condition(p, false, role, out);
    str_printf(&names, "%s\"%s\"", i ? " or " : "", role->name);
  }
  return parse_fail(p, listed->n_roles ? names.text : "no role: the head lists none");
}

// "let k_n = k_o + 1   in 0..256": known to all that follow in the same body.
static bool parse_let(Parser *p, Stmt **out) {
  Stmt *stmt = *out = new_stmt(p, STMT_LET, true);
  const char *name = parse_name(p, "a variable");
  if (!name || !parse_word(p, "=") || !(stmt->expr = parse_expr(p))) return false;
  stmt->var = parse_range(p, name, VAR_LET);
  if (!stmt->var || !parse_marks(p, stmt, stmt)) return false;
  open_scope(p, stmt->var);
  parse_next_line(p);
  return true;
}

static bool parse_operation(Parser *p, Stmt **out) {
  Stmt *stmt = *out = new_stmt(p, STMT_OP, true);
  if (!parse_op(p, &stmt->op) || !parse_marks(p, stmt, stmt)) return false;
  parse_next_line(p);
  return true;
}

static bool parse_stmt(Parser *p, Stmt **out) {
  const char *begin = p->at;
  p->n_operators = 0;
  if (parse_maybe(p, "for")) return parse_for(p, out);
  if (parse_maybe(p, "let")) return parse_let(p, out);
  if (parse_maybe(p, "if")) return parse_condition(p, false, NULL, out);
  if (parse_maybe(p, "predicate")) return parse_condition(p, true, NULL, out);
  if (parse_maybe(p, "role")) return parse_role_body(p, out);
  if (parse_operation(p, out)) return true;
  if (p->failed_at != begin) return false;
  p->n_expected = 0;
  return parse_fail_at(p, begin, "a statement");
}

// Reads all lines of one indentation, which is more than `above`.
static bool parse_list(Parser *p, int above, Stmt **list) {
  int indent = parse_line(p)->indent;
  if (!parse_line(p)->number || indent <= above) return true;
  for (Stmt **link = list; parse_line(p)->number && parse_line(p)->indent > above;
       link = &(*link)->next) {
    if (parse_line(p)->indent != indent)
      return parse_fail(p, arena_printf(p->arena, "an indentation of %d blanks", indent));
    if (!parse_stmt(p, link)) return false;
  }
  return true;
}

// ---- kernels ------------------------------------------------------------------------------------

// Hardware loops and the LETs between them: kernel_launch has room for a fixed number; their
// extents multiplied.
static bool fits_launch(Parser *p, const Kernel *kernel) {
  int64_t blocks = 1, threads = 1;
  int n_lets = 0, n_digits = 0;
  for (const Stmt *at = kernel->body; at; at = at->kind == STMT_LOOP ? at->body : at->next) {
    if (at->kind == STMT_LET && ++n_lets) continue;
    if (at->kind != STMT_LOOP || !tier_is_hardware(at->var->tier)) break;
    bool block = at->var->tier == TIER_BLOCK || at->var->tier == TIER_CLUSTER;
    *(block ? &blocks : &threads) *= at->var->extent;
    if (++n_digits > DIGITS_MAX || blocks > BLOCKS_MAX || threads > THREADS_MAX)
      return parse_fail(p, "at most 16 loops, 2^30 blocks and 1024 threads");
  }
  return n_lets <= DIGITS_MAX || parse_fail(p, "at most 16 lets between loops over threads");
}

static bool parse_kernel_body(Parser *p, Kernel *kernel, int above) {
  p->scope = NULL;
  open_scope(p, p->program->block);
  open_scope(p, p->program->persistent.grid);
  open_scope(p, p->program->persistent.list);
  open_scope(p, p->program->persistent.epoch);
  open_scope(p, p->program->thread);
  if (p->program->any_thread) open_scope(p, p->program->any_thread);
  if (!parse_list(p, above, &kernel->body)) return false;
  if (!kernel->body) return parse_fail(p, "a statement");
  return fits_launch(p, kernel);
}

static bool is_new_kernel(const Program *program, const char *name) {
  for (int i = 0; i + 1 < program->n_kernels; i++)
    if (str_equal(program->kernel[i].name, name)) return false;
  return true;
}

// "kernel matmul   main   dependent @SPLITK"
static bool parse_kernel(Parser *p, bool *has_main) {
  Program *program = p->program;
  int indent = parse_line(p)->indent;
  if (program->n_kernels == KERNELS_MAX) return parse_fail(p, "at most 4 kernels");
  Kernel *kernel = &program->kernel[program->n_kernels++];
  kernel->knob = KNOB_NONE;
  parse_blanks(p);
  const char *at = p->at;
  if (!(kernel->name = parse_name(p, "a name"))) return false;
  if (!is_new_kernel(program, kernel->name)) return parse_fail_at(p, at, "another name");
  if (!*has_main && parse_maybe(p, "main")) {
    *has_main = true;
    program->main_kernel = program->n_kernels - 1;
  }
  kernel->dependent = parse_maybe(p, "dependent");
  if (parse_peek(p, "@") && !parse_knob(p, &kernel->knob)) return false;
  if (!parse_end(p)) return false;
  parse_next_line(p);
  return parse_kernel_body(p, kernel, indent);
}

static bool parse_kernels(Parser *p) {
  bool has_main = false;
  if (!parse_peek(p, "kernel")) {
    Kernel *kernel = &p->program->kernel[p->program->n_kernels++];
    kernel->name = problem_kernel_name(&p->program->problem);
    kernel->knob = KNOB_NONE;
    return parse_kernel_body(p, kernel, -1);
  }
  while (parse_line(p)->number)
    if (!parse_word(p, "kernel") || !parse_kernel(p, &has_main)) return false;
  return has_main || parse_fail(p, "a kernel that is \"main\"");
}

// ---- the whole ----------------------------------------------------------------------------------

// Hands the main kernel what the head said of it before any kernel was known.
static void settle_main(Program *program) {
  Kernel *first = &program->kernel[0], *main = &program->kernel[program->main_kernel];
  if (first == main) return;
  main->min_blocks = first->min_blocks;
  main->n_roles = first->n_roles;
  memcpy(main->role, first->role, sizeof main->role);
  first->min_blocks = first->n_roles = 0;
}

// Threads are said by the head, by the loops and by the roles, if there are any.
static bool settle_threads(Parser *p) {
  Program *program = p->program;
  settle_main(program);
  Launch launch = kernel_launch(program_main(program));
  int64_t all = program->any_thread ? program->any_thread->extent : launch.n_threads;
  if (program->thread->extent == launch.n_threads && all == launch.block_threads) return true;
  p->failed_at = NULL;  // what was expected of later lines
  p->at_line = p->threads_line;
  const char *wanted = program->thread->extent != launch.n_threads
                           ? arena_printf(p->arena, "%lld", (long long)launch.n_threads)
                           : arena_printf(p->arena, "%lld threads in all, as the roles say",
                                          (long long)launch.block_threads);
  return parse_fail_at(p, p->threads_at, wanted);
}

// An atom's lanes and what they hold are said at the top.
static bool settle_atom(Parser *p) {
  const Product *product = parser_product(p);
  bool is_said = product->lane != NULL;
  for (int i = 0; i < p->program->n_products; i++) {
    if (!p->program->product[i].atom) p->program->product[i].atom = product->atom;
    is_said &= p->program->product[i].operand[ATOM_C].value != NULL;
  }
  return !product->atom || is_said ||
         parse_fail(p, "\"lane\" and \"values\" at the top, for there is an atom");
}

// Where a loop over tiles has parts of tiles, what its LETs say is known by their names.
static void settle_part(Stmt *stmt, int depth, void *context) {
  (void)depth;
  Program *program = context;
  const struct {
    const char *name;
    Var **var;
  } parts[] = {{"tile", &program->persistent.tile},
               {"from", &program->persistent.from},
               {"before", &program->persistent.before}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts && stmt->kind == STMT_LET; i++)
    if (str_equal(stmt->var->name, parts[i].name)) *parts[i].var = stmt->var;
}

Program *program_parse(Arena *arena, const char *text, size_t size, const char *name,
                       Diags *diags) {
  Parser p = {.arena = arena, .around = KNOB_NONE};
  if (size > PARSE_BYTES_MAX) {
    diag_add(diags, "syntax", "%s: more than %d MiB", name, PARSE_BYTES_MAX >> 20);
    return NULL;
  }
  if (!split_lines(&p, text, size) || !parse_head(&p) || !parse_kernels(&p) || !settle_atom(&p) ||
      !settle_threads(&p)) {
    parse_report(&p, name, diags);
    return NULL;
  }
  Program *program = p.program;
  program->n_stmt_ids = p.line[p.n_lines - 1].number + 1 + p.n_extra_ids;
  stmt_walk(program->kernel[program->main_kernel].body, settle_part, program);
  for (int i = 0; i < program->n_products; i++)  // the last one in the main kernel
    program->product[i].kernel = i + 1 < program->n_products ? 0 : program->main_kernel;
  program_place_shared(program);
  for (int i = 0; i < program->n_buffers; i++)
    if (p.place[i]) program->buffer[i]->offset_bytes = p.place[i] - 1;
  const char *fault = program_check(arena, program);
  if (!fault) return program;
  diag_add(diags, "program", "%s: %s", name, fault);
  return NULL;
}
