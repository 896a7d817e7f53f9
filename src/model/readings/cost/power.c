// Energy of products and of bytes against the power that the board is held to.
//
// For warpgroups' products it is known what they reach on random data when nothing is fetched
// (Traffic.power_tflops). Products of warps take more of it, as much more as their peak is lower:
// 0.65 of a warpgroup's on an H200. A board that is near its cap slows down before the mean is
// there, so both times add up by their cubes, as limits do in calibration.h.
//
// Worked example, hopper/stmatrix on an H200: 969 TFLOP/s at 1980 MHz, 699 by power: 630, where 651
// are recorded; hgemm/register_buffer: 595 and 453: 402, where 390 are.
#include "model/readings/cost/power.h"

#include <math.h>

#include "base/str.h"

static double products_of_warps(const Target *t, const Atom *atom) {
  const bool half = str_equal(atom->type, "f16") || str_equal(atom->type, "bf16");
  if (!atom_is_of_warp(atom)) return NAN;
  const double group = half                            ? t->f16_wgmma_tflops
                       : str_equal(atom->type, "tf32") ? t->tf32_wgmma_tflops
                                                       : (double)NAN;
  return t->mma_sync_share * group;
}

// TFLOP/s; NaN: not known.
static double allowed(const Model *model) {
  const Traffic *traffic = &model->traffic;
  const Target *t = model->target;
  const Atom *atom = program_atom(model->program);
  if (traffic->power_tflops > 0) return traffic->power_tflops;
  if (!atom) return NAN;
  const double joule = traffic->flop * t->cap_w / (products_of_warps(t, atom) * 1e12) +
                       traffic->l2_bytes * t->l2_pj_per_byte * 1e-12 +
                       traffic->dram_bytes * t->dram_pj_per_byte * 1e-12;
  return traffic->flop * t->cap_w / joule / 1e12;
}

double power_share(const Model *model, double tflops) {
  const double most = allowed(model);
  return most > 0 && tflops > 0 ? 1 / cbrt(1 + pow(tflops / most, 3)) : 1;
}
