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

/* Returns a name of the LTTng session of the first trace below a folder, or
 * NULL if there is none. The caller frees it. */
char *ctf_session(const char *path);

/* ---- schema.c: metadata, and what the reader derives from it */

/* An event class: how its events are decoded. */
struct ctf_class {
	bool made;
	bool chain;
	uint32_t event;		   /* index in ctf.event */
	uint32_t fixed;		   /* bytes of the payload's first part */
	struct ctf_program packet; /* how the packet's own fields are decoded; n
				      0: it has none */
	struct ctf_program event_fields;
};

/* How the packets and events of a stream class are decoded. */
struct ctf_plan {
	const struct ctf_stream_class *sc;
	struct ctf_program packet, header;
	struct ctf_class *classes; /* one for each of sc->event */
	/* The largest packet seen so far, in bytes, and the largest event, in
	 * bits. */
	uint64_t packet_most, event_most;
};

/* One metadata file. Chunks and processes with equal metadata share it. */
struct ctf_schema {
	uint64_t hash, len; /* of the metadata file */
	struct arena arena;
	struct ctf_tree tree;
	struct ctf_program head;
	struct ctf_plan *plan; /* one for each of tree.stream */
	uint32_t n_slot;  /* the largest number of slots of a stream class */
	bool lttng, perf; /* LTTng or perf wrote the trace */
	bool joined;   /* backstitch wrote it: late stacks are in their events
			  already */
	bool loose;    /* packets may end before their last event */
	bool ends_all; /* the recorder ends every stream with a packet when it
			  stops */
	bool of_linux; /* its thread and CPU numbers are those of Linux */
	struct halves halves;
	struct err *err; /* why the metadata cannot be read; NULL: it can */
};

/* Returns the schema of metadata, for ctf_schema_free(); sm->err is set if the
 * metadata cannot be read. */
struct ctf_schema *ctf_schema_new(const struct bytes *meta);
void ctf_schema_free(struct ctf_schema *sm);
/* Returns the schema of a metadata file; ctf owns it. */
struct ctf_schema *ctf_schema_of(struct ctf *ctf, const char *path);
/* Returns the clock of a stream class, or NULL. */
const struct ctf_clock *ctf_schema_clock(const struct ctf_schema *sm,
					 const struct ctf_stream_class *sc);
/* Returns a clock's value in ns, without the clock's offset. */
uint64_t ctf_clock_ns(const struct ctf_clock *clock, uint64_t value);
/* Sets *out to the time of value 0 of a clock of the schema, in ns since 1970;
 * the first trace with the same clock decides. Returns false if it is out of
 * range. */
bool ctf_clock_zero(const struct ctf *ctf, const struct ctf_schema *sm,
		    const struct ctf_clock *clock, int64_t *out);
/* Returns the first clock of a trace's streams, or NULL. */
const struct ctf_clock *ctf_schema_first_clock(const struct ctf_schema *sm);
/* Parses "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx". Returns false if s (may be
 * NULL) is something else. */
bool ctf_uuid_parse(const char *s, uint8_t out[CTF_UUID]);

/* ---- packets */

struct ctf_packet {
	uint64_t off;	  /* byte offset in the file */
	uint64_t len;	  /* bytes, padding included */
	uint64_t end;	  /* bits, up to the end of the content */
	uint64_t context; /* bit at which the context begins */
	uint64_t body;	  /* bit at which the first event begins */
	bool cut;	  /* the file ends inside it */
	struct ctf_plan *plan;
	/* Clock values; the end is unknown without has_end. */
	uint64_t begin, finish;
	bool has_begin, has_end;
};

/* Reads the headers of the packet at *b, which extends to the end of the file,
 * and stores their values in st. uuid NULL: any trace. Returns 0, or -1 with
 * the reason in st->why. */
int ctf_packet_read(const struct ctf_schema *sm, struct ctf_state *st,
		    const struct bytes *b, const uint8_t *uuid,
		    struct ctf_packet *out);
/* Finds the next whole packet after `from`. Sets *out to it and returns its
 * distance from *b; returns the distance to the end if there is none. */
uint64_t ctf_packet_find(const struct ctf_schema *sm, struct ctf_state *st,
			 const struct bytes *b, uint64_t from,
			 const uint8_t *uuid, struct ctf_packet *out);
/* Sets uuid to that of the packets of a file. Returns false if they have
 * none. */
bool ctf_packet_uuid(const struct ctf_schema *sm, struct ctf_state *st,
		     const struct bytes *b, uint8_t uuid[CTF_UUID]);

/* An item is followed by raw bytes or a NUL-terminated name (for a chain of
 * functions: their names), then by its kernel addresses and its user
 * addresses. */
struct ctf_item {
	uint64_t time;
	int32_t pid, tid, cpu;
	uint32_t flags;
	uint8_t kind; /* enum record_kind */
	uint8_t defer;
	uint8_t cut; /* stack that LTTng cut at its limit: 1 kernel, 2 user */
	uint32_t event;
	uint32_t n_kern, n_user, raw_len;
	union {
		struct {
			uint64_t ip, cookie;
			struct sched sched;
		} sample; /* the cookie; chains have it too */
		struct {
			uint64_t start, len, pgoff;
			uint16_t type; /* the type of a REC_KSYMBOL */
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

/* What an event means for tasks and mappings: the roles of task_rules.h, and
 * those of events that only LTTng has. */
enum ctf_role {
	CTF_PLAIN = ROLE_PLAIN,
	CTF_SWITCH = ROLE_SWITCH,
	CTF_WAKEUP = ROLE_WAKEUP,
	CTF_WAKEUP_NEW = ROLE_WAKEUP_NEW,
	CTF_NAMED = ROLE_NAMED,
	CTF_FORK = ROLE_FORK,
	CTF_EXEC = ROLE_EXEC,
	CTF_EXIT = ROLE_EXIT,
	CTF_STATE = ROLES, /* a process that ran before the recording started */
	CTF_IMAGE, /* statedump of a mapped file; this role and those below are
		      of mappings */
	CTF_OPEN,  /* dlopen() */
	CTF_LOAD,
	CTF_BUILD_ID,
	CTF_CLOSE, /* dlclose() */
	CTF_UNLOAD,
};

/* The fields that a role uses: indices of ctf_event.part. */
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

/* An event: one for each combination of name and payload layout. */
struct ctf_event {
	struct tp_format fmt;
	enum ctf_role role;
	int part[CTF_PARTS]; /* index of the field in fmt; -1: it has none */
};

/* An event never moves: ctf_fields() may read it while ctf_next() adds others
 * in another thread. */
#define CTF_EVENT_PAGE 256u
#define CTF_EVENT_PAGES 1024u
#define CTF_EVENTS_MAX (CTF_EVENT_PAGE * CTF_EVENT_PAGES)

/* Makes an event a request or a chain, by the names of the event and of its
 * fields. */
struct ctf_rule {
	char *event, *cookie, *ips; /* owned; ips NULL: a request */
};

/* A mapping that waits for its build-id, which the thread's next event
 * reports. */
struct ctf_pending {
	bool used;
	uint8_t role; /* enum ctf_role of the event */
	int32_t pid, tid, cpu;
	uint64_t start, len;
	uint8_t id[20], id_len;
	char *path; /* owned */
};

#define CTF_PENDING 64

/* The mapping at one base address of a process. */
struct ctf_mapped {
	uint64_t len;	    /* 0: unmapped */
	uint64_t what;	    /* hash of length, path and build-id */
	uint32_t n_open;    /* dlopen() calls minus dlclose() calls */
	bool load_recorded; /* lttng_ust_lib:load was recorded, so unload will
			       be too */
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
	struct ctf_copy
		*copy; /* packets, kept if several files have the same */
	size_t n_copy, cap_copy;
	struct ctf_rule *rule;
	size_t n_rule, cap_rule;
	struct ctf_event *event[CTF_EVENT_PAGES]; /* pages of events: see
						     ctf_event_at() */
	struct event_def *def;			  /* one for each event */
	size_t n_event, cap_def;
	struct table by_layout;
	struct ctf_pool pool;
	uint64_t waiting;     /* bytes of the items that are not decoded yet */
	uint64_t planned;     /* bytes that the event classes take */
	unsigned char *spare; /* buffer for a payload that is not in an item;
				 NULL: none yet */
	uint64_t seq;
	struct turn *heap; /* streams by time, the earliest first */
	size_t n_heap;
	uint64_t done; /* bytes of the packets read so far */
	int64_t base;  /* value 0 of the capture's clock, ns since 1970 */
	bool differ;   /* the traces have different clocks; base is the smallest
			  zero */
	bool has_base;
	struct tp tp;	/* for ctf_fields() and ctf_print() */
	struct tp look; /* for ctf_next() */
	struct tp said; /* for ctf_item_decode(), which sets up to cap_places of
			   it */
	struct call call;
	struct place *place;
	const struct place **places;
	size_t cap_place, cap_places;
	struct known_tasks known; /* names that have a record already */
	struct ctf_mapped *mapped;
	size_t n_mapped, cap_mapped;
	struct table by_base; /* (process, base) -> index in mapped */
	bool kernel_noted;
	size_t n_on_cpu;	  /* the sum of all n_cpu */
	struct ctf_trace *giving; /* the trace whose items ctf_next() returns
				     now; NULL: none */
};

/* A ref that ctf_next() will return, and the time of its event. */
struct ctf_due {
	uint64_t at;
	struct ref ref;
};

/* One or several folders whose metadata has the same uuid: chunks. */
struct ctf_trace {
	struct ctf *ctf;
	const struct ctf_schema *schema; /* its metadata */
	const char *folder;		 /* the first folder; in ctf.arena */
	bool has_time;
	int32_t vpid;	/* with per-process buffers: the process; else -1 */
	uint64_t start; /* begin of the first packet, on the capture's clock; or
			   0 */
	uint64_t first_end;   /* the earliest end of a packet that has times, on
				 that clock; or 0 */
	uint64_t first_whole; /* when the first packet with number 0 began, on
				 that clock; or 0 */
	uint64_t n_overwritten, n_rings; /* packets that were overwritten, and
					    in how many streams */
	uint64_t ring_begin; /* the latest begin of what these streams still
				have */
	size_t n_live;	     /* streams that have not ended */
	size_t first_stream, n_stream; /* in ctf.stream */
	const char *empty; /* path of a stream file without a packet, which may
			      be damage; in ctf.arena. NULL: none */
	struct ctf_due *due;
	size_t n_due, cap_due, due_pos;
	uint64_t at;	 /* time of the newest event */
	int32_t *on_cpu; /* by CPU: the running thread, from sched_switch; or -1
			  */
	size_t n_cpu;
	bool kernel_is_high; /* a kernel event had an address of 2^63 or more */
	struct ctf_pending
		*pending; /* CTF_PENDING slots, by thread; NULL: none yet */
	size_t n_pending;
	struct known_tasks known; /* names that have an item already */
};

/* ---- file.c */

/* A stream file, as its packets described it when they were walked. */
struct ctf_file {
	char *path; /* owned */
	struct ctf_schema *schema;
	uint32_t trace; /* index in ctf.trace */
	uint32_t order; /* number in the order in which files are walked */
	uint64_t packets;
	/* The ids of the stream class and of the stream; without has_id the
	 * stream is this file alone. */
	uint64_t class_id, id;
	bool has_id;
	bool is_short; /* its index has packets after its end */
	/* From its first and last packet: packet numbers with has_seq, times in
	 * ns with has_time. */
	bool has_seq, has_time;
	uint64_t seq, last_seq;
	uint64_t begin, last_end;
	uint64_t first_end; /* of its first packet that has times; 0: none */
};

/* Walks the stream files of a folder. Adds to ctf->file those that have
 * packets, and those that have bytes but no packet. */
void ctf_files_add(struct ctf *ctf, const char *folder, struct ctf_schema *sm,
		   uint32_t trace);

/* Notes as damage each stream of a trace that the recorder did not end. All
 * streams must have been read to their ends. */
void ctf_ends_check(struct ctf_trace *tr);

/* ---- stream.c */

/* Notes a packet while files are walked, so that packets that several files of
 * a stream contain are read once. */
void ctf_copies_note(struct ctf *ctf, const struct ctf_file *f,
		     const struct ctf_state *st, const struct ctf_packet *p);

/* The files of a stream, one after the other. Only the one that is being read
 * is mapped. */
struct ctf_stream {
	struct ctf_trace *trace;
	uint32_t *file; /* indices in ctf.file */
	size_t n_file, cap_file, pos;
	uint64_t time; /* time of the event whose header was read, or a time not
			  after it; on the capture's clock */
	uint64_t last; /* the latest event time so far */
	uint64_t begun; /* the begin of its last packet with events */
	struct near_time near;
	bool due;	  /* the header of the next event was read */
	bool far;	  /* ... and its time is years from those before it */
	bool beyond;	  /* ... and its time is 2^63 ns or more */
	const char *path; /* of the mapped file */
	bool is_short;	  /* ctf_file.is_short of that file */
	void *data;
	uint64_t len, off; /* file length, and the offset of the next packet */
	struct ctf_schema *schema;
	uint8_t uuid[CTF_UUID];
	bool has_uuid;
	struct ctf_packet packet;
	bool in_packet;
	uint64_t
		content_end; /* content bytes of the previous packet; 0: none */
	const struct ctf_clock *clock; /* the packet's clock; NULL: none */
	int64_t shift; /* ns to add to its times for the capture's clock */
	struct ctf_state st;
	size_t n_slot, cap_slot, n_clock, cap_clock;
	uint64_t event_at; /* where the event begins, bits */
	uint64_t event_id;
	int32_t cpu;
	/* The previous packet; its end is a clock value. */
	bool has_before;
	uint64_t end, seq, discarded;
	bool has_end, has_seq, has_discarded;
	/* The packet counts fewer discarded events than an earlier one, whose
	 * count `discarded` keeps; the difference. */
	bool is_back;
	uint64_t back;
	/* The ids and times of the previous packet, as the file has them. */
	uint64_t class_id, id, printed_end,
		printed_last; /* time of its last event, as the file has it */
	bool has_ids, has_id, has_printed_end, has_cpu;
	int32_t printed_cpu;
	/* The last name from a context, and its thread. The name is still valid
	 * if known.n_changed equals n_named. */
	uint64_t n_named;
	int32_t named_tid;
	uint32_t named_len;
	char named[COMM_LEN + 1];
};

/* Makes ctf->stream from ctf->file. */
void ctf_streams_make(struct ctf *ctf);
/* Converts a value of the stream's clock to ns on the capture's clock. */
uint64_t ctf_stream_time(const struct ctf_stream *s, uint64_t value);
/* Reads up to the header of the next event. Returns false at the end of the
 * stream. */
bool ctf_stream_next(struct ctf_stream *s);
/* Notes the rest of the packet as damage, with the reason, and ends the
 * packet. */
void ctf_stream_drop_packet(struct ctf_stream *s, const char *why);
/* Notes the event that was read as damage, with the reason. */
void ctf_stream_blame_event(const struct ctf_stream *s, const char *why);
void ctf_stream_close(struct ctf_stream *s);

/* ---- stream.c: checks packets against their events and against earlier
 * packets, and events for values that cannot be */
/* Returns what is wrong with the event that was read, or NULL. raw is its
 * payload. The string is constant. */
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
/* Makes an item with `extra` bytes after it, and appends its ref to tr->due.
 * ctf_item_release() frees the item. */
struct ctf_item *ctf_item_new(struct ctf_trace *tr, enum record_class kind,
			      uint64_t key, size_t extra);
/* ctf_item_new() in two steps, for when other items must come in between:
 * ctf_item_take() makes the item, ctf_item_add() appends its ref. */
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
/* Return where the raw bytes or the name of an item begin, and where its
 * addresses do. */
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
/* Completes an item. Returns false if it repeats an earlier one and makes no
 * record. */
bool ctf_settle_item(struct ctf *ctf, struct ctf_item *it);

/* ---- plan.c */
/* ctf_number() returns the value of a field, or `otherwise` if the event has no
 * such field; ctf_text() its text, valid until the next call, or NULL. */
int64_t ctf_number(const struct ctf_event *ev, enum ctf_part_of part,
		   const struct bytes *raw, int64_t otherwise);
const char *ctf_text(struct ctf *ctf, const struct ctf_event *ev,
		     enum ctf_part_of part, const struct bytes *raw);

/* ---- find.c */
bool ctf_is_folder(const char *path);
/* Calls fn for each folder that has metadata, sorted by name. Returns 0, or -1
 * and *err. */
int ctf_find_traces(struct ctf *ctf, const char *path,
		    void (*fn)(struct ctf *ctf, const char *folder),
		    struct err *err);
/* Returns the first folder that has metadata, for the caller to free, or
 * NULL. */
char *ctf_find_first(const char *path);
/* Returns "dir/name"; the caller frees it. */
char *ctf_find_join_path(const char *dir, const char *name);
/* Lists a folder like scandir(), sorted by name. If ctf is not NULL, a folder
 * that cannot be listed is noted as damage. */
int ctf_find_list(struct ctf *ctf, const char *dir, struct dirent ***list);
/* Maps a file. Returns NULL, *len 0 and errno if it is empty or cannot be
 * read. */
void *ctf_file_map(const char *path, uint64_t *len);
/* Like ctf_file_map(), but notes a file that cannot be read as damage of the
 * trace. */
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
