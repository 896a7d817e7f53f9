// Branch and bound, one column bit at a time.
//
// Choosing the parity mask of one column bit splits the requests of every pattern in two; after k
// of c bits there are 2^k classes, and what is left can split a class into 2^(c-k) at best, so
//   wavefronts >= ceil(largest class / 2^(c-k))
// bounds every completion. A branch ends when the weighted sum reaches the best so far; the search
// ends when the best is the floor.
//
// A class is a 32-bit mask of requests. The requests with odd parity under a mask f are one table
// entry, the XOR of those of f's bits, so looking at one pattern is a few ANDs and population
// counts. Bits of the chunk number in which no pattern differs are left out. In the families rows
// and line, column bit k is bit k of the chunk XOR a mask of higher bits; masks of few bits come
// first, so that of equally good layouts a simple one is found; when a quarter of the budget has
// not sufficed, the search starts again with the most promising masks first. For all maps, the
// column bits may be replaced by independent sums of themselves (that renames columns), so only
// reduced echelon forms are tried: leading bits fall, and no mask contains another's leading bit.
//
// Worked example: transposed B, 128 rows of 64 bytes: the store asks for chunks 16 * lane, so its
// five bits are 4 … 8; ldmatrix asks for rows 0 … 7, bits 2, 3, 4. Rows: bit 2 (the row's parity)
// cannot be changed, so the store splits by two masks only: 8 wavefronts. Line: three masks, 4
// wavefronts.
#include "banks/solver/xor_search.h"

#include <string.h>

enum { DOMAIN_BITS_MAX = 16, TABLE_ENTRIES_MAX = 1 << 22 };

typedef struct Branch {
  int64_t bound;
  uint32_t mask;
} Branch;

typedef struct Search {
  const SlabPatterns *in;
  XorFamily family;
  int n_domain;                 // chunk bits that matter
  int domain[DOMAIN_BITS_MAX];  // which
  uint32_t *odd;                // [pattern << n_domain | mask]: requests with odd parity
  uint32_t *classes[XOR_COLUMN_BITS_MAX + 1];  // [pattern << k | class] after k column bits
  int n_choices[XOR_COLUMN_BITS_MAX];
  const uint16_t *choices[XOR_COLUMN_BITS_MAX];  // domain masks, for rows and line
  uint32_t chosen[XOR_COLUMN_BITS_MAX];
  bool promising_first;
  Branch *branches[XOR_COLUMN_BITS_MAX];  // room for one node at each depth
  int64_t budget;
  XorResult best;
} Search;

static void find_domain(Search *s) {
  int used = (1 << s->in->column_bits) - 1;
  for (int p = 0; p < s->in->n; p++)
    for (int r = 0; r < s->in->patterns[p].n; r++) used |= s->in->patterns[p].chunk[r];
  for (int bit = 0; bit < s->in->chunk_bits; bit++) {
    if (!(used >> bit & 1)) continue;
    if (s->n_domain < DOMAIN_BITS_MAX) s->domain[s->n_domain] = bit;
    s->n_domain++;
  }
}

static void fill_table(Search *s, Arena *scratch) {
  int n_masks = 1 << s->n_domain;
  s->odd = ARENA_ARRAY(scratch, uint32_t, s->in->n * n_masks);
  for (int p = 0; p < s->in->n; p++) {
    const SlabPattern *pattern = &s->in->patterns[p];
    uint32_t *odd = s->odd + p * n_masks;
    for (int bit = 0; bit < s->n_domain; bit++)
      for (int r = 0; r < pattern->n; r++)
        odd[1 << bit] |= (uint32_t)(pattern->chunk[r] >> s->domain[bit] & 1) << r;
    for (int mask = 1; mask < n_masks; mask++)
      odd[mask] = odd[mask & (mask - 1)] ^ odd[mask & -mask];
  }
  for (int k = 0; k <= s->in->column_bits; k++)
    s->classes[k] = ARENA_ARRAY(scratch, uint32_t, s->in->n << k);
  for (int p = 0; p < s->in->n; p++)
    s->classes[0][p] = (uint32_t)((UINT64_C(1) << s->in->patterns[p].n) - 1);
}

// The bits set in each half of the word, which of the two is larger. The plain x86-64 that this is
// built for has no instruction that counts bits, and calls would take half of the search's time.
static int larger_half(uint64_t word) {
  word -= word >> 1 & 0x5555555555555555;
  word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
  word += word >> 8;
  word += word >> 16;
  int low = (int)(word & 0x3f), high = (int)(word >> 32 & 0x3f);
  return low > high ? low : high;
}

static int largest_class(const SlabPattern *pattern, const uint32_t *classes, int n) {
  int largest = 0;
  for (int position = 0; position < 4; position += 2) {
    uint64_t here = pattern->at_position[position] | (uint64_t)pattern->at_position[position + 1]
                                                         << 32;
    for (int c = 0; here && c < n; c++) {
      int size = larger_half((classes[c] | (uint64_t)classes[c] << 32) & here);
      if (size > largest) largest = size;
    }
  }
  return largest;
}

// Splits all patterns by column bit k = `mask`; the bound of what can come of it, or the best so
// far as soon as that is reached.
static int64_t split(Search *s, int k, uint32_t mask) {
  int64_t bound = 0;
  int left = s->in->column_bits - k - 1;
  for (int p = 0; p < s->in->n && bound < s->best.total; p++) {
    const SlabPattern *pattern = &s->in->patterns[p];
    const uint32_t *before = s->classes[k] + ((size_t)p << k);
    uint32_t *after = s->classes[k + 1] + ((size_t)p << (k + 1));
    uint32_t odd = s->odd[(size_t)p << s->n_domain | mask];
    for (int c = 0; c < 1 << k; c++) {
      after[2 * c] = before[c] & ~odd;
      after[2 * c + 1] = before[c] & odd;
    }
    int wavefronts = (largest_class(pattern, after, 2 << k) + (1 << left) - 1) >> left;
    if (wavefronts < pattern->floor) wavefronts = pattern->floor;
    bound += wavefronts * pattern->weight;
    s->budget--;
  }
  return bound;
}

static bool is_over(const Search *s) { return s->best.total <= s->in->floor || s->budget <= 0; }

static void descend(Search *s, int k);

static void try_mask(Search *s, int k, uint32_t mask) {
  if (split(s, k, mask) >= s->best.total) return;
  s->chosen[k] = mask;
  descend(s, k + 1);
}

static void keep_best(Search *s) {
  int last = s->in->column_bits - 1;
  s->best.found = true;
  s->best.total = split(s, last, s->chosen[last]);
  for (int k = 0; k <= last; k++) {
    s->best.parity[k] = 0;
    for (int bit = 0; bit < s->n_domain; bit++)
      if (s->chosen[k] >> bit & 1) s->best.parity[k] |= 1u << s->domain[bit];
  }
}

// Echelon form: the new leading bit lies below all others and in none of the masks before.
static bool is_reduced(const Search *s, int k, uint32_t mask) {
  int lead = leading_bit(mask);
  for (int before = 0; before < k; before++)
    if (lead >= leading_bit(s->chosen[before]) || (s->chosen[before] >> lead & 1)) return false;
  return true;
}

// The masks of depth k: number i, or 0 when there is no such mask or it adds nothing.
static int count_masks(const Search *s, int k) {
  if (s->family != XOR_ANY) return s->n_choices[k];
  return k ? 1 << leading_bit(s->chosen[k - 1]) : 1 << s->n_domain;
}

static uint32_t mask_at(const Search *s, int k, int i) {
  if (s->family != XOR_ANY) return s->choices[k][i];
  return i > 0 && is_reduced(s, k, (uint32_t)i) ? (uint32_t)i : 0;
}

static void sort_branches(Branch *branches, int n) {
  for (int gap = n / 2; gap > 0; gap /= 2)
    for (int i = gap; i < n; i++) {
      Branch moving = branches[i];
      int at = i;
      for (; at >= gap && branches[at - gap].bound > moving.bound; at -= gap)
        branches[at] = branches[at - gap];
      branches[at] = moving;
    }
}

// Looks at all masks of this depth before going deeper into the most promising.
static void descend_sorted(Search *s, int k) {
  Branch *branches = s->branches[k];
  int n = 0, n_masks = count_masks(s, k);
  for (int i = 0; i < n_masks && !is_over(s); i++) {
    uint32_t mask = mask_at(s, k, i);
    if (mask == 0) continue;
    int64_t bound = split(s, k, mask);
    if (bound < s->best.total) branches[n++] = (Branch){bound, mask};
  }
  sort_branches(branches, n);
  for (int i = 0; i < n && branches[i].bound < s->best.total && !is_over(s); i++)
    try_mask(s, k, branches[i].mask);
}

static void descend(Search *s, int k) {
  if (k == s->in->column_bits) {
    keep_best(s);
  } else if (s->promising_first) {
    descend_sorted(s, k);
  } else {
    int n_masks = count_masks(s, k);
    for (int i = 0; i < n_masks && !is_over(s); i++) {
      uint32_t mask = mask_at(s, k, i);
      if (mask) try_mask(s, k, mask);
    }
  }
}

// Column bit k as itself XOR any set of the domain bits in `free_bits`, sets of few bits first.
static void list_choices(Search *s, Arena *scratch, int k, uint32_t free_bits) {
  uint16_t *choices = ARENA_ARRAY(scratch, uint16_t, 1 << __builtin_popcount(free_bits));
  s->choices[k] = choices;
  for (int size = 0; size <= __builtin_popcount(free_bits); size++) {
    uint32_t set = 0;
    do {
      if (__builtin_popcount(set) == size) choices[s->n_choices[k]++] = (uint16_t)(set ^ 1u << k);
      set = (set - free_bits) & free_bits;
    } while (set);
  }
}

static void list_all_choices(Search *s, Arena *scratch, int row_bits) {
  int c = s->in->column_bits;
  for (int k = 0; k < c; k++) {
    uint32_t above = ((1u << s->n_domain) - 1) & ~((1u << c) - 1);
    bool fixed = s->family == XOR_ROWS && k >= row_bits;
    if (s->family == XOR_ROWS && row_bits < c) above |= ((1u << c) - 1) & ~((1u << row_bits) - 1);
    list_choices(s, scratch, k, fixed ? 0 : above);
  }
}

XorResult xor_search(Arena *scratch, const SlabPatterns *patterns, XorFamily family, int row_bits,
                     int64_t ceiling, int64_t budget) {
  Search s = {.in = patterns, .family = family, .budget = budget / 4};
  s.best.total = ceiling;
  find_domain(&s);
  bool fits = s.n_domain < DOMAIN_BITS_MAX && s.n_domain >= patterns->column_bits &&
              (int64_t)patterns->n << s.n_domain <= TABLE_ENTRIES_MAX;
  if (!fits) return s.best;
  fill_table(&s, scratch);
  if (family != XOR_ANY) list_all_choices(&s, scratch, row_bits);
  for (int k = 0; k < patterns->column_bits; k++)
    s.branches[k] = ARENA_ARRAY(scratch, Branch, 1 << s.n_domain);
  descend(&s, 0);
  if (s.budget <= 0) {
    s.promising_first = true;
    s.budget = budget - budget / 4;
    descend(&s, 0);
  }
  s.best.exact = s.budget > 0 || s.best.total <= patterns->floor;
  return s.best;
}
