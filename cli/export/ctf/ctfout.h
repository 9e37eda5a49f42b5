/* ctfout.h - a database as a trace of the Common Trace Format, written by
 * libbabeltrace2.
 *
 * ctfout_source.c is a source component class: it reads a database and returns
 * libbabeltrace2's messages, in time order. The program connects it with
 * sink.ctf.fs; babeltrace2 loads it as the plugin "backstitch"
 * (ctfout_plugin.c). This folder alone uses the library. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct err;
struct filter;
struct store;

/* What the messages are made of; borrowed. */
struct ctfout_input {
	struct store *db;
	const struct filter *filter; /* which events */
	bool samples;		     /* every sample weighs 1 */
	struct err *err;   /* our own error, if the graph fails; or NULL */
	uint64_t *content; /* set to a hash of the events, 0 if none; or NULL */
};

/* Writes the trace into a folder that does not exist. Returns 0, or -1 and
 * *err: what was written stays. It always fails without libbabeltrace2. */
int ctfout_write(const struct ctfout_input *in, const char *folder,
		 struct err *err);
