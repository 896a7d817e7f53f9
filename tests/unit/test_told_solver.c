// tests/told/solver.sh
#include "told.h"

TOLD(solver)
