/* ctf.h - declarations shared by the files of the CTF reader, which reads LTTng
 * sessions and the output of perf data convert.
 *
 * ctf_open() finds the traces: every folder below the path with a metadata
 * file, which meta/ parses (schema.c). It walks the packets of all stream files
 * once (file.c) and chains the files of a stream (stream.c): those of rotated
 * chunks have one uuid, so they are one trace. ctf_next() decodes the earliest
 * event of all streams (event.c): packets are found by stream.c and lost ones
 * noted, decode/ reads an event, event.c makes items of it. An item waits until
 * it is decoded into a record by ctf_item_decode() and freed by
 * ctf_item_release().
 *
 * The payload of an event is converted to ftrace's layout, numbers at fixed
 * offsets followed by text and blobs, with a format text (plan.c). So all code
 * for ftrace's payloads (formats/tracepoint/tracepoint.h) can read it. */
#pragma once
#include <stdbool.h>

#include "formats/ctf/decode/run.h"
#include "formats/ctf/meta/tree.h"
#include "formats/ctf/pool.h"
#include "formats/reader/bounds.h"
#include "formats/reader/task_rules.h"
#include "stitch/base/turns.h"
#include "formats/tracepoint/tracepoint.h"
#include "stitch/base/ledger.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/record.h"
#include "stitch/source.h"

struct dirent;

struct ctf;

extern const struct source_ops ctf_ops;

/* Returns what names the LTTng session of the first trace below a folder, for
 * the caller to free; NULL: there is none. */
char *ctf_session(const char *path);

/* ---- schema.c: metadata, and what is made of it */

/* An event class, as its events are read. */
struct ctf_class {
	bool made;
	bool chain;
	uint32_t event;		   /* index in ctf.event */
	uint32_t fixed;		   /* bytes of the payload's first part */
	struct ctf_program packet; /* fields of the packet; n 0: none */
	struct ctf_program event_fields;
};

/* How the packets and events of a stream class are read. */
struct ctf_plan {
	const struct ctf_stream_class *sc;
	struct ctf_program packet, header;
	struct ctf_class *classes; /* as sc->event */
	/* The largest so far: bytes of a packet, bits of an event. */
	uint64_t packet_most, event_most;
};

/* Metadata. Chunks and processes with equal metadata share it. */
struct ctf_schema {
	uint64_t hash, len; /* of its file */
	struct arena arena;
	struct ctf_tree tree;
	struct ctf_program head;
	struct ctf_plan *plan; /* as tree.stream */
	uint32_t n_slot;       /* the most of all stream classes */
	bool lttng, perf;      /* who wrote it */
	bool joined;	       /* we: its events have their late stacks */
	bool loose;	       /* its packets may end before their last event */
	bool ends_all;	       /* stopping it ends all streams with a packet */
	bool of_linux; /* its numbers of threads and CPUs are those of Linux */
	struct halves halves;
	struct err *err; /* why it cannot be read; NULL: it can */
};

/* Returns the schema of metadata; sm->err says if it cannot be read. */
struct ctf_schema *ctf_schema_new(const struct bytes *meta);
void ctf_schema_free(struct ctf_schema *sm);
/* Returns the schema of a metadata file; ctf owns it. */
struct ctf_schema *ctf_schema_of(struct ctf *ctf, const char *path);
/* Returns the clock of a stream class, or NULL. */
const struct ctf_clock *ctf_schema_clock(const struct ctf_schema *sm,
					 const struct ctf_stream_class *sc);
/* Converts a clock's value to ns, without its offset. */
uint64_t ctf_clock_ns(const struct ctf_clock *clock, uint64_t value);
/* Sets *out to the zero of a clock of the schema in ns since 1970: that of the
 * first trace with the same clock. Returns false if it is out of range. */
bool ctf_clock_zero(const struct ctf *ctf, const struct ctf_schema *sm,
		    const struct ctf_clock *clock, int64_t *out);
/* Returns the first clock of a trace's streams, or NULL. */
const struct ctf_clock *ctf_schema_first_clock(const struct ctf_schema *sm);
/* Parses "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx". Returns false if s (may be
 * NULL) is something else. */
bool ctf_uuid_parse(const char *s, uint8_t out[CTF_UUID]);

/* ---- packets */

struct ctf_packet {
	uint64_t off;	  /* in the file */
	uint64_t len;	  /* bytes, with what pads it */
	uint64_t end;	  /* of its content, bits */
	uint64_t context; /* where its context begins, bits */
	uint64_t body;	  /* where its first event begins, bits */
	bool cut;	  /* the file ends inside it */
	struct ctf_plan *plan;
	/* Clock values; without has_end the end is unknown. */
	uint64_t begin, finish;
	bool has_begin, has_end;
};

/* Reads the head of the packet at *b, which reaches to the file's end, with its
 * effects on st; uuid NULL: any. Returns 0, or -1 and st->why. */
int ctf_packet_read(const struct ctf_schema *sm, struct ctf_state *st,
		    const struct bytes *b, const uint8_t *uuid,
		    struct ctf_packet *out);
/* Returns the distance from *b to the next whole packet after `from`, which is
 * *out, or to the end if there is none. */
uint64_t ctf_packet_find(const struct ctf_schema *sm, struct ctf_state *st,
			 const struct bytes *b, uint64_t from,
			 const uint8_t *uuid, struct ctf_packet *out);
/* Sets uuid to the one that the packets of a file have. Returns false if they
 * have none. */
bool ctf_packet_uuid(const struct ctf_schema *sm, struct ctf_state *st,
		     const struct bytes *b, uint8_t uuid[CTF_UUID]);

/* An item is followed by raw bytes or a name that ends with a 0 (a chain of
 * functions: their names), then by its kernel and its user addresses. */
struct ctf_item {
	uint64_t time;
	int32_t pid, tid, cpu;
	uint32_t flags;
	uint8_t kind; /* enum record_kind */
	uint8_t defer;
	uint8_t cut; /* LTTng cut: 1 kernel stack, 2 user stack */
	uint32_t event;
	uint32_t n_kern, n_user, raw_len;
	union {
		struct {
			uint64_t ip, cookie;
			struct sched sched;
		} sample; /* and chain: cookie */
		struct {
			uint64_t start, len, pgoff;
			uint16_t type; /* of REC_KSYMBOL */
			uint8_t role;  /* enum ctf_role of the event */
			uint8_t id[20], id_len;
		} map;
		struct {
			int32_t ppid, ptid;
		} fork;
		struct {
			uint64_t n, since;
			bool has_since;
			uint8_t place; /* enum lost_place */
		} lost;
	};
};

/* The meaning of an event for tasks and mappings: the roles of task_rules.h,
 * and those of events that only LTTng has. */
enum ctf_role {
	CTF_PLAIN = ROLE_PLAIN,
	CTF_SWITCH = ROLE_SWITCH,
	CTF_WAKEUP = ROLE_WAKEUP,
	CTF_WAKEUP_NEW = ROLE_WAKEUP_NEW,
	CTF_NAMED = ROLE_NAMED,
	CTF_FORK = ROLE_FORK,
	CTF_EXEC = ROLE_EXEC,
	CTF_EXIT = ROLE_EXIT,
	CTF_STATE = ROLES, /* a process that existed before recording */
	CTF_IMAGE,	   /* statedump of a mapped file; maps from here on */
	CTF_OPEN,	   /* dlopen() */
	CTF_LOAD,
	CTF_BUILD_ID,
	CTF_CLOSE, /* dlclose() */
	CTF_UNLOAD,
};

/* Fields that a role uses; see ctf_event.part. */
enum ctf_part_of {
	CTF_TID,
	CTF_COMM,
	CTF_TID2,
	CTF_COMM2,
	CTF_PID,
	CTF_PID2,
	CTF_STATE_OF,
	CTF_BASE,
	CTF_SIZE,
	CTF_PATH,
	CTF_HAS_ID,
	CTF_PARTS
};

/* An event; one per name and layout of the payload. */
struct ctf_event {
	struct tp_format fmt;
	enum ctf_role role;
	int part[CTF_PARTS]; /* index in the format; -1: no such field */
};

/* Events stay where they are, as ctf_fields() may read one while ctf_next()
 * adds others in another thread. */
#define CTF_EVENT_PAGE 256u
#define CTF_EVENT_PAGES 1024u
#define CTF_EVENTS_MAX (CTF_EVENT_PAGE * CTF_EVENT_PAGES)

/* Makes an event a request or a chain, by names of the event and fields. */
struct ctf_rule {
	char *event, *cookie, *ips; /* owned; ips NULL: a request */
};

/* A mapping that waits for its build-id, the thread's next event. */
struct ctf_pending {
	bool used;
	uint8_t role; /* enum ctf_role of the event */
	int32_t pid, tid, cpu;
	uint64_t start, len;
	uint8_t id[20], id_len;
	char *path; /* owned */
};

#define CTF_PENDING 64

/* The mapping at a base address of a process. */
struct ctf_mapped {
	uint64_t len;	    /* 0: unmapped */
	uint64_t what;	    /* hash of length, path and build-id */
	uint32_t n_open;    /* dlopen() minus dlclose() */
	bool load_recorded; /* load was recorded, so unload will be, too */
};

struct ctf_trace;
struct ctf_stream;

struct ctf {
	struct source src;
	struct source_opts opts;
	struct arena arena;
	struct ctf_schema **schema;
	size_t n_schema, cap_schema;
	struct ctf_trace *trace;
	size_t n_trace, cap_trace;
	struct ctf_file *file;
	size_t n_file, cap_file;
	struct ctf_stream *stream;
	size_t n_stream, cap_stream;
	struct ctf_copy *copy; /* packets, if files overlap */
	size_t n_copy, cap_copy;
	struct ctf_rule *rule;
	size_t n_rule, cap_rule;
	struct ctf_event *event[CTF_EVENT_PAGES]; /* ctf_event_at() */
	struct event_def *def;			  /* as many */
	size_t n_event, cap_def;
	struct table by_layout;
	struct ctf_pool pool;
	uint64_t waiting;     /* bytes of items that were not decoded yet */
	uint64_t planned;     /* bytes that event classes take */
	unsigned char *spare; /* a payload that no item has; NULL */
	uint64_t seq;
	struct turn *heap; /* earliest first */
	size_t n_heap;
	uint64_t done; /* bytes of packets that were read */
	int64_t base;  /* zero of the capture's clock, ns since 1970 */
	bool differ; /* the traces' clocks differ; base is the smallest zero */
	bool has_base;
	struct tp tp;	/* for ctf_fields() and ctf_print() */
	struct tp look; /* for ctf_next() */
	struct tp said; /* for ctf_item_decode(), up to cap_places */
	struct call call;
	struct place *place;
	const struct place **places;
	size_t cap_place, cap_places;
	struct known_tasks known; /* names that became records */
	struct ctf_mapped *mapped;
	size_t n_mapped, cap_mapped;
	struct table by_base; /* mapped, by process and base */
	bool kernel_noted;
	size_t n_on_cpu;	  /* sum of n_cpu */
	struct ctf_trace *giving; /* ctf_next() returns its due; NULL: none */
};

/* A ref to return, and the time of its event. */
struct ctf_due {
	uint64_t at;
	struct ref ref;
};

/* One or several folders with metadata of one uuid: chunks. */
struct ctf_trace {
	struct ctf *ctf;
	const struct ctf_schema *schema; /* its metadata */
	const char *folder;		 /* the first; in ctf.arena */
	bool has_time;
	int32_t vpid;	/* of per-process buffers, else -1 */
	uint64_t start; /* of the first packet, on the capture's clock; or 0 */
	uint64_t first_end;   /* the earliest end of a packet of some time, on
			       * that clock; or 0 */
	uint64_t first_whole; /* when the first packet with number 0 began,
			       * likewise */
	uint64_t n_overwritten, n_rings; /* packets that were overwritten, in
					  * front of so many streams, */
	uint64_t ring_begin;		 /* the last of which begins here */
	size_t n_live;			 /* streams that did not end */
	size_t first_stream, n_stream;	 /* in ctf.stream */
	const char *empty; /* a stream file without a packet, which may be
			    * damage; in ctf.arena. NULL: none */
	struct ctf_due *due;
	size_t n_due, cap_due, due_pos;
	uint64_t at;	 /* time of the newest event */
	int32_t *on_cpu; /* the running thread, by sched_switch; or -1 */
	size_t n_cpu;
	bool kernel_is_high; /* the kernel had an address from 2^63 on */
	struct ctf_pending *pending; /* CTF_PENDING, by thread; NULL */
	size_t n_pending;
	struct known_tasks known; /* names that became items */
};

/* ---- file.c */

/* A stream file, as it was when its packets were walked. */
struct ctf_file {
	char *path; /* owned */
	struct ctf_schema *schema;
	uint32_t trace; /* index in ctf.trace */
	uint32_t order; /* in which files are walked */
	uint64_t packets;
	/* Of the stream class, and of the stream; has_id false: there is only
	 * this file. */
	uint64_t class_id, id;
	bool has_id;
	bool is_short; /* its index has packets after its end */
	/* Of its first and last packet: numbers of packets if has_seq, times in
	 * ns if has_time. */
	bool has_seq, has_time;
	uint64_t seq, last_seq;
	uint64_t begin, last_end;
	uint64_t first_end; /* of its first packet of some time; 0: none */
};

/* Walks the stream files of a folder and adds those that have packets, or
 * bytes that are none, to ctf->file. */
void ctf_files_add(struct ctf *ctf, const char *folder, struct ctf_schema *sm,
		   uint32_t trace);

/* Notes as damage the streams of a trace, which were read to their ends, that
 * the recorder did not end. */
void ctf_ends_check(struct ctf_trace *tr);

/* ---- stream.c */

/* Notes a packet while files are walked, for those that several files of a
 * stream have. */
void ctf_copies_note(struct ctf *ctf, const struct ctf_file *f,
		     const struct ctf_state *st, const struct ctf_packet *p);

/* The files of a stream, one after the other. Only the one that is being read
 * is mapped. */
struct ctf_stream {
	struct ctf_trace *trace;
	uint32_t *file; /* indices in ctf.file */
	size_t n_file, cap_file, pos;
	uint64_t time;	/* of the event whose header was read, or a time not
			 * after it; on the capture's clock */
	uint64_t last;	/* the latest so far */
	uint64_t begun; /* when its last packet with events began */
	struct near_time near;
	bool due;	  /* a header was read */
	bool far;	  /* with a time that is years from those before it */
	bool beyond;	  /* then far, too: with a time of 2^63 ns or more */
	const char *path; /* of the mapped file */
	bool is_short;	  /* as of that file */
	void *data;
	uint64_t len, off; /* off: of the next packet */
	struct ctf_schema *schema;
	uint8_t uuid[CTF_UUID];
	bool has_uuid;
	struct ctf_packet packet;
	bool in_packet;
	uint64_t content_end; /* bytes, of the packet before; 0: none */
	const struct ctf_clock *clock; /* of the packet; NULL: none */
	int64_t shift; /* ns to add to it for the capture's clock */
	struct ctf_state st;
	size_t n_slot, cap_slot, n_clock, cap_clock;
	uint64_t event_at; /* of the event, bits */
	uint64_t event_id;
	int32_t cpu;
	/* Of the packet before; its end is a clock's value. */
	bool has_before;
	uint64_t end, seq, discarded;
	bool has_end, has_seq, has_discarded;
	/* Its count of discarded events was lower than that of a packet before,
	 * which `discarded` keeps: by this much. */
	bool is_back;
	uint64_t back;
	/* The same, as it said them; in this file. */
	uint64_t class_id, id, printed_end, printed_last; /* its last event */
	bool has_ids, has_id, has_printed_end, has_cpu;
	int32_t printed_cpu;
	/* The name that a context had last, and its thread: it still is the
	 * thread's if as many names were given as then. */
	uint64_t n_named;
	int32_t named_tid;
	uint32_t named_len;
	char named[COMM_LEN + 1];
};

/* Makes streams of ctf->file. */
void ctf_streams_make(struct ctf *ctf);
/* Converts a value of the stream's clock to ns on the capture's clock. */
uint64_t ctf_stream_time(const struct ctf_stream *s, uint64_t value);
/* Reads up to the header of the next event. Returns false at the end. */
bool ctf_stream_next(struct ctf_stream *s);
/* The rest of the packet is damage, for the reason why; the packet ends. */
void ctf_stream_drop_packet(struct ctf_stream *s, const char *why);
/* The event that was read is damage, for the reason why. */
void ctf_stream_blame_event(const struct ctf_stream *s, const char *why);
void ctf_stream_close(struct ctf_stream *s);

/* ---- stream.c: packets against their events, and against those before; values
 * of events that cannot be */
/* Returns what is wrong with the event that was read; NULL: nothing. raw: its
 * payload. */
const char *ctf_check_event(struct ctf_stream *s, const struct ctf_event *ev,
			    const struct bytes *raw);

static inline struct ctf *ctf_of(struct source *src)
{
	return (struct ctf *)src;
}

static inline struct ctf_event *ctf_event_at(const struct ctf *ctf, size_t i)
{
	return &ctf->event[i / CTF_EVENT_PAGE][i % CTF_EVENT_PAGE];
}

/* ---- item.c */
/* Makes an item with `extra` bytes after it, and appends its ref to tr->due. */
struct ctf_item *ctf_item_new(struct ctf_trace *tr, enum record_class kind,
			      uint64_t key, size_t extra);
/* The same in two steps, if other items come between them. */
static inline struct ctf_item *ctf_item_take(struct ctf_trace *tr, uint64_t key,
					     size_t extra, uint64_t *handle)
{
	const size_t len = sizeof(struct ctf_item) + extra;
	struct ctf_item *it = ctf_pool_take(&tr->ctf->pool, len, handle);

	tr->ctf->waiting += len;
	*it = (struct ctf_item){ .time = key, .pid = -1, .tid = -1, .cpu = -1 };
	return it;
}

void ctf_item_add(struct ctf_trace *tr, enum record_class kind, uint64_t key,
		  size_t extra, uint64_t handle);
/* Return the start of the addresses; of the raw bytes or the name. */
static inline unsigned char *ctf_item_raw(const struct ctf_item *it)
{
	return (unsigned char *)(uintptr_t)(it + 1);
}

static inline uint64_t *ctf_item_ips(const struct ctf_item *it)
{
	return (uint64_t *)(uintptr_t)(it + 1) + (it->raw_len + 7) / 8;
}

int ctf_item_decode(struct source *src, const struct ref *ref,
		    struct record *rec, struct err *err);
void ctf_item_release(struct source *src, const struct ref *ref);
/* Completes an item. Returns false if it repeats an earlier one. */
bool ctf_settle_item(struct ctf *ctf, struct ctf_item *it);

/* ---- plan.c */
/* Return the value of a field; a string that is valid until the next call. */
int64_t ctf_number(const struct ctf_event *ev, enum ctf_part_of part,
		   const struct bytes *raw, int64_t otherwise);
const char *ctf_text(struct ctf *ctf, const struct ctf_event *ev,
		     enum ctf_part_of part, const struct bytes *raw);

/* ---- find.c */
bool ctf_is_folder(const char *path);
/* Calls fn for each folder with metadata, by name. */
int ctf_find_traces(struct ctf *ctf, const char *path,
		    void (*fn)(struct ctf *ctf, const char *folder),
		    struct err *err);
/* Returns the first of them, for the caller to free, or NULL. */
char *ctf_find_first(const char *path);
/* Returns "dir/name"; the caller frees it. */
char *ctf_find_join_path(const char *dir, const char *name);
/* The same as scandir() by names; if ctf, a folder that cannot be listed is
 * damage. */
int ctf_find_list(struct ctf *ctf, const char *dir, struct dirent ***list);
/* Maps a file. Returns NULL, *len 0 and errno if it is empty or cannot be
 * read. */
void *ctf_file_map(const char *path, uint64_t *len);
/* The same; a file that cannot be read is damage of the trace. */
void *ctf_file_map_noted(struct ctf *ctf, const char *path, uint64_t *len);
void ctf_file_unmap(void *data, uint64_t len);

/* ---- plan.c: rules of --request and --chain, or the defaults */
int ctf_rules_read(struct ctf *ctf, struct err *err);
void ctf_rules_release(struct ctf *ctf);
/* Returns the rule for an event; NULL: none. */
const struct ctf_rule *ctf_rule_of(const struct ctf *ctf, const char *event,
				   bool chain);

/* ---- event.c */
int ctf_next(struct source *src, struct ref *ref, struct err *err);
