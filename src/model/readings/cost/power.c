// Energy of products and of bytes against the power that the board is held to, below the clock that
// tensor cores are held to whatever they take.
//
// An H200 that multiplies by tensor cores runs at 1,800 MHz, not at 1,980, at 30 TFLOP/s as well.
// Where that clock was not measured it is the one at which the tensor peaks are stated.
//
// For warpgroups' products it is known what they reach on random data when nothing is fetched.
// Products of warps take more of it, as much more as their peak is lower: 0.65 of a warpgroup's on
// an H200. A board that is near its cap slows down before the mean is there, so both times add up
// by their cubes, as limits do in calibration.h.
//
// Worked example, hopper/stmatrix on an H200: 909 TFLOP/s at 1800 MHz, 699 by power: 617, where 651
// are recorded; hgemm/register_buffer: 531 and 453: 385, where 390 are.
#include "model/readings/cost/power.h"

#include <math.h>

#include "base/str.h"

static double products(const Target *t, const Atom *atom) {
  const bool half = str_equal(atom->type, "f16") || str_equal(atom->type, "bf16");
  const double group = half                            ? t->f16_wgmma_tflops
                       : str_equal(atom->type, "tf32") ? t->tf32_wgmma_tflops
                                                       : (double)NAN;
  if (atom_is_of_thread(atom)) return NAN;
  return atom_is_of_warp(atom) ? t->mma_sync_share * group : group;
}

// TFLOP/s; NaN: not known.
static double allowed(const Model *model) {
  const Traffic *traffic = &model->traffic;
  const Target *t = model->target;
  const Atom *atom = program_atom(model->program);
  if (traffic->power_tflops > 0) return traffic->power_tflops;
  if (!atom) return NAN;
  const double joule = traffic->flop * t->cap_w / (products(t, atom) * 1e12) +
                       traffic->l2_bytes * t->l2_pj_per_byte * 1e-12 +
                       traffic->dram_bytes * t->dram_pj_per_byte * 1e-12;
  return traffic->flop * t->cap_w / joule / 1e12;
}

// The share of the boost clock that is the highest; products of f64 are stated at the boost clock.
static double highest(const Model *model) {
  const Target *t = model->target;
  const Atom *atom = program_atom(model->program);
  const double mhz = target_knows(t->tensor_most_mhz) ? t->tensor_most_mhz : t->tensor_mhz;
  if (!atom || str_equal(atom->type, "f64") || !target_knows(mhz)) return 1;
  return fmin(1, mhz / t->boost_mhz);
}

double power_share(const Model *model, double tflops) {
  const double most = allowed(model), share = highest(model);
  return most > 0 && tflops > 0 ? share / cbrt(1 + pow(share * tflops / most, 3)) : share;
}

bool power_is_known(const Model *model) {
  const Atom *atom = program_atom(model->program);
  return !atom || str_equal(atom->type, "f64") || allowed(model) > 0;
}
