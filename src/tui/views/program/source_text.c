// Texts → lines, each with the statement and the knob it comes from; and how a line is coloured.
//
// A PTX or SASS line takes over the statement of the CUDA line it was made from, so one cursor
// links all three. Of A|B only CUDA is shown as a difference: compilers rename registers, and what
// matters there is whether the instructions are the same, and their number (source_opcodes.c).
#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "clock/clock_assign.h"
#include "model/ir/stmt.h"
#include "tui/canvas/utf8.h"
#include "tui/session/subject.h"
#include "tui/views/program/source.h"
#include "tui/views/program/tier_style.h"

enum { CONTEXT = 2 };

static Style cuda_style(const char *text, const Stmt *stmt) {
  const char *at = text + strspn(text, " ");
  bool inside = str_starts(at, "* ") || str_starts(at, "*/");  // of a comment, not *pointer = …
  if (str_starts(at, "//") || str_starts(at, "/*") || inside) return STYLE_COMMENT;
  if (str_starts(at, "#")) return STYLE_LABEL;
  bool waits = strstr(at, "__syncthreads") || strstr(at, "cp_async_wait");
  if (waits || tier_is_barrier(stmt)) return STYLE_BARRIER;
  if (str_starts(at, "for (") && stmt && stmt->kind == STMT_LOOP)
    return tier_style(stmt->var->tier);
  return STYLE_TEXT;
}

// Line i of an emission; statements are known of B alone.
static SourceLine emitted_line(Session *session, const Emission *emission, int i, const Model *b) {
  const EmitLine *from = &emission->lines[i];
  const char *text = arena_strndup(session->frame, emission->text + from->begin, from->length);
  int site = b ? model_site_number(b, from->stmt) : 0;
  return (SourceLine){.text = text,
                      .style = site ? STYLE_SITE : cuda_style(text, from->stmt),
                      .number = i + 1,
                      .knob = from->knob,
                      .stmt = b ? from->stmt : NULL,
                      .site = site,
                      .cuda_line = -1};
}

static void list_brought(Session *session, Source *source) {
  const SubjectText text = session->at.subject->text(session);
  source->line = ARENA_ARRAY(session->frame, SourceLine, text.n + 1);
  for (int i = 0; i < text.n; i++)
    source->line[source->n_lines++] =
        (SourceLine){.text = text.line[i].text,
                     .style = text.line[i].site ? STYLE_SITE : cuda_style(text.line[i].text, NULL),
                     .number = i + 1,
                     .knob = KNOB_NONE,
                     .site = text.line[i].site,
                     .cuda_line = -1};
}

void source_list_cuda(Session *session, Source *source) {
  if (session->at.subject) {
    list_brought(session, source);
    return;
  }
  const Emission *emission = side_emission(&session->doc.now);
  source->line = ARENA_ARRAY(session->frame, SourceLine, emission->n_lines + 1);
  for (int i = 0; i < emission->n_lines; i++)
    source->line[source->n_lines++] = emitted_line(session, emission, i, session_model(session));
}

// ---- A|B ----------------------------------------------------------------------------------------

const char **source_texts(Arena *arena, const Emission *emission) {
  const char **text = ARENA_ARRAY(arena, const char *, emission->n_lines + 1);
  for (int i = 0; i < emission->n_lines; i++)
    text[i] =
        arena_strndup(arena, emission->text + emission->lines[i].begin, emission->lines[i].length);
  return text;
}

void source_list_diff(Session *session, Source *source) {
  const Emission *a = side_emission(&session->doc.then), *b = side_emission(&session->doc.now);
  if ((int64_t)a->n_lines * b->n_lines > SOURCE_DIFF_CELLS_MAX) {
    source_list_cuda(session, source);
    return;
  }
  Arena *arena = session->frame;
  TextDiff diff =
      text_diff(arena, source_texts(arena, a), a->n_lines, source_texts(arena, b), b->n_lines);
  source->line = ARENA_ARRAY(arena, SourceLine, diff.n_lines + 1);
  source->n_added = diff.n_added;
  source->n_removed = diff.n_removed;
  for (int i = 0; i < diff.n_lines; i++) {
    const DiffLine *from = &diff.line[i];
    bool left_out = !diff_is_near_change(&diff, i, CONTEXT);
    SourceLine *last = source->n_lines ? &source->line[source->n_lines - 1] : NULL;
    if (left_out && last && !last->text) continue;
    SourceLine line = from->kind == DIFF_REMOVED
                          ? emitted_line(session, a, from->from, NULL)
                          : emitted_line(session, b, from->to, session_model(session));
    line.kind = from->kind;
    if (left_out) line = (SourceLine){.knob = KNOB_NONE, .cuda_line = -1};
    source->line[source->n_lines++] = line;
  }
}

// ---- PTX and SASS -------------------------------------------------------------------------------

static Style ptx_style(const char *text) {
  const char *at = text + strspn(text, " \t");
  if (str_starts(at, "//")) return STYLE_COMMENT;
  return *at == '.' || *at == '$' ? STYLE_LABEL : STYLE_TEXT;
}

static Style opcode_style(const char *opcode, Style otherwise) {
  if (!opcode) return otherwise;
  char letter = source_class_of(opcode);
  return letter == '.' || letter == 'J' ? STYLE_TEXT : source_class_style(letter);
}

// The CUDA text that the others were made from: of a schedule, or one that was brought.
typedef struct CudaText {
  const Emission *emission;
  SubjectText text;
} CudaText;

static CudaText cuda_text_of(Session *session) {
  if (session->at.subject) return (CudaText){.text = session->at.subject->text(session)};
  return (CudaText){.emission = side_emission(&session->doc.now)};
}

// Lines of CUDA are counted from 1.
static SourceLine from_cuda(const Session *session, const CudaText *cuda, const char *text,
                            Style style, int cuda_line) {
  SourceLine line = {.text = text, .style = style, .knob = KNOB_NONE, .cuda_line = cuda_line};
  const Emission *emission = cuda->emission;
  if (!emission && cuda_line >= 1 && cuda_line <= cuda->text.n)
    line.site = cuda->text.line[cuda_line - 1].site;
  if (!emission || cuda_line < 1 || cuda_line > emission->n_lines) return line;
  line.stmt = emission->lines[cuda_line - 1].stmt;
  line.knob = emission->lines[cuda_line - 1].knob;
  line.site = model_site_number(session_model(session), line.stmt);
  return line;
}

static void add_line(Source *source, SourceLine line) {
  line.number = source->n_lines + 1;
  source->line[source->n_lines++] = line;
}

void source_list_ptx(Session *session, Source *source) {
  const PtxListing *listing = source->compiled->listing;
  const CudaText cuda = cuda_text_of(session);
  source->line = ARENA_ARRAY(session->frame, SourceLine, listing->n_lines + 1);
  for (int i = 0; i < listing->n_lines; i++) {
    const PtxLine *from = &listing->lines[i];
    Style style = opcode_style(from->opcode, ptx_style(from->text));
    add_line(source, from_cuda(session, &cuda, from->text, style, from->cuda_line));
  }
}

static int sm_of(Session *session) {
  return session->at.subject ? session->at.subject->text(session).sm
                             : session_model(session)->target->cc;
}

enum { CONTROL_MIN_COLS = 76 };

// The machine code behind a line; that of the line before is the same kernel's, mostly.
static void take_inst(Session *session, Source *source, int i, const char **kernel,
                      const SassCode **code) {
  const SassLine *from = &source->compiled->sass->lines[i];
  if (!*kernel || !str_equal(*kernel, from->kernel)) {
    SassCode *decoded = ARENA_NEW(session->frame, SassCode);
    *decoded = results_decode(session->frame, source->compiled, from->kernel, sm_of(session));
    *code = decoded;
    *kernel = from->kernel;
  }
  const int at = from->address / SASS_BYTES;
  if (from->address < 0 || at >= (*code)->n) return;
  source->line[i].inst = &(*code)->inst[at];
  source->line[i].code = *code;
  source->has_control = session->cols >= CONTROL_MIN_COLS;
}

void source_list_sass(Session *session, Source *source) {
  const char *kernel = NULL;
  const SassCode *code = NULL;
  const SassResult *sass = source->compiled->sass;
  const CudaText cuda = cuda_text_of(session);
  const ClockMarks banks = register_banks_read(session->frame, sass, sm_of(session));
  source->register_banks = register_banks_sentence(session->frame, &banks);
  source->line = ARENA_ARRAY(session->frame, SourceLine, sass->n_lines + 1);
  for (int i = 0; i < sass->n_lines; i++) {
    const SassLine *from = &sass->lines[i];
    Style style = opcode_style(from->opcode, STYLE_LABEL);
    add_line(source, from_cuda(session, &cuda, from->text, style, from->cuda_line));
    source->line[i].bank_mark = banks.mark[i];
    source->line[i].bank_pair = banks.pair[i];
    take_inst(session, source, i, &kernel, &code);
  }
}

// The innermost loop that holds the instruction; NULL: none does.
static const SassLoop *loop_of(Session *session, const SassCode *code, int at) {
  enum { LOOPS_MAX = 64 };
  SassLoop *loop = ARENA_ARRAY(session->frame, SassLoop, LOOPS_MAX);
  const int n = sass_loops(session->frame, code, loop, LOOPS_MAX);
  const SassLoop here = {at, at - 1};
  return sass_loop_around(loop, n, &here);
}

// "one register bank: R20, R78; R78 exchanged with R81 would lie in the other one"; NULL: the line
// has no such conflict.
const char *source_bank_words(Session *session, const SourceLine *line) {
  if (line->bank_mark != BANK_MARK_CONFLICT) return NULL;
  const char *words = arena_printf(session->frame, "one register bank gives R%d and R%d",
                                   line->bank_pair.one, line->bank_pair.other);
  const SassLoop *loop =
      line->inst ? loop_of(session, line->code, (int)(line->inst - line->code->inst)) : NULL;
  if (!loop) return words;
  const ClockAssignment better =
      clock_assign(session->frame, line->code, loop, register_bank_rule(sm_of(session))->clocks);
  ClockBankPair pair;
  if (!clock_assign_moves(&better, line->inst, &pair)) return words;
  return arena_printf(session->frame, "%s; exchange R%d with R%d to use the other bank", words,
                      pair.one, pair.other);
}
