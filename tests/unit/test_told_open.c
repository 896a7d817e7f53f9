// tests/told/open.sh
#include "told.h"

TOLD(open)
