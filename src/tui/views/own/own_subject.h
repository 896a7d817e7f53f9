// The answers to other views about the opened kernel (session/subject.h), one file each:
// own_slab.c, own_atom.c, own_text.c.
#pragma once
#include "tui/session/subject.h"
#include "tui/views/own/opened.h"

// An array as a buffer of shared memory, in elements of its size, or of 4 bytes where no type has
// that.
Buffer *own_buffer(Arena *arena, const OpenedArray *array, int id);

// Whether a site is an access that the other views show: to shared memory, with an operation of the
// bank engine.
bool own_is_listed(const OpenedSite *site);

bool own_slab_problem(Arena *arena, Session *session, SlabProblem *out, Diags *diags);
const char *own_lay(Session *session, const char *layout, Diags *diags);
SubjectAtom own_atom(Session *session);
SubjectText own_text(Session *session);
