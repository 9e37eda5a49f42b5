/* ctf.h - declarations shared by the files of the CTF reader, which reads LTTng
 * sessions and the output of perf data convert.
 *
 * ctf_open() finds the traces: every folder below the path with a metadata
 * file. It reads clock and packet layout from the metadata (meta.c), checks
 * the packets of all stream files (chain.c), and replaces a damaged trace by a
 * temporary folder with its good packets (salvage.c). ctf_scan() starts a
 * child that decodes with libbabeltrace2: one graph per trace, opened when its
 * first packet is due; each message becomes items, merged by time (merge.c).
 * ctf_next() receives the items and returns a ref for each, ctf_item_decode()
 * turns an item into a record, ctf_item_release() frees it.
 *
 * The payload of an event is converted to ftrace's layout, numbers at fixed
 * offsets followed by text and blobs, with a format text. So all code for
 * ftrace's payloads (formats/tracepoint/tracepoint.h, payload.h) can read it.
 */
#ifndef FORMATS_CTF_CTF_H
#define FORMATS_CTF_CTF_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/reader/task_rules.h"
#include "formats/tracepoint/tracepoint.h"
#include "stitch/base/ledger.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/record.h"
#include "stitch/source.h"

struct ctf_ring;
struct err;

extern const struct source_ops ctf_ops;

/* ---- meta.c: the parts of the metadata that the reader needs itself */

/* A number in a packet's header or context. */
struct ctf_place {
	uint32_t off;  /* from the packet's start */
	uint32_t size; /* 1 to 8 bytes; 0: there is none */
};

/* The layout of a stream's packets. */
struct ctf_layout {
	uint64_t id; /* of the stream class */
	bool known;
	uint32_t len; /* of header and context, their fixed part */
	struct ctf_place begin, end, content, packet, seq, cpu;
};

#define CTF_STREAMS 64
#define CTF_UUID 16

struct ctf_meta {
	int version; /* 1, 2; 0: unknown */
	bool cut;    /* it ends inside a statement or packet */
	bool big;    /* numbers in packets are big-endian */
	bool has_uuid;
	uint8_t uuid[CTF_UUID];
	struct ctf_place magic, id, stream; /* in the header; id: uuid */
	struct ctf_layout layout[CTF_STREAMS];
	size_t n_layout;
	/* The first clock; freq 0: none. The arena owns text; NULL: none. */
	uint64_t freq;
	int64_t offset_s;
	uint64_t offset;
	const char *clock, *clock_uuid;
	const char *host, *tracer, *domain, *release, *kernel, *machine, *name;
	int32_t vpid; /* of per-process buffers, else -1 */
};

/* Reads metadata, as text or in packets. Leaves out what it cannot parse; of
 * version 2 it sets only the version. */
void ctf_meta_read(struct arena *arena, const void *data, size_t len,
		   struct ctf_meta *out);
/* Returns the text up to the last complete statement; the caller frees it. */
char *ctf_meta_whole(const void *data, size_t len, size_t *out_len);

/* Parses "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx". Returns false if s (may be
 * NULL) is something else. */
bool ctf_meta_parse_uuid(const char *s, uint8_t out[CTF_UUID]);

/* ---- chain.c: the packets of a stream file */

/* A part of a stream file. */
struct ctf_part {
	uint64_t off, len;
	uint64_t begin, end; /* first, last time in clock cycles; 0: unknown */
	bool good;
};

struct ctf_chain {
	struct ctf_part *part; /* alternately good and bad */
	size_t n, cap;
	uint64_t packets;
	uint64_t begin, end; /* cycles; unknown: UINT64_MAX, 0 */
	bool known;	     /* false: unknown layout, nothing was checked */
};

void ctf_chain_read(const struct ctf_meta *meta, const void *data, uint64_t len,
		    struct ctf_chain *out);
void ctf_chain_release(struct ctf_chain *ch);

/* ---- pool.c: memory for records that were made and not released */

struct ctf_block {
	unsigned char *data;
	uint32_t cap, used, live;
};

struct ctf_pool {
	struct ctf_block *block;
	size_t n, cap;
	uint32_t *spare; /* empty blocks */
	size_t n_spare, cap_spare;
	uint32_t now;  /* the block that is being filled, plus 1 */
	uint64_t held; /* bytes in all blocks */
};

/* Returns len bytes and their handle; they stay until ctf_pool_drop(). */
void *ctf_pool_take(struct ctf_pool *pool, size_t len, uint64_t *handle);
void *ctf_pool_at(const struct ctf_pool *pool, uint64_t handle);
void ctf_pool_drop(struct ctf_pool *pool, uint64_t handle);
void ctf_pool_release(struct ctf_pool *pool);

/* ---- items: records in the pool */

/* An item is followed by its kernel addresses, its user addresses, then raw
 * bytes or a name that ends with a 0 (a chain of functions: their names). */
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
		} lost;
	};
};

/* ---- events */

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
	uint64_t len;	   /* 0: unmapped */
	uint64_t what;	   /* hash of length, path and build-id */
	uint32_t n_open;   /* dlopen() minus dlclose() */
	bool told_of_load; /* load was recorded, so unload will be, too */
};

struct ctf_trace;

struct ctf {
	struct source src;
	struct source_opts opts;
	struct arena arena;
	struct ctf_trace *trace;
	size_t n_trace, cap_trace;
	struct ctf_rule *rule;
	size_t n_rule, cap_rule;
	struct ctf_event *event;
	struct event_def *def; /* as many */
	size_t n_event, cap_event, cap_def;
	struct table by_layout;
	struct ctf_pool pool;
	uint64_t seq;
	uint32_t *heap; /* of traces, earliest first */
	size_t n_heap;
	uint64_t files, packets, packets_done;
	int64_t base; /* zero of the capture's clock, ns since 1970 */
	bool differ;  /* the traces' clocks differ; base is the smallest zero */
	bool has_base;
	struct tp tp;	/* for ctf_fields() and ctf_print() */
	struct tp look; /* for ctf_next() */
	struct tp said; /* for ctf_item_decode(), up to cap_places */
	struct call call;
	struct place *place;
	const struct place **places;
	size_t cap_place, cap_places;
	struct told_tasks told; /* names that became records */
	struct ctf_mapped *mapped;
	size_t n_mapped, cap_mapped;
	struct table by_base; /* mapped, by process and base */
	bool trying;	      /* in the child of ctf_try_open() */
	struct ctf_ring *ring;
	int child;     /* process id; 0: none */
	int child_err; /* memfd with the child's stderr; -1: none */
	bool in_child, told_kernel;
	struct ctf_trace *giving; /* ctf_next() returns its due; NULL: none */
	char *temp;		  /* folder of salvage.c; NULL: none */
	unsigned int n_temp;
	const void *ctf_plugin, *utils_plugin;
};

/* A ref to return, and the time of its message. */
struct ctf_due {
	uint64_t at;
	struct ref ref;
};

struct ctf_graph;

/* A folder with a metadata file. */
struct ctf_trace {
	struct ctf *ctf;
	char *path;  /* the folder that was found */
	char *shown; /* the folder to open: path, or its copy in ctf.temp */
	struct ctf_meta meta;
	uint64_t packets;
	uint64_t start; /* of the first packet, on the capture's clock; or 0 */
	struct ctf_graph *graph;
	bool opened, ended, is_perf;
	struct ctf_due *due;
	size_t n_due, cap_due, due_pos;
	uint64_t at;	 /* time of the newest message */
	int32_t *on_cpu; /* the running thread, by sched_switch; or -1 */
	size_t n_cpu;
	struct ctf_pending *pending; /* CTF_PENDING, by thread; NULL */
	size_t n_pending;
	struct told_tasks told; /* names that became items */
	uint64_t given;		/* items that the child sent */
	uint64_t skip; /* in the child: items that an earlier one sent */
};

static inline struct ctf *ctf_of(struct source *src)
{
	return (struct ctf *)src;
}

/* ---- item.c */
/* Makes an item with `extra` bytes after it, and appends its ref to tr->due. */
struct ctf_item *ctf_item_new(struct ctf_trace *tr, enum record_class kind,
			      uint64_t key, size_t extra);
/* Return the start of the addresses; of the raw bytes or the name. */
static inline uint64_t *ctf_item_ips(const struct ctf_item *it)
{
	return (uint64_t *)(it + 1);
}
static inline unsigned char *ctf_item_raw(const struct ctf_item *it)
{
	return (unsigned char *)(ctf_item_ips(it) + it->n_kern + it->n_user);
}
int ctf_item_decode(struct source *src, const struct ref *ref,
		    struct record *rec, struct err *err);
void ctf_item_release(struct source *src, const struct ref *ref);

/* ---- task.c, maps.c: facts about threads and mappings */
/* Sets role and parts of an event from its format. */
void ctf_role_find(struct ctf_event *ev);
/* Makes the items that the event's role asks for, before its own. */
void ctf_task(struct ctf_trace *tr, const struct ctf_event *ev,
	      const struct ctf_item *head, const struct bytes *raw);
/* Makes an item of a thread's name from a context, if the name is new. */
void ctf_task_name(struct ctf_trace *tr, uint64_t time, int32_t pid,
		   int32_t tid, const char *name);
/* Return the value of a field; a string that is valid until the next call. */
int64_t ctf_number(const struct ctf_event *ev, enum ctf_part_of part,
		   const struct bytes *raw, int64_t otherwise);
const char *ctf_text(struct ctf *ctf, const struct ctf_event *ev,
		     enum ctf_part_of part, const struct bytes *raw);
/* Makes items of the kernel's mappings, read from the recorded machine's
 * kallsyms, as LTTng does not record them. Without kallsyms the kernel is one
 * map from address 0, so that symbols can be resolved later. */
void ctf_map_kernel(struct ctf_trace *tr);
void ctf_map(struct ctf_trace *tr, const struct ctf_event *ev,
	     const struct ctf_item *head, const struct bytes *raw);
/* Makes the item of a mapping that waits for a build-id, without one: the
 * thread had another event. */
void ctf_map_flush(struct ctf_trace *tr, int32_t pid, int32_t tid);
/* Does so for all threads. */
void ctf_map_flush_all(struct ctf_trace *tr);
void ctf_maps_release(struct ctf_trace *tr);

/* ---- settle.c */
/* Completes an item. Returns false if it repeats an earlier one. */
bool ctf_settle_item(struct ctf *ctf, struct ctf_item *it);

/* ---- def.c: the events of all traces */
struct ctf_event_info {
	const char *name, *text; /* the format */
	size_t len;		 /* of text */
	bool defer, has_time, has_tid;
};

/* Returns the index of the event, which is added if no equal one exists. */
uint32_t ctf_event_add(struct ctf *ctf, const struct ctf_event_info *info);

/* ---- find.c */
bool ctf_is_folder(const char *path);
int ctf_find_traces(struct ctf *ctf, const char *path, struct err *err);
/* Maps a file. Returns NULL, and *len 0, if it is empty or cannot be read. */
void *ctf_file_map(const char *path, uint64_t *len);
void ctf_file_unmap(void *data, uint64_t len);

/* ---- salvage.c */
/* Checks all stream files of a trace, reports damage and sets tr->shown.
 * Returns -1 if the temporary folder cannot be made. */
int ctf_salvage(struct ctf_trace *tr, struct err *err);
/* Removes the temporary folders. */
void ctf_salvage_end(struct ctf *ctf);

/* ---- rule.c: rules of --request and --chain, or the defaults */
int ctf_rules_read(struct ctf *ctf, struct err *err);
void ctf_rules_release(struct ctf *ctf);
/* Returns the rule for an event; NULL: none. */
const struct ctf_rule *ctf_rule_of(const struct ctf *ctf, const char *event,
				   bool chain);

/* ---- graph.c, class.c, event.c call libbabeltrace2 */
/* Can the library read CTF 2? */
bool ctf_graph_newer(void);
int ctf_graph_start(struct ctf *ctf, struct err *err);
void ctf_graph_stop(struct ctf *ctf);
/* Adds items of more messages to tr->due. Returns 1, 0 at the end, -1 and *err
 * on damage. */
int ctf_graph_pull(struct ctf_trace *tr, struct err *err);
void ctf_graph_close(struct ctf_trace *tr);

/* ---- try.c */
/* Returns 0, or -1 and *err if the library cannot read the trace or crashes. */
int ctf_try_open(struct ctf_trace *tr, struct err *err);

/* ---- log.c */
/* Removes the pointers that end a message of the library. */
void ctf_log_strip_addresses(char *text);
/* Keeps the first line of a log without the prefix and the emoji that begin
 * it. */
void ctf_log_first_line(char *text);

/* ---- merge.c, in the child */
void ctf_merge_start(struct ctf *ctf);
/* Returns 1, the earliest trace and its next ref, or 0 at the end. */
int ctf_merge_next(struct ctf *ctf, uint32_t *trace, struct ctf_due *out);

/* ---- child.c: the process that calls the library */
int ctf_child_start(struct ctf *ctf, struct err *err);
/* Ends the child if it runs. *err (may be NULL) says how it ended. */
void ctf_child_end(struct ctf *ctf, struct err *err);

/* ---- tell.c: in the child, messages for the parent. In the parent the first
 * three do nothing. */
void ctf_tell_event(struct ctf *ctf, const struct ctf_event_info *info);
void ctf_tell_base(struct ctf *ctf);
void ctf_tell_skip(struct ctf *ctf, const char *what);
void ctf_tell_damage(struct ctf_trace *tr, const struct err *err);
void ctf_tell_item(struct ctf *ctf, uint32_t trace, const struct ctf_due *d);
void ctf_tell_end(struct ctf *ctf);

/* The kinds of messages and what follows them. */
enum ctf_msg_kind {
	CTF_MSG_END = 1,
	CTF_MSG_ITEM,
	CTF_MSG_EVENT,	/* flags, then name and format, each with a 0 */
	CTF_MSG_BASE,	/* int64_t */
	CTF_MSG_SKIP,	/* text */
	CTF_MSG_DAMAGE, /* text; the trace ends */
};

#define CTF_MSG_DEFER 1u
#define CTF_MSG_TIME 2u
#define CTF_MSG_TID 4u

/* ---- next.c: messages of the child */
int ctf_next(struct source *src, struct ref *ref, struct err *err);
#endif
