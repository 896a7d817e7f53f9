// tests/told/registers.sh
#include "told.h"

TOLD(registers)
