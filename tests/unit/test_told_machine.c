// tests/told/machine.sh
#include "told.h"

TOLD(machine)
