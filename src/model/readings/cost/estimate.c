// Clocked speed, or else fitted factors, or else those that the program brings along.
//
// Worked example: the data sheet's roofline has 64.9 TFLOP/s for 4096³ in fp32, so 2.12 ms; with
// shared memory 1.4 times as slow as stated and few warps a fit says 3.1 ms, 44.3 TFLOP/s. Half of
// the points that it had not seen were off by less than ln(time/time) = 0.157, which is 17 %. Once
// the kernel is compiled, its machine code is played: 49.8 TFLOP/s, ±10 %.
#include "model/readings/cost/estimate.h"

#include <math.h>
#include <stdio.h>

#include "base/str.h"

// Factors that the program brings along: what nine in ten of the kernels recorded on that
// GPU are off by. Of another GPU this is not known: it
// is wider by what the clock's facts are where they were never checked.
static double shipped_range(const Model *model, CalibrationFamily family, bool borrowed) {
  static const double borrowed_more = 0.26;  // ln 1.3
  const double range = calibration_shipped_range(family, model->resources.smem_bytes > 0);
  return range + (borrowed ? borrowed_more : 0);
}

Estimate estimate_of(const Calibration *fits, const Model *model) {
  const Traffic *t = &model->traffic;
  if (!(t->roofline_tflops > 0)) return (Estimate){.tflops = -1, .low = -1, .high = -1};
  const CalibrationTerms terms = calibration_terms(model);
  const Calibration *fit = fits && fits[terms.family].n ? &fits[terms.family] : NULL;
  const Calibration shipped = calibration_none();
  const bool borrowed = !fit && !str_equal(model->target->id, CALIBRATION_SHIPPED_OF);
  const double tflops = t->flop / calibration_ns(fit ? fit : &shipped, &terms) * 1e-3,
               error = exp(fit ? fit->error : shipped_range(model, terms.family, borrowed));
  return (Estimate){.by = ESTIMATE_STAND_IN,
                    .tflops = tflops,
                    .low = tflops / error,
                    .high = tflops * error,
                    .fit = fit,
                    .borrowed = borrowed};
}

Estimate estimate_clocked(const ClockedSpeed *speed) {
  return (Estimate){.by = ESTIMATE_CLOCK,
                    .tflops = speed->tflops,
                    .low = speed->low,
                    .high = speed->high,
                    .unchecked = speed->unchecked};
}

double estimate_ns(const Estimate *estimate, const Model *model) {
  return estimate->tflops > 0 ? model->traffic.flop / estimate->tflops * 1e-3 : 0;
}

int estimate_limits(const Estimate *estimate, const Model *model,
                    CalibrationLimit out[ESTIMATE_LIMITS_MAX]) {
  CalibrationLimit all[CALIBRATION_FACTORS];
  if (estimate->by != ESTIMATE_STAND_IN) return 0;
  const Calibration shipped = calibration_none();
  const CalibrationTerms terms = calibration_terms(model);
  const int n = calibration_limits(estimate->fit ? estimate->fit : &shipped, &terms, all);
  const int kept = n < ESTIMATE_LIMITS_MAX ? n : ESTIMATE_LIMITS_MAX;
  for (int i = 0; i < kept; i++) out[i] = all[i];
  return kept;
}

const char *estimate_word(const Estimate *estimate) {
  static const char *const words[] = {
      [ESTIMATE_UNKNOWN] = "unknown", [ESTIMATE_STAND_IN] = "stand-in", [ESTIMATE_CLOCK] = "clock"};
  return words[estimate->by];
}

char *estimate_error_said(char out[ESTIMATE_SAID_BYTES], const Estimate *estimate, bool ascii) {
  const double longer = estimate->tflops / estimate->low - 1;  // that it may take
  out[0] = '\0';
  if (!estimate->by) return out;
  if (longer > 1)  // no speed is below 0
    snprintf(out, ESTIMATE_SAID_BYTES, "within %s%.1f", ascii ? "x" : "×", 1 + longer);
  else
    snprintf(out, ESTIMATE_SAID_BYTES, "%s%.0f %%", ascii ? "+-" : "±", 100 * longer);
  return out;
}

char *estimate_said(char out[ESTIMATE_SAID_BYTES], const Estimate *estimate, bool ascii) {
  char error[ESTIMATE_SAID_BYTES];
  estimate_error_said(error, estimate, ascii);
  if (estimate->fit)
    snprintf(out, ESTIMATE_SAID_BYTES, "%.16s on %d points", error, estimate->fit->n);
  else
    snprintf(out, ESTIMATE_SAID_BYTES, "%.16s%s", error,
             estimate->unchecked  ? ", published, not checked"
             : estimate->borrowed ? ", borrowed from H200"
                                  : "");
  return out;
}

static double known(double tflops) { return tflops > 0 ? tflops : NAN; }

#define FORM_FILE "model/readings/cost/estimate.form"
#include "base/form_make.h"

// ---- reasons ------------------------------------------------------------------------------------

// A pair of CTAs that halves what is fetched stands below one CTA by this: 128 × 256 cells each,
// 4096² are 512 tiles, 3.46 for each of 148 SMs. The last 68 of them take as long as 148, so 4
// rounds are 86 % of what the units allow; 1,024 tiles of 128 × 128 are 6.92, 7 rounds, 99 %.
static void say_rounds(Str *out, const Model *model) {
  static const double worth_saying = 0.95;
  const double blocks = (double)model->resources.n_blocks, sms = model->target->sm_count;
  const double share = blocks / (sms * model->traffic.rounds);
  if (!(share < worth_saying)) return;
  str_printf(out,
             "%.0f tile%s on %.0f SMs %s %.3g for each; the last round counts whole: %.3g "
             "round%s, %.0f %% of the units' limit. ",
             blocks, blocks > 1 ? "s" : "", sms, blocks > 1 ? "are" : "is", blocks / sms,
             model->traffic.rounds, model->traffic.rounds > 1 ? "s" : "", 100 * share);
}

// L2 may be asked for more than it is known to give: the tile that asks for less then gains
// nothing by it here.
static void say_unknown_rate(Str *out, const Model *model) {
  const Traffic *t = &model->traffic;
  if (t->l2_clocks >= 0) return;
  str_printf(out,
             "L2 would have to deliver %.3g TB/s for that, %.3g FLOP for each byte. No source "
             "states the rate of %s, so it limits nothing here, and saving its bytes gains "
             "nothing. ",
             t->roofline_tflops / t->flop_per_l2_byte, t->flop_per_l2_byte, model->target->name);
}

// Units are busy beside each other in the roofline. Of a block that fetches and multiplies in turn
// that holds where another block multiplies meanwhile.
static void say_waits(Str *out, const Model *model) {
  const int blocks = model->resources.blocks_per_sm;
  if (!(model->waits.fetches > 0)) return;
  if (blocks > 1)
    str_printf(out,
               "A block waits for each slab before it multiplies. %d blocks on an SM hide each "
               "other's waits, so overlap within one gains nothing here.",
               blocks);
  else
    str_add(out,
            "The only block of an SM waits for each slab before it multiplies. Nothing hides "
            "that wait, and the roofline does not count it.");
}

const char *estimate_roofline_reasons(Arena *arena, const Model *model) {
  Str out = str_new(arena);
  if (!(model->traffic.roofline_tflops > 0)) return "";
  say_rounds(&out, model);
  say_unknown_rate(&out, model);
  say_waits(&out, model);
  while (out.length && out.text[out.length - 1] == ' ') out.text[--out.length] = '\0';
  return out.length ? out.text : "";
}
