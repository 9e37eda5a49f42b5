/* source.h - the interface of an open capture. Implemented in formats/.
 *
 * Call order: open, scan once, next and decode until next returns 0, close.
 * next() returns refs, which order sorts: a ref is small and has no pointers,
 * so it can be written to a temporary file. decode() makes the record of a ref.
 * Refs may be decoded in any order, each at most once. release() tells a source
 * that the caller is done with a ref, so that it can free its copy; it is NULL
 * if the source keeps no copies. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "stitch/base/clock_map.h"
#include "stitch/record.h"

struct arena;
struct err;
struct ledger;
struct path_files;
struct source;

/* Records of equal times are ordered by class (backstitch-formats(5), "Order of
 * events"). */
enum record_class {
	CLASS_FORK,
	CLASS_COMM,
	CLASS_SPACE, /* namespaces, cgroups */
	CLASS_MAP,   /* mappings, kernel symbols, text poke */
	CLASS_LOST,
	CLASS_SWITCH_IN,
	CLASS_SAMPLE,
	CLASS_CHAIN,
	CLASS_SWITCH_OUT,
	CLASS_EXIT,
};

struct ref {
	uint64_t key;	 /* sort key: ns, or the position in a capture without
			  * times */
	uint64_t seq;	 /* position in the source; unique, breaks ties */
	uint64_t handle; /* private to the source */
	uint32_t len;	 /* size of the record in bytes */
	uint16_t source; /* set by order */
	uint8_t kind;	 /* enum record_class */
	uint8_t untimed;
};

/* One column of an event's fields. */
struct field_def {
	const char *name;
	bool is_text, is_signed, is_blob;
	bool is_stack; /* a kernel stack; its frames are in rec_sample.held */
};

/* The value of a field. text and blob are borrowed until the next fields(). */
struct field {
	bool present;
	int64_t num;
	const char *text;
	const void *blob;
	uint32_t len;
};

/* How the samples of an event come about. */
enum event_how {
	EVENT_COUNT,  /* each occurrence makes a sample */
	EVENT_SAMPLE, /* one sample for a number of occurrences: its weight */
	EVENT_READ,   /* counted in the samples of another event of its group */
	EVENT_MARK,   /* makes no samples, but other records */
};

/* One event of the recorder's command line. */
struct event_def {
	const char *name;   /* "cpu-clock", "sched:sched_switch" */
	const char *buffer; /* the buffer it was recorded into, if there are
			     * several: name is "BUFFER/..." then; NULL: the
			     * only or first one */
	uint32_t type;	    /* perf_event_attr.type; 2: a tracepoint */
	uint64_t config, sample_type, period;
	bool freq; /* period is a frequency in Hz */
	bool has_chain, has_cpu, has_time;
	bool defer;	       /* asks for deferred user stacks */
	bool defer_output;     /* deferred chains are written for this event */
	enum sched_kind sched; /* what its samples mean for scheduling */
	bool every; /* each occurrence makes a sample, and none is left out */
	enum event_how how;
	const char *unit; /* of the weights; NULL: "ns" for perf's clocks, else
			   * "events" */
	const char *format; /* text of the format file; NULL: none */
	const struct field_def *fields;
	uint32_t n_fields;
	bool adds_fields; /* some fields are not in the payload */
};

/* Who makes the cookies. How cookies are made, what happens to them when a
 * thread ends, and how other tools join them is known for perf only. */
enum cookie_maker {
	COOKIES_PERF,
	COOKIES_FTRACE,
	COOKIES_LTTNG, /* programs, by a documented convention */
};

/* The clock that gives a capture its times (backstitch-formats(5), "Clocks of
 * captures"). */
enum clock_id {
	CLOCK_ID_NONE,	   /* unknown, or a count instead of a time */
	CLOCK_ID_PERF,	   /* local_clock(): perf's default, ftrace's "perf" */
	CLOCK_ID_SCHED,	   /* sched_clock(): ftrace's "local" */
	CLOCK_ID_GLOBAL,   /* sched_clock() made monotonic across CPUs */
	CLOCK_ID_MONO,	   /* CLOCK_MONOTONIC */
	CLOCK_ID_MONO_RAW, /* CLOCK_MONOTONIC_RAW, and so on */
	CLOCK_ID_BOOT,
	CLOCK_ID_REAL,
	CLOCK_ID_TAI,
	CLOCK_ID_TSC, /* x86 TSC cycles */
};

enum tri {
	TRI_UNKNOWN = -1,
	TRI_NO,
	TRI_YES
};

/* The filter that 'record' sets for softirqs: all but those of packets, NET_TX
 * and NET_RX. */
#define NO_PACKETS_FILTER "vec != 2 && vec != 3"

/* Properties of the whole capture. The source owns the strings; NULL:
 * unknown. */
struct source_info {
	const char *host, *release, *version, *arch, *cmdline, *cpudesc;
	const char *clock;		 /* "perf", "monotonic", ... */
	int32_t cpus_online, cpus_avail; /* -1: unknown */
	bool big_endian, compressed, pipe, dir, overwrite;
	bool overwrote; /* the oldest records were overwritten; LOST_SAMPLES
			 * counts them */
	bool has_time;	/* records have times */
	bool dumps;	/* samples may have a copy of their stack */
	uint32_t dump_bytes; /* maximum size of that copy */
	uint16_t max_stack; /* maximum number of frames that the kernel keeps of
			     * a sample; 0: unknown, or not the same for all
			     * events */
	bool exact;	    /* no record can be late */
	bool truncated;	    /* incomplete: cut off, or the recorder did not
			     * finish */
	bool calls; /* records of system calls may come from events that are not
		     * known yet */
	bool maps_code; /* each mapping of code makes a record, and the recorder
			 * lists earlier mappings */
	bool injected;	/* perf inject wrote it */
	bool no_packets; /* the events of softirqs have NO_PACKETS_FILTER */
	/* For a piece of a stream that was cut: numbers of the places at which
	 * it begins and ends. The piece that begins where another one ends
	 * continues it; 0: none. */
#define CUT_UNKNOWN 1 /* cut_behind: the piece was not stored to its end */
	uint64_t cut_before, cut_behind;
	bool filtered; /* by its command line, events leave out some tasks or
			* hits */
	bool paused;   /* by its command line, recording may have paused */
	bool unpaused; /* by its command line, recording cannot have paused:
			* only perf itself turns its events off, but anyone can
			* use tracing_on and lttng stop */
	bool pieces;   /* by its command line, the recorder continued in other
			* files */
	enum cookie_maker cookies;
	enum tri system_wide; /* all CPUs and all tasks are recorded */
	bool whole_tasks; /* a recorded task is recorded on all CPUs, with its
			   * children */
	uint64_t first_ns, last_ns; /* from the scan; 0, 0: unknown */
	uint64_t records;	    /* from the scan; 0: unknown */
	uint64_t user_mask; /* bits of a user address; the others are pointer
			     * authentication: see user_mask_of() */
	const uint8_t *kernel_id; /* build-id of the kernel; NULL: unknown */
	uint8_t kernel_id_len;
	enum clock_id clock_id;
	uint64_t wall_ns,
		wall_clock_ns; /* the same moment on both clocks; 0: unknown */
	struct tsc_conv tsc;
	const struct source *on; /* source whose clock this capture's times
				  * already use; NULL: none */
	uint8_t boot_id[16];	 /* identifies the boot of the kernel */
	bool has_boot_id;
	/* /proc/kallsyms of the recorded machine, if the capture contains it;
	 * owned by the source. NULL: none. */
	const char *kallsyms;
	size_t kallsyms_len;
	/* Mappings of processes that the capture contains; owned by the source.
	 */
	const struct snapshot *maps;
	size_t n_maps;
};

/* A build-id from perf's header table, by path. */
struct build_id_def {
	const char *path;
	int32_t pid; /* -1: the host */
	bool kernel;
	uint8_t id[20], id_len;
};

struct source_opts {
	uint16_t index; /* index of the source, for the ledger */
	bool no_scan; /* for tests: read files through the window, like pipes */
	uint64_t slack_ns;     /* pipes: additional ns to hold records back */
	uint64_t window_bytes; /* pipes: output records when more bytes are
				* held */
	uint64_t memory_bytes; /* for records that wait; 0: 256 MiB */
	const char *temp_dir;  /* folder for a copy of stdin; NULL: /tmp */
	/* Templates for the log lines of processes that unwind themselves,
	 * followed by NULL; NULL: the documented ones. Borrowed until close. */
	const char *const *nonce_format;
	/* /proc/kallsyms of the recorded machine, for captures without it;
	 * NULL: none. */
	const char *kallsyms;
	const char *clock;   /* clock of captures that do not name theirs; NULL:
			      * unknown */
	const char *formats; /* folder with event formats, and other files that
			      * belong to raw pages; NULL: none */
	const char *stats;   /* folder with tracefs' cpuN/stats of a text; NULL:
			      * look next to it */
	int32_t cpus;	/* number of the machine's CPUs that were on, in place
			 * of what the capture has; 0: not given */
	bool no_fields; /* fields and payloads will not be read */
	/* Events that request a stack, "NAME(COOKIE)", and events that deliver
	 * it, "NAME(COOKIE,ADDRESSES)", separated by spaces; NULL: the format's
	 * default. */
	const char *request, *chain;
	/* More folders of the capture, then NULL, for chunks of one LTTng
	 * session; NULL: none. Borrowed until open() is back. */
	char *const *more;
};

/* Takes the text of a record that 'backstitch dump' shows. */
typedef int source_text_fn(void *arg, const char *text, struct err *err);

struct source_ops {
	const char *name;    /* "perf" */
	const char *summary; /* one line for the help text */
	/* Returns 0..100: how certain it is that the capture has this format.
	 * head points to its first n bytes. */
	int (*probe)(const char *path, const void *head, size_t n);
	/* Opens a capture; path "-" is stdin. Returns NULL and fills *err on
	 * failure. */
	struct source *(*open)(const char *path, const struct source_opts *o,
			       struct ledger *lg, struct err *err);
	/* Fills info, events and build_ids as far as they are known before the
	 * first record. Returns 0, or -1 and *err. */
	int (*scan)(struct source *src, struct err *err);
	/* Returns 1 and *ref, 0 at the end, -1 on error; updates src->floor. */
	int (*next)(struct source *src, struct ref *ref, struct err *err);
	/* Decodes a record; *rec is valid until the next decode(). Returns 0,
	 * or -1 and *err if the record is damaged: the caller counts it and
	 * continues. */
	int (*decode)(struct source *src, const struct ref *ref,
		      struct record *rec, struct err *err);
	/* Tells the source that no more refs will be decoded, so that it can
	 * give back memory before close(). Memory that records point to stays
	 * readable, also during the call. Called by the thread that calls
	 * next(); NULL: nothing to do. */
	void (*decoded)(struct source *src);
	/* Returns true if next(), decode() and release() may be called by
	 * another thread than fields() and print(), and payloads and stack
	 * dumps of records stay where they are until close(). They must not
	 * write to src, but for floor, pos, events and n_events. NULL:
	 * false. */
	bool (*apart)(const struct source *src);
	/* All memory that a record points to, except calls and places, is valid
	 * until release(). With apart() that is enough. */
	bool lasting;
	/* decode() puts memory that a record points to into src->arena, if
	 * there is one, or the memory is valid until close(). */
	bool fills_arena;
	void (*release)(struct source *src, const struct ref *ref);
	/* Returns true if two refs have the same bytes. */
	bool (*same)(struct source *src, const struct ref *a,
		     const struct ref *b);
	/* Stores the fields of a sample's payload in out, one for each
	 * field_def of its event. NULL: the format has no fields. */
	int (*fields)(struct source *src, const struct rec_sample *s,
		      struct field *out, struct err *err);
	/* Stores a payload as text in buf. NULL: not supported. */
	int (*print)(struct source *src, const struct rec_sample *s, char *buf,
		     size_t size);
	/* Calls fn for each record in file order, with its text of one or more
	 * lines, for 'backstitch dump'. NULL: not supported. */
	int (*dump)(struct source *src, source_text_fn *fn, void *arg,
		    struct err *err);
	void (*close)(struct source *src); /* NULL is allowed */
};

/* First member of every format's own struct. */
struct source {
	const struct source_ops *ops;
	char *path;
	const char *shown;     /* name to show; borrowed; NULL: path */
	struct ledger *ledger; /* borrowed */
	uint16_t index;	       /* set by order_add before next() */
	uint64_t pos, size;    /* bytes read and total; size 0: unknown */
	struct arena *arena;   /* the caller's, for decode(), if the source has
				* fills_arena; NULL: none */
	uint64_t floor; /* no later ref has a smaller key; UINT64_MAX at the
			 * end */
	struct source_info info;
	const struct event_def
		*events; /* next() may add events and move the array */
	uint32_t n_events;
	const struct build_id_def *build_ids;
	uint32_t n_build_ids;
	/* The files that programs mapped, as far as known before the first
	 * record; NULL: unknown. */
	const struct path_files *files;
};

/* Returns the event's name without its buffer: the same for all events of a
 * kind. */
static inline const char *event_plain_name(const struct event_def *e)
{
	return e->buffer && e->name ? e->name + strlen(e->buffer) + 1 : e->name;
}

static inline void source_close(struct source *src)
{
	if (src)
		src->ops->close(src);
}
