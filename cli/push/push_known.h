/* push_known.h - what the files of this room share while a database is pushed.
 */
#pragma once
#include "cli/fleet/fleet_rows.h"
#include "cli/push/push_counts.h"
#include "cli/push/push_sender.h"
#include "stitch/base/intern.h"
#include "stitch/base/table.h"

struct push_server;

struct push {
	struct push_server *server;
	const struct push_options *o;
	struct push_sender sender;
	struct push_counts counts;
	struct fleet *f; /* the database that is pushed */
	uint64_t total;	 /* samples of its runs, */
	uint64_t done;	 /* and rows so far, for progress */
	/* What the server has, or is sent: of this database, and of all so far
	 * if nothing is sent. */
	struct intern stacks;
	struct table names;    /* places, and how good their names are there */
	bool name_is_new;      /* of the place before, */
	uint64_t name_version; /* and its version */
};

/* Send the stacks and names that the server lacks, of the database of a struct
 * push. Return 1, or -1 and *err. */
int push_stacks(void *push, struct err *err);
int push_names(void *push, struct err *err);
