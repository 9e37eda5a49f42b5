/* source.h - an open capture that hands out records. Implemented in formats/.
 *
 * Call order: open, scan once, then next / decode until next gives 0, close.
 * A ref is what order sorts: small, no pointers, cheap to spill. decode()
 * makes the record of a ref; refs may be decoded in any order, each once or
 * never, and release() says that it will not be asked for again (a source
 * that holds copies frees them then; NULL where nothing is held). */
#ifndef STITCH_SOURCE_H
#define STITCH_SOURCE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "stitch/base/clock_map.h"
#include "stitch/record.h"

struct err;
struct ledger;
struct source;

/* Equal times are given out in this order (backstitch-formats(5), "Order of
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
	uint64_t key;	 /* sort key: ns, or the place in an untimed capture */
	uint64_t seq;	 /* place in the source: breaks ties; unique */
	uint64_t handle; /* the source's own */
	uint32_t len;	 /* bytes of the record */
	uint16_t source; /* set by order */
	uint8_t class;	 /* enum record_class */
	uint8_t untimed;
};

/* One column of an event's fields. */
struct field_def {
	const char *name;
	bool is_text, is_signed, is_blob;
	bool is_stack; /* of the kernel: its frames are in rec_sample.held */
};

/* The value of one; text and blobs are borrowed until the next fields(). */
struct field {
	bool present;
	int64_t num;
	const char *text;
	const void *blob;
	uint32_t len;
};

/* What the capture recorded: one event of the command line. */
struct event_def {
	const char *name;   /* "cpu-clock", "sched:sched_switch" */
	const char *buffer; /* that it was recorded into, when there are
			     * several: then name is "BUFFER/..."; NULL:
			     * the only or first one */
	uint32_t type;	    /* perf_event_attr.type; 2: a tracepoint */
	uint64_t config, sample_type, period;
	bool freq; /* period is a frequency */
	bool has_chain, has_cpu, has_time, has_tid, has_period;
	bool defer;		     /* asks for deferred user stacks */
	bool defer_output;	     /* chains are written for it */
	bool kernel_only, user_only; /* exclude_user, exclude_kernel */
	enum sched_kind sched;	     /* what its samples say of scheduling */
	bool every;		     /* gives a sample each time it is hit */
	const char *format;	     /* text of the field format; NULL: none */
	const struct field_def *fields;
	uint32_t n_fields;
};

/* Who makes the cookies of a capture's requests. What is known of perf's does
 * not hold for others: how the kernel makes them, what happens to them when a
 * thread ends, and how others join them. */
enum cookie_maker {
	COOKIES_PERF,
	COOKIES_FTRACE,
	COOKIES_LTTNG, /* programs, by convention */
};

/* What a capture's times count (backstitch-formats(5), "Clocks of
 * captures"). */
enum clock_id {
	CLOCK_ID_NONE,	   /* not known, or no time at all: a count */
	CLOCK_ID_PERF,	   /* local_clock(): perf's default, ftrace's "perf" */
	CLOCK_ID_SCHED,	   /* sched_clock(): ftrace's "local" */
	CLOCK_ID_GLOBAL,   /* the same, made monotonic over the CPUs */
	CLOCK_ID_MONO,	   /* CLOCK_MONOTONIC */
	CLOCK_ID_MONO_RAW, /* and so on */
	CLOCK_ID_BOOT,
	CLOCK_ID_REAL,
	CLOCK_ID_TAI,
	CLOCK_ID_TSC, /* cycles of x86's counter */
};

enum tri {
	TRI_UNKNOWN = -1,
	TRI_NO,
	TRI_YES
};

/* About the capture as a whole. Strings are the source's; NULL: not said. */
struct source_info {
	const char *host, *release, *version, *arch, *cmdline, *cpudesc;
	const char *clock;		 /* "perf", "monotonic", ... */
	int32_t cpus_online, cpus_avail; /* -1: not said */
	bool big_endian, compressed, pipe, dir, overwrite;
	bool overwrote; /* the oldest records of the rings are surely
			 * gone; their sums are of these */
	bool has_time;	/* events have times */
	bool exact;	/* nothing can come late */
	bool truncated; /* ends in the middle, or was never finished */
	bool injected;	/* rewritten by perf inject */
	bool filtered;	/* by its command line some events leave some
			 * tasks or hits out */
	bool paused;	/* by its command line it may have stopped for
			 * a while */
	enum cookie_maker cookies;
	enum tri system_wide; /* all CPUs, all tasks */
	bool whole_tasks;     /* a task that is recorded is so on all CPUs,
			       * with what it forks */
	uint64_t first_ns, last_ns; /* from the scan; 0,0 not known */
	uint64_t records;	    /* from the scan; 0 not known */
	uint64_t user_mask;	    /* of user addresses; clears pointer
				     * authentication bits. All ones: none */
	const uint8_t *kernel_id;   /* build-id of the kernel; NULL: not said */
	uint8_t kernel_id_len;
	enum clock_id clock_id;
	uint64_t wall_ns, wall_clock_ns; /* the same moment; 0: not said */
	struct tsc_conv tsc;
	const struct source *on; /* whose clock the times are on already, by
				  * the capture itself; NULL: none */
	uint8_t boot_id[16];	 /* of the kernel's run */
	bool has_boot_id;
	/* The recorded machine's /proc/kallsyms, when the capture has it: the
	 * source's, until it is closed. NULL: none. */
	const char *kallsyms;
	size_t kallsyms_len;
	/* What processes had mapped, by the capture itself; the source's. */
	const struct snapshot *maps;
	size_t n_maps;
};

/* A build-id that the capture says about a path: header table of perf. */
struct build_id_def {
	const char *path;
	int32_t pid; /* -1: the host */
	bool kernel;
	uint8_t id[20], id_len;
};

struct source_opts {
	uint16_t index;	       /* which source it will be, for the ledger */
	bool no_scan;	       /* tests: take the window path for files */
	uint64_t slack_ns;     /* pipes: hold back this much more */
	uint64_t window_bytes; /* pipes: flush when more is held */
	const char *temp_dir;  /* where a stdin copy may go; NULL: /tmp */
	/* Templates of the lines of processes that unwind themselves, ending
	 * with NULL; NULL: those that we document. Borrowed until close. */
	const char *const *nonce_format;
	/* A copy of the recorded machine's /proc/kallsyms, for captures that
	 * have none; NULL. */
	const char *kallsyms;
	const char *clock;   /* of one that does not say; NULL: not known */
	const char *formats; /* folder with formats of events, and what
			      * else is not beside raw pages; NULL: none */
	bool no_fields;	     /* nobody asks for fields or payloads */
	/* Which events ask for a stack, "NAME(COOKIE)", and which bring it,
	 * "NAME(COOKIE,ADDRESSES)", by spaces; NULL: the format's default. */
	const char *request, *chain;
};

struct source_ops {
	const char *name;    /* "perf" */
	const char *summary; /* one line for help */
	/* How sure, 0..100, that it is ours; head: the first n bytes. */
	int (*probe)(const char *path, const void *head, size_t n);
	/* path "-": stdin. NULL and *err when nothing can be read. */
	struct source *(*open)(const char *path, const struct source_opts *o,
			       struct ledger *lg, struct err *err);
	/* Fills info, events, build_ids as far as the file tells before the
	 * first record. 0, or -1 and *err. */
	int (*scan)(struct source *src, struct err *err);
	/* 1 and *ref, 0 the end, -1 an error; src->floor is up to date. */
	int (*next)(struct source *src, struct ref *ref, struct err *err);
	/* 0 and *rec, valid until the next decode(); -1 and *err when the
	 * record is broken: the caller counts it as damage and goes on. */
	int (*decode)(struct source *src, const struct ref *ref,
		      struct record *rec, struct err *err);
	void (*release)(struct source *src, const struct ref *ref);
	/* Do two refs have the same bytes? */
	bool (*same)(struct source *src, const struct ref *a,
		     const struct ref *b);
	/* The fields of a sample's raw payload, one for each field_def of
	 * its event, into out[n_fields]. NULL: the format has none. */
	int (*fields)(struct source *src, const struct rec_sample *s,
		      struct field *out, struct err *err);
	/* The human text of a raw payload into buf; NULL: none. */
	int (*print)(struct source *src, const struct rec_sample *s, char *buf,
		     size_t size);
	/* All records in file order as text, for 'backstitch dump': calls fn
	 * with one line (several with \n) each. NULL: not offered. */
	int (*dump)(struct source *src,
		    int (*fn)(void *arg, const char *text, struct err *err),
		    void *arg, struct err *err);
	void (*close)(struct source *src); /* NULL is fine */
};

/* First member of every format's own struct. */
struct source {
	const struct source_ops *ops;
	char *path;
	struct ledger *ledger; /* borrowed */
	uint16_t index;	       /* set by order_add before next() */
	uint64_t pos, size;    /* bytes read, bytes in all (0: not known) */
	uint64_t floor;	       /* no later ref has a smaller key; UINT64_MAX
				* once everything was handed out */
	struct source_info info;
	const struct event_def *events; /* may move when next() adds one */
	uint32_t n_events;
	const struct build_id_def *build_ids;
	uint32_t n_build_ids;
};

/* Its name without the buffer's: events of one kind have one. */
static inline const char *event_plain_name(const struct event_def *e)
{
	return e->buffer && e->name ? e->name + strlen(e->buffer) + 1 : e->name;
}

static inline void source_close(struct source *src)
{
	if (src)
		src->ops->close(src);
}
#endif
