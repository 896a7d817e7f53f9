// The content of a view as data: for `gemmview show VIEW --json` and `:save-display x.json`.
//
//   {"schema":"gemmview/1","command":"show","view":"banks","state":"BM=16,…","legal":true,
//    "reasons":[],"nearest":null,"data":{…},"rows":24,"cols":80,"lines":[…],"styles":[…]}
//
// `data` is the view's own (ViewBody.form), with the unit in the key; an unknown value is null.
#pragma once
#include "tui/frame/view.h"

// The whole document, after view_prepare() and view_draw(). `command`: that asked for it; NULL:
// none.
void view_document(JsonWriter *writer, Session *session, const Canvas *canvas, const char *command);

// "show_banks" and the others: the form of each view's document.
#define VIEW(id, key, title, beside, help) extern const Form show_##id##_form;
#include "tui/frame/views.def"
#undef VIEW

// ---- for several of them ------------------------------------------------------------------------

const char *view_knob_name(KnobId knob);    // NULL for KNOB_NONE
const char *view_diff_sign(DiffKind kind);  // "=", "-" or "+": a line of a difference
