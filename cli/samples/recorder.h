/* recorder.h - how to record what a database lacks, with the recorder that made
 * its captures. */
#pragma once

struct err;
struct store;

enum recorder_lack {
	LACKS_STACKS,
	LACKS_SWITCHES,
	LACKS_WAKES, /* and switches */
	RECORDER_LACKS
};

/* Returns the command, as text that stays; perf's where captures of several
 * recorders are together. NULL and *err: the database cannot be read. */
const char *recorder_cure(struct store *db, enum recorder_lack lack,
			  struct err *err);
