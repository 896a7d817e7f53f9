// The content of a view as data: for `gemmview show VIEW --json` and `:save-display x.json`.
//
//   {"schema":"gemmview/1","command":"show","view":"banks","state":"BM=16,…","legal":true,
//    "reasons":[],"nearest":null,"data":{…},"rows":24,"cols":80,"lines":[…],"styles":[…]}
//
// `data` is the view's own (ViewBody.json), with the unit in the key; what is not known is null.
#pragma once
#include "base/json.h"
#include "tui/session/session.h"

// Members of an object that the caller has opened, "view" to "data". After view_prepare().
void view_json(JsonWriter *writer, Session *session);

// ---- for several of them ------------------------------------------------------------------------

// A knob's name, null for KNOB_NONE.
void view_json_knob(JsonWriter *writer, const char *key, KnobId knob);
// "=", "-" or "+": a line of a difference.
void view_json_kind(JsonWriter *writer, DiffKind kind);
