/* perfdata.h - writes a perf.data file.
 *
 * Order of calls: perfdata_new(), perfdata_open(), then for each record
 * perfdata_begin(), its body by blob_u32() and so on, and perfdata_end() or,
 * for samples, perfdata_end_sample(). perfdata_finish() adds the feature
 * sections and the header, which comes first in the file but has the sizes of
 * all other parts. The file is little-endian, and perf 5.0 can read all of it.
 */
#pragma once
#include "formats/perf/perf.h"
#include "stitch/base/blob.h"

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

/* Loads captures and event types. Borrows code. Returns NULL and *err on
 * failure. */
struct perfdata *perfdata_new(struct store *db, const struct known_code *code,
			      struct err *err);
void perfdata_free(struct perfdata *pd);
/* Returns an event type; never NULL. */
const struct pd_event *perfdata_event(const struct perfdata *pd, int64_t type);
/* Writes the event types and gives ids to those with n > 0. out must be
 * seekable. */
int perfdata_open(struct perfdata *pd, FILE *out, struct err *err);
int perfdata_finish(struct perfdata *pd, struct err *err);

/* Begins a record; the caller adds its body to the returned buffer. */
struct blob *perfdata_begin(struct perfdata *pd, uint32_t type,
			    unsigned int misc);
/* Ends a record other than a sample. */
void perfdata_end(struct perfdata *pd, const struct pd_when *when);
void perfdata_end_sample(struct perfdata *pd);
/* Begins a sample and adds its fixed part. */
void perfdata_sample(struct perfdata *pd, unsigned int misc, uint64_t ip,
		     uint64_t period, const struct pd_when *when);

/* Adds at most max bytes of s, a 0, and zeros up to a multiple of align. */
void pd_text(struct blob *b, const char *s, size_t max, size_t align);
