/* ctf.h - inside the reader of CTF traces (LTTng sessions, perf data convert):
 * what its files share.
 *
 * ctf_open -> every folder below the path that has a metadata file is a trace
 * -> ctf_meta (what its text says of clock and packets) -> ctf_chain (are the
 * packets of its files whole? if not, a folder with the good part stands in)
 * -> next: one babeltrace graph per trace, opened when its time comes; each
 * message becomes items in the pool, each item a ref; the traces are merged by
 * time -> decode: the item as a record -> release: the pool forgets it.
 *
 * The payload of an event is laid out anew, as ftrace would: numbers at fixed
 * places, text and blobs behind them; and a format text describes it. So all
 * that knows ftrace's payloads (formats/tracepoint/tracepoint.h, payload.h)
 * knows these. */
#ifndef FORMATS_CTF_CTF_H
#define FORMATS_CTF_CTF_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/reader/task_rules.h"
#include "formats/tracepoint/tracepoint.h"
#include "stitch/base/ledger.h"
#include "stitch/base/mem.h"
#include "stitch/record.h"
#include "stitch/source.h"
#include "stitch/base/table.h"

struct ctf_ring;
struct err;

extern const struct source_ops ctf_ops;

/* ---- meta.c: the metadata, as far as we read it ourselves */

/* A number in a packet's header or context; size 0: there is none. */
struct ctf_place {
	uint32_t off, size; /* bytes from the packet's start; of it: 1..8 */
};

/* Where a stream's packets say what. */
struct ctf_layout {
	uint64_t id; /* of the stream class */
	bool known;
	uint32_t len; /* of header and context, as far as it is fixed */
	struct ctf_place begin, end, content, packet, seq, cpu;
};

#define CTF_STREAMS 64
#define CTF_UUID 16

struct ctf_meta {
	int version; /* 1, 2; 0: not seen */
	bool cut;    /* it ends in the middle */
	bool big;    /* numbers in packets */
	bool has_uuid;
	uint8_t uuid[CTF_UUID];
	struct ctf_place magic, id, stream; /* of the header; id: uuid */
	struct ctf_layout layout[CTF_STREAMS];
	size_t n_layout;
	/* Of the first clock; freq 0: none. Text of the arena, NULL: none. */
	uint64_t freq;
	int64_t offset_s;
	uint64_t offset;
	const char *clock, *clock_uuid;
	const char *host, *tracer, *domain, *release, *kernel, *machine, *name;
	int32_t vpid; /* of per-process buffers; -1 */
};

/* data: the file's bytes, of either form. What cannot be understood is left
 * out; version 2 is only recognised. */
void ctf_meta_read(struct arena *arena, const void *data, size_t len,
		   struct ctf_meta *out);
/* Its text as far as its statements are whole; owned. */
char *ctf_meta_whole(const void *data, size_t len, size_t *out_len);

/* ---- chain.c: the packets of a stream file */

/* A part of a stream file. */
struct ctf_part {
	uint64_t off, len;
	uint64_t begin, end; /* first and last time, in clock cycles; 0 */
	bool good;
};

struct ctf_chain {
	struct ctf_part *part; /* neighbours differ in good */
	size_t n, cap;
	uint64_t packets;
	uint64_t begin, end; /* cycles; UINT64_MAX, 0: not said */
	bool known; /* false: the layout does not tell; nothing was checked */
};

void ctf_chain_read(const struct ctf_meta *meta, const void *data, uint64_t len,
		    struct ctf_chain *out);
void ctf_chain_release(struct ctf_chain *ch);

/* ---- pool.c: records that were made and not released */

struct ctf_block {
	unsigned char *data;
	uint32_t cap, used, live;
};

struct ctf_pool {
	struct ctf_block *block;
	size_t n, cap;
	uint32_t *spare; /* blocks with nothing in them */
	size_t n_spare, cap_spare;
	uint32_t now; /* the one that is filled, plus 1 */
	uint64_t held;
};

void *ctf_pool_take(struct ctf_pool *pool, size_t len, uint64_t *handle);
void *ctf_pool_at(const struct ctf_pool *pool, uint64_t handle);
void ctf_pool_drop(struct ctf_pool *pool, uint64_t handle);
void ctf_pool_release(struct ctf_pool *pool);

/* ---- items: records in the pool */

/* Followed by kernel addresses, user addresses, then raw bytes or the name,
 * which ends with a 0; of a chain of functions their names. */
struct ctf_item {
	uint64_t time;
	int32_t pid, tid, cpu;
	uint32_t flags;
	uint8_t kind; /* enum record_kind */
	uint8_t defer;
	uint8_t cut; /* 1 kernel half, 2 user half: by a limit */
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
			uint8_t role;  /* enum ctf_role: who says it */
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

/* What an event means to us besides being one: the roles of task_rules.h, and
 * those of events that LTTng alone has. */
enum ctf_role {
	CTF_PLAIN = ROLE_PLAIN,
	CTF_SWITCH = ROLE_SWITCH,
	CTF_WAKEUP = ROLE_WAKEUP,
	CTF_WAKEUP_NEW = ROLE_WAKEUP_NEW,
	CTF_NAMED = ROLE_NAMED,
	CTF_FORK = ROLE_FORK,
	CTF_EXEC = ROLE_EXEC,
	CTF_EXIT = ROLE_EXIT,
	CTF_STATE = ROLES, /* of a process, when recording began */
	CTF_IMAGE,	   /* a file is mapped: statedump; maps from here on */
	CTF_OPEN,	   /* dlopen() */
	CTF_LOAD,
	CTF_BUILD_ID,
	CTF_CLOSE, /* dlclose() */
	CTF_UNLOAD,
};

/* Fields that a role reads: index in the format, -1 not there. */
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

/* One per name and layout of the payload. */
struct ctf_event {
	struct tp_format fmt;
	enum ctf_role role;
	int part[CTF_PARTS];
};

/* A name of an event, and the fields that make it a request or a chain. */
struct ctf_rule {
	char *event, *cookie, *ips; /* ips NULL: a request */
};

/* A mapping that a thread has told of; its build-id comes next. */
struct ctf_pending {
	bool used;
	uint8_t role; /* enum ctf_role: of the event that told */
	int32_t pid, tid, cpu;
	uint64_t start, len;
	uint8_t id[20], id_len;
	char *path; /* owned */
};

#define CTF_PENDING 64

/* What is mapped at a base of a process. */
struct ctf_mapped {
	uint64_t len;	   /* 0: nothing any more */
	uint64_t what;	   /* hash of all of it */
	uint32_t n_open;   /* dlopen() */
	bool told_of_load; /* so its end will be told of, too */
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
	int64_t base; /* ns of the clock's zero since 1970 */
	bool differ;  /* of the traces' clocks, and base is the smallest */
	bool has_base;
	struct tp tp;	  /* of fields() and print() */
	struct tp look;	  /* of next() */
	struct tp said;	  /* of decode() */
	struct call call; /* the same */
	/* the same, of a chain of names */
	struct place *place;
	const struct place **places;
	size_t cap_place, cap_places;
	struct told_tasks told; /* names that were given out */
	struct ctf_mapped *mapped;
	size_t n_mapped, cap_mapped;
	struct table by_base; /* of them, by process and base */
	bool trying;	      /* in the child of ctf_try() */
	struct ctf_ring *ring;
	int child;     /* process id; 0: none */
	int child_err; /* where it says why it dies */
	bool in_child, told_kernel;
	struct ctf_trace *giving; /* whose due is handed out */
	char *temp;		  /* folder of the stand-ins; NULL: none */
	unsigned int n_temp;
	const void *ctf_plugin, *utils_plugin;
};

/* A ref, and the time of the message that it came with. */
struct ctf_due {
	uint64_t at;
	struct ref ref;
};

struct ctf_graph;

/* A folder with a metadata file. */
struct ctf_trace {
	struct ctf *ctf;
	char *path;  /* as it was found */
	char *shown; /* what is opened: path, or its stand-in */
	struct ctf_meta meta;
	uint64_t packets;
	uint64_t start; /* on the capture's clock, as far as packets say */
	struct ctf_graph *graph;
	bool opened, ended, is_perf;
	struct ctf_due *due;
	size_t n_due, cap_due, due_pos;
	uint64_t at;	 /* time of the newest message */
	int32_t *on_cpu; /* who runs there, as sched_switch says; -1 */
	size_t n_cpu;
	struct ctf_pending *pending; /* CTF_PENDING, by thread; NULL */
	size_t n_pending;
	struct told_tasks told; /* names that it has said */
	uint64_t given;		/* items that came out of the child */
	uint64_t skip;		/* in the child: that came out of one before */
};

static inline struct ctf *ctf_of(struct source *src)
{
	return (struct ctf *)src;
}

/* ---- item.c: making items, and what becomes of them */
/* One for a record at key, to be handed out after what came before. */
struct ctf_item *ctf_item_new(struct ctf_trace *tr, enum record_class class,
			      uint64_t key, size_t extra);
/* Where the addresses, the raw bytes and the name begin. */
static inline uint64_t *ctf_item_ips(const struct ctf_item *it)
{
	return (uint64_t *)(it + 1);
}
static inline unsigned char *ctf_item_raw(const struct ctf_item *it)
{
	return (unsigned char *)(ctf_item_ips(it) + it->n_kern + it->n_user);
}
int ctf_decode(struct source *src, const struct ref *ref, struct record *rec,
	       struct err *err);
void ctf_release(struct source *src, const struct ref *ref);

/* ---- task.c, maps.c: what events say of threads and mappings */
void ctf_role_find(struct ctf_event *ev);
/* Items for it, before the event's own. */
void ctf_task(struct ctf_trace *tr, const struct ctf_event *ev,
	      const struct ctf_item *head, const struct bytes *raw);
/* Makes an item of a thread's name from a context, if the name is new. */
void ctf_task_name(struct ctf_trace *tr, uint64_t time, int32_t pid,
		   int32_t tid, const char *name);
int64_t ctf_number(const struct ctf_event *ev, enum ctf_part_of part,
		   const struct bytes *raw, int64_t otherwise);
const char *ctf_text(struct ctf *ctf, const struct ctf_event *ev,
		     enum ctf_part_of part, const struct bytes *raw);
/* Where the kernel is. */
void ctf_map_kernel(struct ctf_trace *tr);
void ctf_map(struct ctf_trace *tr, const struct ctf_event *ev,
	     const struct ctf_item *head, const struct bytes *raw);
/* Another event of that thread: what waits for its build-id gets none. */
void ctf_map_flush(struct ctf_trace *tr, int32_t pid, int32_t tid);
/* The same of all threads. */
void ctf_map_flush_all(struct ctf_trace *tr);
void ctf_maps_release(struct ctf_trace *tr);

/* ---- settle.c: what traces have said, in the order of their times */
/* Is an item to be handed out? It is completed. */
bool ctf_settle(struct ctf *ctf, struct ctf_item *it);

/* ---- def.c: the events of all traces */
struct ctf_event_info {
	const char *name, *text; /* the format */
	size_t len;		 /* of text */
	bool defer, has_time, has_tid;
};

/* Its index; traces and streams share those that are the same. */
uint32_t ctf_event_add(struct ctf *ctf, const struct ctf_event_info *info);

/* ---- find.c: the traces below a folder */
bool ctf_is_folder(const char *path);
int ctf_find(struct ctf *ctf, const char *path, struct err *err);
/* The bytes of a file; *len 0 and NULL when it is empty or cannot be read. */
void *ctf_file_map(const char *path, uint64_t *len);
void ctf_file_unmap(void *data, uint64_t len);

/* ---- salvage.c: broken stream files */
/* Looks at every stream file of the trace; sets shown when a stand-in had to
 * be made. -1: it cannot be made. */
int ctf_salvage(struct ctf_trace *tr, struct err *err);
void ctf_salvage_end(struct ctf *ctf);

/* ---- rule.c: requests and chains by convention */
int ctf_rules_read(struct ctf *ctf, struct err *err);
void ctf_rules_release(struct ctf *ctf);
const struct ctf_rule *ctf_rule_of(const struct ctf *ctf, const char *event,
				   bool chain);

/* ---- graph.c, class.c, event.c: with libbabeltrace2 */
/* Can the library read CTF 2? */
bool ctf_graph_newer(void);
int ctf_graph_start(struct ctf *ctf, struct err *err);
void ctf_graph_stop(struct ctf *ctf);
/* More messages into tr->due: 1, 0 the end, -1 damage and *err. */
int ctf_graph_pull(struct ctf_trace *tr, struct err *err);
void ctf_graph_close(struct ctf_trace *tr);

/* ---- try.c: 0, or -1 and *err: the library cannot read it, or must not.
 */
int ctf_try(struct ctf_trace *tr, struct err *err);
/* The library's messages end with addresses in memory: not with us. */
void ctf_tidy(char *text);
/* The first line of its log; its assertions begin with a face. */
void ctf_tidy_log(char *text);

/* ---- merge.c: in the child, the traces merged by time */
void ctf_merge_start(struct ctf *ctf);
/* 1, the trace and what is due of it; 0 the end. */
int ctf_merge_next(struct ctf *ctf, uint32_t *trace, struct ctf_due *out);

/* ---- child.c: the process that calls the library */
int ctf_child_start(struct ctf *ctf, struct err *err);
/* Ends it if it runs; *err (may be NULL): how it ended. */
void ctf_child_end(struct ctf *ctf, struct err *err);
/* In it: for the other side. */
void ctf_tell_event(struct ctf *ctf, const struct ctf_event_info *info);
void ctf_tell_base(struct ctf *ctf);
void ctf_tell_skip(struct ctf *ctf, const char *what);
void ctf_tell_damage(struct ctf_trace *tr, const struct err *err);

/* What is in its messages. */
enum ctf_msg_kind {
	CTF_MSG_END = 1,
	CTF_MSG_ITEM,
	CTF_MSG_EVENT,	/* flags, then name and format, each with a 0 */
	CTF_MSG_BASE,	/* int64_t */
	CTF_MSG_SKIP,	/* text */
	CTF_MSG_DAMAGE, /* text; no more comes of the trace */
};

#define CTF_MSG_DEFER 1u
#define CTF_MSG_TIME 2u
#define CTF_MSG_TID 4u

/* ---- next.c: what comes out of it */
int ctf_next(struct source *src, struct ref *ref, struct err *err);

void ctf_damage(const struct ctf *ctf, const char *what, uint64_t off,
		uint64_t len, const struct err *err);
void ctf_note(const struct ctf *ctf, enum ledger_kind kind, const char *what,
	      const char *detail, uint64_t n);
#endif
