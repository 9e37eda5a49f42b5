/* perfdata.h - writes a perf.data file.
 *
 * Order of calls: perfdata_new(), perfdata_open(), then for each record
 * perfdata_begin(), its body by blob_u32() and so on, and perfdata_end() or,
 * for samples, perfdata_end_sample(). perfdata_finish() adds the feature
 * sections and the header, which comes first in the file but has the sizes of
 * all other parts. The file is little-endian; perf 5.0 can read all of it. */
#pragma once
#include <stdbool.h>

#include "formats/perf/perf.h"
#include "stitch/base/blob.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/tasks/space.h"

struct image;
struct region;
struct known_code;
struct err;
struct store;

/* Bits of misc, by the type of the record. */
#define PD_COMM_EXEC (1u << 13)
#define PD_FORK_EXEC (1u << 13) /* the child does not get the parent's maps */
#define PD_SWITCH_OUT (1u << 13)
#define PD_SWITCH_PREEMPT (1u << 14)
#define PD_HAS_BUILD_ID (1u << 14)

#define PD_CONTEXT_KERNEL ((uint64_t)-128)
#define PD_CONTEXT_USER ((uint64_t)-512)

/* A record's size is a u16. */
#define PD_RECORD_MAX 65528u

#define PD_NAME_MAX 4000u

/* Instead of a time: from the start of the capture on. */
#define PD_START INT64_MIN

/* An event type of the database. */
struct pd_event {
	const char *name, *format; /* format NULL: none */
	uint32_t capture, type;
	uint64_t config, period;
	bool sample, freq, chain;
	bool payload; /* the database has it */
	bool raw;     /* the file has it too */
	uint64_t n;   /* events that are exported */
	uint32_t id;  /* id in the file, 1 and up; 0: not in the file */
};

struct pd_capture {
	const char *format, *host, *release, *version, *arch, *cmdline;
	const char *clock;
	int64_t cpus;
	bool big_endian, long32;
	bool has_wall;
	int64_t wall_offset; /* ns to add to a time for ns since 1970 */
	uint64_t user_mask;  /* of the addresses of its programs */
};

struct perfdata {
	struct store *db;
	const struct known_code *code;
	FILE *out;
	struct blob buf; /* records that were not written yet */
	size_t rec;	 /* start of the current record */
	uint64_t written, data_at, n_round;
	struct pd_event *event; /* by event_type.id - 1 */
	size_t n_event, cap_event;
	struct pd_capture *capture; /* by capture.id - 1 */
	size_t n_capture, cap_capture;
	uint32_t n_id;
	/* Set before perfdata_open(). */
	bool selected; /* some threads or CPUs are left out */
	bool timed, on_cpu, switches;
	int64_t first, last, max_cpu;
	struct blob tracing; /* feature section 1; empty: none */
	struct arena texts;
};

/* The thread, time and CPU of a record. */
struct pd_when {
	int64_t pid, tid, time, cpu; /* time PD_START, cpu -1: not known */
	uint32_t id;		     /* 0: of the first event */
};

/* Loads captures and event types. Borrows db and code. Returns NULL and *err on
 * failure. */
struct perfdata *perfdata_new(struct store *db, const struct known_code *code,
			      struct err *err);
void perfdata_free(struct perfdata *pd);
/* Returns an event type, an empty one for an unknown id. */
const struct pd_event *perfdata_event(const struct perfdata *pd, int64_t type);
/* Gives ids to sampled event types with n > 0 and writes these. out must be
 * seekable. Returns 0, or -1 and *err. */
int perfdata_open(struct perfdata *pd, FILE *out, struct err *err);
/* Writes what is left, and the header. Returns 0, or -1 and *err. */
int perfdata_finish(struct perfdata *pd, struct err *err);

/* Begins a record; the caller adds its body to the returned buffer. */
struct blob *perfdata_begin(struct perfdata *pd, uint32_t type,
			    unsigned int misc);
/* End a record: perfdata_end() all but samples, with thread and time. */
void perfdata_end(struct perfdata *pd, const struct pd_when *when);
void perfdata_end_sample(struct perfdata *pd);
/* Begins a sample and adds its fixed part. */
void perfdata_sample(struct perfdata *pd, unsigned int misc, uint64_t ip,
		     uint64_t period, const struct pd_when *when);

/* Adds at most max bytes of s, a 0, and zeros up to a multiple of align. */
void pd_text(struct blob *b, const char *s, size_t max, size_t align);

/* The mappings of the database are written at their times. Before a sample is
 * written, each of its frames is looked up as the reader will do it. If that
 * finds other code (jitted code that was replaced, code of the program before
 * an exec), a mapping that corrects it is written. */

/* A frame has its recorded address. Words about a stack, such as
 * [user: chain_lost], and code that is known only by name get addresses that
 * are far from all recorded ones. */

/* A symbol of the kernel that the file itself must name. */
struct pd_symbol {
	uint64_t start;
	uint32_t len;
	const char *name;
};

/* Read only. */
struct pd_places {
	struct pd_symbol *symbol; /* those that the file must have, by start */
	size_t n_symbol, cap_symbol;
	bool *named; /* by image: symbols of it are in the file */
	/* Private. */
	const struct known_code *code;
	uint64_t *ip;
	size_t cap_ip;
	uint64_t mark_at;
	struct image *mark;
	size_t n_mark, cap_mark;
	struct table by_start, by_key; /* symbols; symbols without an address */
	uint32_t n_key;
	struct arena text;
};

/* Finds the addresses of all code, which is borrowed. */
struct pd_places *pd_places_new(const struct known_code *code);
void pd_places_free(struct pd_places *p);

/* Returns the addresses of a chain, valid until the next call. user_mask: for a
 * user half; all ones for a kernel half. */
const uint64_t *pd_places_chain(struct pd_places *p, uint32_t raw,
				uint64_t user_mask, size_t *n);
/* Returns the address of "[user: WORD]", for pd_maps_mark(); 0: none free. */
uint64_t pd_places_mark(struct pd_places *p, const char *word);

struct pd_row {
	struct region r;	/* t0 PD_START: from the start on */
	uint32_t process, next; /* process.id, 0: the kernel; its next row */
};

/* Read only. */
struct pd_maps {
	struct pd_row *row;
	size_t n_row, cap_row;
	/* Private. */
	struct perfdata *pd;
	struct pd_places *places;
	uint32_t *first; /* by process.id: its newest row */
	size_t n_first, cap_first;
	struct space *space;
	size_t n_space, cap_space;
	struct table by_chain; /* from space and chain to checked[] */
	uint32_t *checked;     /* generation of the space when it was checked */
	size_t n_checked, cap_checked;
	bool *own_id; /* by image: another one with its path has another id */
};

/* Reads all mappings. Borrows pd and places. NULL and *err on failure. */
struct pd_maps *pd_maps_new(struct perfdata *pd, struct pd_places *places,
			    struct err *err);
void pd_maps_free(struct pd_maps *m);

/* Writes a recorded mapping, unless a reader knows it. A space is the number, 0
 * and up, of what a reader knows under one process id. */
void pd_maps_row(struct pd_maps *m, uint32_t row, uint32_t space, int64_t pid,
		 int64_t time);
/* Note that a reader copies, or forgets, all mappings of a space. */
void pd_maps_fork(struct pd_maps *m, uint32_t child, uint32_t parent);
void pd_maps_exec(struct pd_maps *m, uint32_t space);
/* Writes the kernel code that the file must name. */
void pd_maps_symbols(struct pd_maps *m);

/* The process of a sample (process.id; 0: not known). */
struct pd_who {
	uint32_t space, process;
	int64_t pid, tid, time; /* tid: for the mappings that are written */
	uint64_t user_mask;
};
/* Write mappings in which a reader finds a chain's frames, or a mark. */
void pd_maps_chain(struct pd_maps *m, uint32_t raw, const struct pd_who *who);
void pd_maps_mark(struct pd_maps *m, uint64_t addr, const struct pd_who *who);
