/* run.h - runs programs over the bytes of a packet.
 *
 * ctf_run() reads what the program says from state->cur. It never reads past
 * cur.end, allocates only if a list is longer than all before, and stops with
 * state->why at bytes that do not fit the class. */
#pragma once
#include "formats/ctf/decode/program.h"
#include "formats/ctf/decode/state.h"

/* Returns 0, or -1 and state->why. */
int ctf_run(const struct ctf_program *p, struct ctf_state *st);
/* The same for an event header; at once if it is a struct ctf_brief_header. */
int ctf_run_header(const struct ctf_program *p, struct ctf_state *st);
