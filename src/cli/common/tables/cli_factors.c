#include "cli/common/tables/cli_factors.h"

#include <math.h>
#include <stdio.h>

void cli_print_factors(const Calibration *fit) {
  static const double hardly = 0.005;
  const Calibration none = calibration_none();
  for (int i = 0; i < CALIBRATION_FACTORS; i++) {
    const CalibrationFactor factor = (CalibrationFactor)i;
    if (fabs(log(fit->factor[i] / none.factor[i])) < hardly) continue;
    printf("  %-8s %5.2f  %s\n", calibration_name(factor), fit->factor[i],
           calibration_what(factor));
  }
}
