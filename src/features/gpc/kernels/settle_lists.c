// Which list of tiles is meant for which SM, by the places that a probe finds on this device.
#include "features/gpc/model/deal_lists.h"
#include "kernels/device/gpu.h"

// The table, and a claim for each cluster that is not made yet.
bool gpu_settle_PLACES(Gpu *gpu, GpuProgram *program, int i, int blocks) {
  const PlanKernel *kernel = &program->plan->kernels[i];
  const int cluster = gpu_cluster_blocks(kernel);
  const ListShape shape = {.tiles = kernel->grid[0] / cluster,
                           .clusters = (int)(program->grid_x[i] / cluster),
                           .cluster = cluster,
                           .blocks = blocks};
  GpuBuffer *places = &program->made[LAUNCH_PLACES], *claims = &program->made[LAUNCH_CLAIMS];
  ListTable table;
  if (!gpu_find_places(gpu)) return false;
  deal_lists(&gpu->places, &shape, &table);
  program->number[LAUNCH_LISTS] = program->number[LAUNCH_GRID] = table.lists;
  return gpu_alloc(gpu, places, sizeof table.of_sm, "the places of lists") &&
         gpu_alloc(gpu, claims, shape.clusters * (int64_t)sizeof(unsigned), "claims") &&
         gpu_write(gpu, places->data, table.of_sm, sizeof table.of_sm) &&
         gpu_fill_bytes(gpu, claims, 0, false);
}
