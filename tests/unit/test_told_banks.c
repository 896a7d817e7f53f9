// tests/told/banks.sh
#include "told.h"

TOLD(banks)
