// tests/told/every.sh
#include "told.h"

TOLD(every)
