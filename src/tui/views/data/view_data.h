// The data of the views that have no file of their own for it (ViewBody.json): members of the
// object "data", after view_prepare().
#pragma once
#include "base/json.h"
#include "tui/session/session.h"

void explore_json(JsonWriter *writer, Session *session);
void banks_json(JsonWriter *writer, Session *session);
void measure_json(JsonWriter *writer, Session *session);
void source_json(JsonWriter *writer, Session *session);
void fragments_json(JsonWriter *writer, Session *session);
void swizzle_json(JsonWriter *writer, Session *session);
