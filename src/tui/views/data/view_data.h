// Subjects of the views' forms, for the views that have no file of their own for it
// (ViewBody.data).
#pragma once
#include "tui/session/session.h"

const void *banks_data(Session *session);
const void *measure_data(Session *session);
const void *swizzle_data(Session *session);
