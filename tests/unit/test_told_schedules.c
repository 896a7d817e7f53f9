// tests/told/schedules.sh
#include "told.h"

TOLD(schedules)
