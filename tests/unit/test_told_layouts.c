// tests/told/layouts.sh
#include "told.h"

TOLD(layouts)
