// The pipeline view's proof: whether the program is right in every order, asked for by a key.
//
// The search goes on beside, on a thread; no key waits for it. It says how far it is, and the key
// that asked for it, or another question, gives it up.
//
//   PipelineOrders *orders = orders_new();
//   orders_ask(orders, &targets, &schedule, BREAK_COUNT);
//   if (orders_poll(orders)) …                     the answer has come
//   orders_draw(canvas, in, orders, step);         as far as it is; a step of the witness in the
//   middle orders_free(orders);                           waits until it has given up
#pragma once
#include "model/interp/breakage.h"
#include "model/words/knob.h"
#include "model/words/target.h"
#include "tui/canvas/canvas.h"

typedef struct PipelineOrders PipelineOrders;

PipelineOrders *orders_new(void);
void orders_free(PipelineOrders *orders);
// The last question counts; the same one again keeps its answer. `breakage`: BREAK_COUNT: none.
void orders_ask(PipelineOrders *orders, const TargetTable *targets, const Schedule *schedule,
                BreakageId breakage);
void orders_give_up(PipelineOrders *orders);
bool orders_is_under_way(const PipelineOrders *orders);
// Without waiting; true: something is there that was not when it was asked for last.
bool orders_poll(PipelineOrders *orders);
int orders_count(const PipelineOrders *orders);  // steps of a witness; 0: there is none
void orders_draw(Canvas *canvas, Rect in, const PipelineOrders *orders, int step);
