// Line → row of mc_op.def → operands in the frame → PTX.
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "machine/mc_code.h"

enum { ZERO = ~PTX_SPECIAL_zero, SINK = ~PTX_SPECIAL_sink };

static bool is_letter(char c, const char *of) { return c && strchr(of, c); }
static bool writes(char letter) { return is_letter(letter, "dpbe"); }

static PtxArg mc_fixed(McPlan *plan, McFixed value) {
  for (int i = 0; i < plan->n_fixed; i++) {
    const McFixed *f = &plan->fixed[i];
    if (f->is_number == value.is_number && f->bank == value.bank && f->value == value.value)
      return MC_FRAME_K + i;
  }
  if (plan->n_fixed == plan->cap_fixed) {
    const int capacity = 2 * plan->cap_fixed + 32;
    McFixed *larger = ARENA_ARRAY(plan->arena, McFixed, capacity);
    if (plan->n_fixed) memcpy(larger, plan->fixed, sizeof *larger * (size_t)plan->n_fixed);
    plan->fixed = larger;
    plan->cap_fixed = capacity;
  }
  plan->fixed[plan->n_fixed] = value;
  return MC_FRAME_K + plan->n_fixed++;
}

// ---- the row ------------------------------------------------------------------------------------

// Whether the modifiers are there, in their order or in any: of F2F.F32.F64 both rows' are.
static bool has_needs(const McLine *line, const char *needs, bool in_order) {
  int from = 0;
  for (const char *at = needs; *at;) {
    const int n = (int)strcspn(at, " ");
    int found = in_order ? from : 0;
    while (found < line->n_words &&
           (line->words[found].length != n || strncmp(line->words[found].text, at, (size_t)n) != 0))
      found++;
    if (found == line->n_words) return false;
    from = found + 1;
    at += n;
    at += strspn(at, " ");
  }
  return true;
}

// 64x128x16
static bool is_shape(const char *text) {
  const size_t n = strspn(text, "0123456789");
  return n && text[n] == 'x';
}

static bool takes(const McOp *op, const McWord *word, const char *text, int length) {
  if (mc_listed(op->needs, text, length)) return true;
  if (!word) return is_shape(text) && mc_listed(op->takes, "SHAPE", 5);
  return str_equal(word->class, "HINT") ||
         mc_listed(op->takes, word->class, (int)strlen(word->class));
}

static const McOp *find_row(McPlan *plan, const McLine *line, const char **why) {
  const McOp *row = NULL;
  bool known = false;
  for (int i = 0; i < 2 * mc_op_count && !row; i++) {
    const McOp *op = &mc_ops[i % mc_op_count];
    if (!str_equal(op->name, line->name)) continue;
    known = true;
    // A row that asks for nothing takes what no other one does.
    if ((*op->needs || i >= mc_op_count) && has_needs(line, op->needs, i < mc_op_count)) row = op;
  }
  if (!row) {
    *why = arena_printf(plan->arena, "%s is not run here: %s", line->name,
                        known ? "not in this form" : "the instruction is not known");
    return NULL;
  }
  for (int i = 0; i < line->n_words; i++) {
    if (takes(row, line->words[i].word, line->words[i].text, line->words[i].length)) continue;
    *why = arena_printf(plan->arena, "%s is not run here: .%.*s is not known of it", line->name,
                        line->words[i].length, line->words[i].text);
    return NULL;
  }
  return row;
}

// ---- operands -----------------------------------------------------------------------------------

// Registers that a load or store moves for each lane.
static int width_of(const McLine *line) {
  const McWord *word = mc_word_of(line, "WIDTH");
  if (!word) return 1;
  return str_equal(word->name, "64") ? 2 : 4;
}

static int count_of(const McLine *line, char letter, char behind) {
  if (is_letter(letter, "gl")) return 2;
  if (behind == 'w') return width_of(line);
  if (behind == 'm') {
    const McWord *word = mc_word_of(line, "MATRICES");
    return word ? word->name[0] - '0' : 1;
  }
  return behind >= '2' && behind <= '9' ? behind - '0' : 1;
}

static bool fits(char letter, const McRead *read) {
  switch (letter) {
    case 'd':
      return read->kind == MC_REGISTER || read->kind == MC_BARRIER;
    case 'e':
    case 'P':
    case 'C':
      return read->kind == MC_REGISTER;
    case 'A':
      return read->kind == MC_REGISTER || read->kind == MC_DESCRIPTOR;
    case 'G':
      return read->kind == MC_DESCRIPTOR;
    case 'p':
    case 'q':
      return read->kind == MC_PREDICATE;
    case 'v':
      return read->kind == MC_PREDICATE && read->number == MC_PT && !read->negated;
    case 'b':
      return read->kind == MC_BARRIER;
    case 'a':
    case 't':
    case 'o':
    case 'k':
      return read->kind == MC_ADDRESS;
    case 'c':
      return read->kind == MC_CONSTANT;
    case 'i':
      return read->kind == MC_NUMBER;
    case 'x':
      return read->kind == MC_SPECIAL;
    case 'r':
      return read->kind == MC_REGISTER || read->kind == MC_CONSTANT;
    case 'j':
      return read->kind == MC_LABEL || read->kind == MC_NUMBER;
    default:
      return read->kind == MC_REGISTER || read->kind == MC_NUMBER || read->kind == MC_CONSTANT ||
             read->kind == MC_BARRIER;
  }
}

static PtxArg register_arg(const McRead *read, int k, bool written) {
  const bool none = read->number == (read->is_uniform ? MC_URZ : MC_RZ);
  if (read->kind == MC_BARRIER) return MC_FRAME_B + read->number;
  if (none) return written ? SINK : ZERO;
  return (read->is_uniform ? MC_FRAME_UR : MC_FRAME_R) + read->number + k;
}

static bool too_far(const McRead *read, int n) {
  if (read->kind != MC_REGISTER || n == 1) return false;
  const int none = read->is_uniform ? MC_URZ : MC_RZ;
  return read->number != none && read->number + n > none;
}

// A number that a float operand has stands in bits 32 to 63 as it is; of one of 64 bits that is the
// upper half.
static int64_t number_of(const McRead *read, char letter, int k, uint64_t low) {
  if (is_letter(letter, "fh")) return (int64_t)(low >> 32);
  if (letter == 'g') return k ? (int64_t)(low >> 32) : 0;
  if (read->is_float && !read->value) return (int64_t)(low >> 32);
  return k ? read->value >> 63 & 0xffffffff : read->value & 0xffffffff;
}

static void settle_signs(McOperand *out, const McRead *read, char letter) {
  enum { SIGN = 1u << 31, SIGNS = 0x80008000u };
  out->keep = ~0u;
  out->flip = read->inverted ? ~0u : 0;
  if (is_letter(letter, "fgh") && read->kind != MC_NUMBER) {
    const uint32_t sign = letter == 'h' ? SIGNS : SIGN;
    if (read->absolute) out->keep = ~sign;
    if (read->negated) out->flip = sign;
  } else if (read->negated && read->kind != MC_NUMBER) {
    out->flip = ~0u;
    out->add = 1;
  }
}

static const char *settle(McPlan *plan, const McLine *line, const McRead *read, const char *spec,
                          uint64_t low, McOperand *out) {
  const char letter = spec[0];
  *out = (McOperand){.letter = letter, .present = true, .read = read, .negated = read->negated};
  out->n = count_of(line, letter, spec[1]);
  out->is_vector = spec[1] == 'w' || spec[1] == 'm' || (spec[1] && spec[2] == 'v');
  if (is_letter(letter, "pq")) {
    out->arg[0] = (read->is_uniform ? MC_FRAME_UP : MC_FRAME_P) + read->number;
    return NULL;
  }
  if (letter == 'v') out->n = 0;
  if (is_letter(letter, "atkcixjovPAGC")) return NULL;
  if (read->absolute && is_letter(letter, "sl")) return "the absolute value of a whole number";
  if (too_far(read, out->n)) return "its registers go beyond the last one";
  for (int k = 0; k < out->n; k++) {
    if (read->kind == MC_REGISTER || read->kind == MC_BARRIER)
      out->arg[k] = register_arg(read, k, writes(letter));
    else if (read->kind == MC_NUMBER)
      out->arg[k] = mc_fixed(plan, (McFixed){true, 0, number_of(read, letter, k, low)});
    else if (read->number == MC_NO_REGISTER && read->uniform == MC_NO_REGISTER)
      out->arg[k] = mc_fixed(plan, (McFixed){false, read->bank, read->value + 4 * k});
    else
      return "an operand in a constant bank by a register";
  }
  settle_signs(out, read, letter);
  return NULL;
}

// Whether the row knows of a byte or a half of a register.
static bool takes_parts(const McOp *op) {
  return op->run == mc_run_unpack_preds ||
         (op->as && (str_starts(op->as, "cvt") || str_equal(op->name, "MUFU")));
}

// LEA.HI R20, R22, R20, 0x0, 0x1e: the first number is the upper word, the second one the shift.
static bool is_upper_word(const McLine *line, int at) {
  return at + 1 < line->n && line->operands[at].kind == MC_NUMBER &&
         line->operands[at + 1].kind == MC_NUMBER;
}

// Operands in the order of the row; what may be missing is taken where its kind is there.
static const char *settle_operands(McPlan *plan, const McOp *op, const McLine *line, uint64_t low,
                                   McStep *out) {
  int at = 0, needed = 0;
  for (const char *c = op->operands; *c; c += strcspn(c, " "), c += strspn(c, " "))
    needed += !memchr(c, '?', strcspn(c, " "));
  int spare = line->n - needed;
  for (const char *c = op->operands; *c; c += strcspn(c, " "), c += strspn(c, " ")) {
    const bool may_miss = memchr(c, '?', strcspn(c, " "));
    McOperand *operand = &out->operands[out->n++];
    *operand = (McOperand){.letter = *c};
    const bool fit =
        at < line->n && (fits(*c, &line->operands[at]) || (*c == 'r' && is_upper_word(line, at)));
    if (may_miss && (!fit || spare <= 0)) continue;
    if (!fit) return "its operands are not known";
    spare -= may_miss;
    if (line->operands[at].shift && !takes_parts(op)) return "a part of a register";
    const char *why = settle(plan, line, &line->operands[at++], c, low, operand);
    if (why) return why;
  }
  return at < line->n ? "it has too many operands" : NULL;
}

// ---- what goes through T ------------------------------------------------------------------------

static PtxArg address_arg(const McRead *read, int k) {
  if (read->number == MC_NO_REGISTER || read->number == MC_RZ) return ZERO;
  return MC_FRAME_R + read->number + k;
}
static PtxArg uniform_arg(const McRead *read, int k) {
  if (read->uniform == MC_NO_REGISTER || read->uniform == MC_URZ) return ZERO;
  return MC_FRAME_UR + read->uniform + k;
}

static McGather *add_gather(McStep *out, McGatherKind kind) {
  McGather *g = &out->gathers[out->n_gathers];
  *g = (McGather){.kind = kind,
                  .t = out->n_gathers++,
                  .low = ZERO,
                  .high = ZERO,
                  .uniform = ZERO,
                  .uniform_high = ZERO,
                  .scale = 1,
                  .keep = ~UINT64_C(0)};
  return g;
}

static int gather_address(McStep *out, const McOperand *o) {
  const McRead *read = o->read;
  McGather *g = add_gather(out, o->letter == 'a'   ? MC_GATHER_ADDRESS
                                : o->letter == 'o' ? MC_GATHER_CLUSTER
                                                   : MC_GATHER_SHARED);
  g->low = address_arg(read, 0);
  if (o->letter == 'a' && read->is_wide) g->high = address_arg(read, 1);
  g->uniform = uniform_arg(read, 0);
  if (o->letter == 'a' && (read->uniform_is_wide || !read->is_wide))
    g->uniform_high = uniform_arg(read, 1);
  g->scale = read->scale ? read->scale : 1;
  g->offset = read->value;
  return g->t;
}

static int gather_value(McStep *out, const McOperand *o) {
  const McGatherKind kind = o->read->half ? MC_GATHER_HALVES : MC_GATHER_32;
  McGather *g = add_gather(out, o->letter == 'n'   ? MC_GATHER_COUNT
                                : o->letter == 'y' ? MC_GATHER_PARITY
                                : o->letter == 'z' ? MC_GATHER_SIXTEENS
                                : o->n == 2        ? MC_GATHER_64
                                                   : kind);
  if (o->read->shift || o->letter == 'u') {
    g->kind = MC_GATHER_PART;
    g->scale = o->letter == 'u' ? 16 : o->read->shift;
  }
  g->half = o->read->half;
  g->low = o->arg[0];
  g->keep = o->n == 2 ? UINT64_C(0xffffffff) | (uint64_t)o->keep << 32 : o->keep;
  g->flip = o->n == 2 ? (uint64_t)o->flip << 32 : o->flip;
  g->add = o->add;
  if (o->n == 2) g->high = o->arg[1];
  return g->t;
}

// ---- PTX ----------------------------------------------------------------------------------------

static const char *arg_text(Arena *arena, PtxArg arg) {
  if (arg == ZERO) return "%gemmview_zero";
  if (arg == SINK) return "%gemmview_sink";
  if (arg >= MC_FRAME_K) return arena_printf(arena, "K%d", arg - MC_FRAME_K);
  if (arg >= MC_FRAME_T) return arena_printf(arena, "T%d", arg - MC_FRAME_T);
  if (arg >= MC_FRAME_B) return arena_printf(arena, "B%d", arg - MC_FRAME_B);
  return arg >= MC_FRAME_UR ? arena_printf(arena, "UR%d", arg - MC_FRAME_UR)
                            : arena_printf(arena, "R%d", arg);
}

static const char *list_text(Arena *arena, const McOperand *o) {
  if (o->n == 1) return arg_text(arena, o->arg[0]);
  Str out = str_new(arena);
  for (int k = 0; k < o->n; k++)
    str_printf(&out, "%s%s", k ? ", " : "{", arg_text(arena, o->arg[k]));
  str_add(&out, "}");
  return out.text;
}

static const struct {
  const char *name, *ptx;
} specials[] = {
    {"SR_TID.X", "%tid.x"},
    {"SR_TID.Y", "%tid.y"},
    {"SR_TID.Z", "%tid.z"},
    {"SR_CTAID.X", "%ctaid.x"},
    {"SR_CTAID.Y", "%ctaid.y"},
    {"SR_CTAID.Z", "%ctaid.z"},
    {"SR_NTID.X", "%ntid.x"},
    {"SR_LANEID", "%laneid"},
    {"SR_CgaCtaId", "%cluster_ctarank"},
    {"SR_EQMASK", "%lanemask_eq"},
    {"SR_LTMASK", "%lanemask_lt"},
    {"SR_LEMASK", "%lanemask_le"},
    {"SR_GTMASK", "%lanemask_gt"},
    {"SR_GEMASK", "%lanemask_ge"},
    {"SR_VIRTUALSMID", "%smid"},
    {"SR_VIRTID", "%smid"},
    {"SR_CLOCKLO", "%clock"},
    {"SR_CLOCKHI", "%clock_hi"},
    {"SR_GLOBALTIMERLO", "%globaltimer_lo"},
    {"SR_GLOBALTIMERHI", "%globaltimer_hi"},
    {"SR_NCTAID.X", "%nctaid.x"},
    {"SR_CLUSTERID.X", "%clusterid.x"},
    {"SR_CgaSize", "%cluster_nctarank"},
    {"SR_SWINHI", "0x1007a00"},  // the upper half of PTX_SHARED_WINDOW
    {"SRZ", "%gemmview_zero"},
};

static const char *special_text(const McRead *read) {
  for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
    if (str_equal(specials[i].name, read->text)) return specials[i].ptx;
  return NULL;
}

// The text of an operand that is written or read; NULL: there is no such special register.
static const char *operand_text(McPlan *plan, McStep *out, McOperand *o) {
  Arena *arena = plan->arena;
  const bool gathers = o->keep != ~0u || o->flip || o->add || is_letter(o->letter, "glnuyz") ||
                       (o->read && (o->read->half || o->read->shift));
  if (is_letter(o->letter, "pq"))
    return arena_printf(arena, "%s%s%d", o->negated ? "!" : "",
                        o->arg[0] >= MC_FRAME_UP ? "UP" : "P", o->arg[0] % MC_FRAME_UP);
  if (o->letter == 'x') return special_text(o->read);
  if (o->letter == 'i') return arena_printf(arena, "%lld", (long long)o->read->value);
  if (is_letter(o->letter, "atko")) return arena_printf(arena, "T%d", gather_address(out, o));
  if (o->letter == 'e' && o->arg[0] == SINK) return "_";
  if (is_letter(o->letter, "de") && o->n == 2 && !o->is_vector) {
    McScatter *s = &out->scatters[out->n_scatters++];
    *s = (McScatter){MC_TEMPORARIES - 1, o->letter == 'e', o->arg[0], o->arg[1]};
    return arena_printf(arena, "T%d", s->t);
  }
  if (writes(o->letter) || !gathers) return list_text(arena, o);
  return arena_printf(arena, "T%d", gather_value(out, o));
}

// $0+1: the address of shared memory in the register behind operand 0's; $0:2: the number there.
static const char *text_behind(McPlan *plan, McStep *out, const McOperand *o, int by, char how) {
  const bool uniform = o->read->number == MC_NO_REGISTER;
  const PtxArg arg = uniform ? uniform_arg(o->read, by) : address_arg(o->read, by);
  if (how == ':') return arg_text(plan->arena, arg);
  McGather *g = add_gather(out, o->letter == 'o' ? MC_GATHER_CLUSTER : MC_GATHER_SHARED);
  g->uniform = arg;
  return arena_printf(plan->arena, "T%d", g->t);
}

// {CLASS} or {CLASS:else}.
static const char *word_text(Arena *arena, const McLine *line, const char *at, size_t n) {
  const char *colon = memchr(at, ':', n);
  const char *class = arena_strndup(arena, at, colon ? (size_t)(colon - at) : n);
  const McWord *word = mc_word_of(line, class);
  if (word) return word->ptx;
  return colon ? arena_strndup(arena, colon + 1, n - (size_t)(colon + 1 - at)) : "";
}

// An operand that is missing goes with the comma in front of it.
static const char *write_as(McPlan *plan, const McLine *line, McStep *out, const char **why) {
  Str text = str_new(plan->arena);
  for (const char *c = out->op->as; *c; c++) {
    if (*c == '{' && c[1] >= 'A' && c[1] <= 'Z') {
      const size_t n = strcspn(c + 1, "}");
      str_add(&text, word_text(plan->arena, line, c + 1, n));
      c += n + 1;
      continue;
    }
    const int turned = c[0] == ',' && c[1] == ' ' && c[2] == '!';
    if (c[0] == ',' && c[1] == ' ' && c[2 + turned] == '$' &&
        !out->operands[c[3 + turned] - '0'].present) {
      c += 3 + turned;
      continue;
    }
    if (c[0] == '!' && c[1] == '$') {
      McOperand *turn = &out->operands[c[2] - '0'];
      turn->negated = !turn->negated;
      continue;
    }
    if (*c != '$') {
      str_printf(&text, "%c", *c);
      continue;
    }
    McOperand *named = &out->operands[*++c - '0'];
    const bool is_behind = (c[1] == '+' || c[1] == ':') && c[2] >= '0' && c[2] <= '9';
    const char *operand = is_behind ? text_behind(plan, out, named, c[2] - '0', c[1])
                                    : operand_text(plan, out, named);
    if (is_behind) c += 2;
    if (!operand) {
      *why = arena_printf(plan->arena, "%s is not run here: the special register is not known",
                          line->name);
      return NULL;
    }
    str_add(&text, operand);
  }
  return text.text;
}

// ---- products of warp groups --------------------------------------------------------------------

static const char *registers_text(Arena *arena, const McRead *read, int n) {
  Str out = str_new(arena);
  for (int k = 0; k < n; k++) str_printf(&out, "%sR%d", k ? ", " : "{", read->number + k);
  str_add(&out, "}");
  return out.text;
}

static const char *descriptor_text(Arena *arena, McStep *out, const McRead *read, int by) {
  McGather *g = add_gather(out, MC_GATHER_64);
  g->low = uniform_arg(read, by);
  g->high = uniform_arg(read, by + 1);
  return arena_printf(arena, "T%d", g->t);
}

// HGMMA.64x128x16.F32.BF16 d, a, [b,] c, p: the descriptors of A and B lie behind each other. Two
// types of operands are A's and B's.
static const char *write_product(McPlan *plan, const McLine *line, McStep *out, const char **why) {
  Arena *arena = plan->arena;
  int m = 0, n = 0, k = 0;
  const McWord *types[3] = {NULL, NULL, NULL};
  int n_types = 0;
  for (int i = 0; i < line->n_words; i++) {
    const McWord *word = line->words[i].word;
    if (is_shape(line->words[i].text)) sscanf(line->words[i].text, "%dx%dx%d", &m, &n, &k);
    if (word && str_equal(word->class, "FLOAT") && n_types < 3) types[n_types++] = word;
  }
  const McRead *d = out->operands[0].read, *a = out->operands[1].read, *c = out->operands[3].read;
  const McRead *b = out->operands[2].present ? out->operands[2].read : a;
  const char *sums = n_types ? types[0]->ptx : "", *in = n_types > 1 ? types[1]->ptx : ".f16",
             *other = n_types > 2 ? types[2]->ptx : in;
  const bool single = str_equal(sums, ".f32"), begins = c->number == MC_RZ;
  const int registers = single ? n / 2 : n / 4;
  const bool in_registers = a->kind == MC_REGISTER;
  if (m != 64 || n < 8 || n > 256 || d->number + registers > MC_RZ || a->number + 4 > MC_RZ ||
      (!begins && c->number != d->number) || (in_registers && !out->operands[2].present)) {
    *why = arena_printf(arena, "%s is not run here: its operands are not known", line->name);
    return NULL;
  }
  const bool turns = str_equal(in, ".f16") || str_equal(in, ".bf16");
  const McOperand *p = &out->operands[4];
  const char *keeps =
      begins       ? "!P7"
      : p->present ? arena_printf(arena, "%s%s%d", p->negated ? "!" : "",
                                  p->arg[0] >= MC_FRAME_UP ? "UP" : "P", p->arg[0] % MC_FRAME_UP)
                   : "P7";
  const char *first =
      in_registers ? registers_text(arena, a, 4) : descriptor_text(arena, out, a, 0);
  const char *second = descriptor_text(arena, out, b, 2);
  const char *turned = !turns ? ""
                       : in_registers
                           ? arena_printf(arena, ", %d", b->turned >> 1 & 1)
                           : arena_printf(arena, ", %d, %d", b->turned & 1, b->turned >> 1 & 1);
  return arena_printf(arena, "wgmma.mma_async.sync.aligned.m%dn%dk%d%s%s%s %s, %s, %s, %s, 1, 1%s",
                      m, n, k, sums, in, other, registers_text(arena, d, registers), first, second,
                      keeps, turned);
}

static bool is_uniform(const McStep *out) {
  for (int i = 0; i < out->n; i++) {
    const McOperand *o = &out->operands[i];
    if (!o->present || !is_letter(o->letter, "dp")) continue;
    if (o->letter == 'd' && o->read->is_uniform) return true;
    if (o->letter == 'p' && o->read->is_uniform && o->read->number != MC_PT) return true;
  }
  return false;
}

const char *mc_plan(McPlan *plan, const McLine *line, uint64_t low, uint64_t high, McStep *out,
                    const char **why) {
  *out = (McStep){.low = low, .high = high};
  out->op = find_row(plan, line, why);
  if (!out->op) return NULL;
  for (int i = 0; i < line->n_words; i++)
    if (line->words[i].word) {
      const int id = (int)(line->words[i].word - mc_words);
      out->words[id / 64] |= UINT64_C(1) << (id % 64);
    }
  const char *sentence = settle_operands(plan, out->op, line, low, out);
  if (sentence) {
    *why = arena_printf(plan->arena, "%s is not run here: %s", line->name, sentence);
    return NULL;
  }
  out->is_uniform = is_uniform(out);
  if (out->op->as && str_equal(out->op->as, "wgmma")) return write_product(plan, line, out, why);
  return out->op->as ? write_as(plan, line, out, why) : "";
}
