/* perf.h - inside the perf.data reader: what its files share.
 *
 * perf_open -> perf_header (file form: events, then feature sections) ->
 * scan: perf_walk over all records once, looking at times only -> next:
 * perf_walk again, handing out refs -> decode. On a true pipe there is no
 * scan: next keeps windows. A record is named by a handle: an offset in a
 * mapped file, or a place in a chunk of bytes that we hold in memory. */
#ifndef FORMATS_PERF_PERF_H
#define FORMATS_PERF_PERF_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/input.h"
#include "formats/tracepoint/tracepoint.h"
#include "stitch/base/bytes.h"
#include "stitch/base/mem.h"
#include "stitch/source.h"
#include "stitch/base/table.h"

extern const struct source_ops perf_ops;

/* Record types; those >= PR_TOOL are made by the perf tool. */
enum perf_type {
	PR_MMAP = 1,
	PR_LOST,
	PR_COMM,
	PR_EXIT,
	PR_THROTTLE,
	PR_UNTHROTTLE,
	PR_FORK,
	PR_READ,
	PR_SAMPLE,
	PR_MMAP2,
	PR_AUX,
	PR_ITRACE_START,
	PR_LOST_SAMPLES,
	PR_SWITCH,
	PR_SWITCH_CPU_WIDE,
	PR_NAMESPACES,
	PR_KSYMBOL,
	PR_BPF_EVENT,
	PR_CGROUP,
	PR_TEXT_POKE,
	PR_AUX_OUTPUT_HW_ID,
	PR_CALLCHAIN_DEFERRED,
	PR_KERNEL_KNOWN, /* first one we do not know */
	PR_TOOL = 64,
	PR_HEADER_ATTR = 64,
	PR_EVENT_TYPE,
	PR_TRACING_DATA,
	PR_BUILD_ID,
	PR_FINISHED_ROUND,
	PR_ID_INDEX,
	PR_AUXTRACE_INFO,
	PR_AUXTRACE,
	PR_AUXTRACE_ERROR,
	PR_THREAD_MAP,
	PR_CPU_MAP,
	PR_STAT_CONFIG,
	PR_STAT,
	PR_STAT_ROUND,
	PR_EVENT_UPDATE,
	PR_TIME_CONV,
	PR_FEATURE,
	PR_COMPRESSED,
	PR_FINISHED_INIT,
	PR_COMPRESSED2,
	PR_BPF_METADATA,
	PR_SCHEDSTAT_CPU,
	PR_SCHEDSTAT_DOMAIN,
	PR_TOOL_KNOWN, /* first one we do not know */
};

/* Bits of sample_type. */
#define PS_IP ((uint64_t)1 << 0)
#define PS_TID ((uint64_t)1 << 1)
#define PS_TIME ((uint64_t)1 << 2)
#define PS_ADDR ((uint64_t)1 << 3)
#define PS_READ ((uint64_t)1 << 4)
#define PS_CALLCHAIN ((uint64_t)1 << 5)
#define PS_ID ((uint64_t)1 << 6)
#define PS_CPU ((uint64_t)1 << 7)
#define PS_PERIOD ((uint64_t)1 << 8)
#define PS_STREAM_ID ((uint64_t)1 << 9)
#define PS_RAW ((uint64_t)1 << 10)
#define PS_BRANCH ((uint64_t)1 << 11)
#define PS_REGS_USER ((uint64_t)1 << 12)
#define PS_STACK_USER ((uint64_t)1 << 13)
#define PS_WEIGHT ((uint64_t)1 << 14)
#define PS_DATA_SRC ((uint64_t)1 << 15)
#define PS_IDENTIFIER ((uint64_t)1 << 16)
#define PS_TRANSACTION ((uint64_t)1 << 17)
#define PS_REGS_INTR ((uint64_t)1 << 18)
#define PS_PHYS_ADDR ((uint64_t)1 << 19)
#define PS_AUX ((uint64_t)1 << 20)
#define PS_CGROUP ((uint64_t)1 << 21)
#define PS_DATA_PAGE ((uint64_t)1 << 22)
#define PS_CODE_PAGE ((uint64_t)1 << 23)
#define PS_WEIGHT_STRUCT ((uint64_t)1 << 24)

/* Bits of perf_event_attr's flags. */
#define PA_INHERIT ((uint64_t)1 << 1)
#define PA_EXCLUDE_USER ((uint64_t)1 << 4)
#define PA_EXCLUDE_KERNEL ((uint64_t)1 << 5)
#define PA_MMAP ((uint64_t)1 << 8)
#define PA_FREQ ((uint64_t)1 << 10)
#define PA_SAMPLE_ID_ALL ((uint64_t)1 << 18)
#define PA_USE_CLOCKID ((uint64_t)1 << 25)
#define PA_WRITE_BACKWARD ((uint64_t)1 << 27)
#define PA_DEFER ((uint64_t)1 << 38)
#define PA_DEFER_OUTPUT ((uint64_t)1 << 39)

/* Times from here up are none (off-CPU samples, all ones). */
#define TIME_UNREAL 0xffffffff00000000u
#define KEY_LAST (UINT64_MAX - 1)

/* One event. Offsets of fields in its records are made once, from
 * sample_type: from the start of a sample, and from the end of other records
 * (where they form a trailer). 0 means that it is not there. */
struct perf_attr {
	uint32_t type, size;
	uint64_t config, period, sample_type, read_format, flags;
	uint64_t branch_type, regs_user, regs_intr;
	int32_t clockid;
	uint8_t s_id, s_ip, s_tid, s_time, s_addr, s_cpu, s_period, s_end;
	uint8_t t_tid, t_time, t_id, t_cpu, t_size;
	bool id_all, lbr, sched;
	uint32_t fmt; /* in perf.fmt, plus 1; 0: none */
};

/* A kernel id of an event: one per CPU or thread. */
struct perf_id {
	uint64_t id;
	uint32_t attr;
	int32_t cpu, tid; /* from ID_INDEX; -1: any, -2: not said */
};

/* Bytes that live in memory: unpacked records, a window of a pipe. */
struct perf_chunk {
	unsigned char *data;
	size_t len, cap;
	uint64_t id, off; /* place in the file of the first byte */
	uint32_t refs;
	bool flat; /* off goes on inside: not unpacked from one record */
};

/* A record where it stands. */
struct perf_rec {
	struct bytes b; /* all of it, header included */
	uint32_t type;
	uint16_t misc, size;
	uint64_t off; /* in the file, for messages */
	uint64_t handle;
	uint64_t place;		  /* bytes of records before it in its file */
	struct perf_chunk *chunk; /* it lives there; NULL: in the file */
};

struct perf_z; /* the zstd stream of a file */

/* One file of records: the only one, or one of the directory form. */
struct perf_file {
	struct input in;
	uint16_t index;
	bool done;
	uint64_t start, end;	   /* records of a mapped file */
	bool open_end;		   /* end is where the file was cut */
	struct bytes raw;	   /* what is not walked yet; of a pipe: have */
	struct perf_chunk *window; /* a pipe's */
	uint64_t skip;		   /* payload still to skip */
	struct perf_z *z;
	struct perf_chunk *plain; /* unpacked, not walked yet: from plain_at */
	size_t plain_at;
	uint64_t place, n, last_key;
	/* Smallest key per block of 64 KiB; after the scan: of that block and
	 * all behind it. */
	uint64_t *floor;
	size_t n_floor, cap_floor;
	uint64_t block; /* being read */
	bool holds;
	struct perf_rec held; /* walked, not taken */
};

/* What perf promises by FINISHED_ROUND; checked in all captures. */
struct perf_rounds {
	uint64_t n, max, limit, limit_was, flushed, behind;
};

/* Finished-round windows of a pipe. */
struct perf_window {
	uint64_t max; /* largest time; when the last two rounds ended: */
	uint64_t round1, round2;
	uint64_t first;
	bool any;
};

#define RECENT_IDS 32

struct perf {
	struct source src;
	struct source_opts opts;
	bool swap, loud, stream, scanned, ended;
	struct perf_file *file;
	size_t n_file;
	uint16_t cur;
	struct perf_attr *attr;
	struct event_def *event;
	size_t n_attr, cap_attr, cap_event;
	bool same_time; /* time stands at one place for all events */
	bool same_type; /* all sample_types are equal */
	struct perf_id *id;
	size_t n_id, cap_id;
	struct table by_id;
	struct {
		uint64_t id;
		uint32_t attr; /* plus 1; 0: empty */
	} recent[RECENT_IDS];  /* of by_id, by the low bits of the id */
	uint64_t chunk_base, chunk_bytes;
	struct perf_chunk **chunk; /* by id - chunk_base */
	size_t n_chunk, cap_chunk;
	/* Records of state without a time: given out before all others. */
	struct ref *state;
	size_t n_state, cap_state, state_pos;
	struct perf_chunk *state_chunk;
	struct perf_rounds rounds;
	struct perf_window window;
	uint64_t count[PR_TOOL_KNOWN + 1]; /* records by type, from the scan */
	uint64_t features[4];
	bool features_said, thread_map, wide_said;
	uint32_t n_lost_id; /* LOST_SAMPLES and the like of unknown events */
	struct build_id_def *build_id;
	size_t n_build_id, cap_build_id;
	struct arena arena; /* strings of info, events, build-ids */
	uint8_t kernel_id[20];
	/* Tracing data. */
	struct tp_format *fmt;
	size_t n_fmt, cap_fmt;
	bool long32, data_big;
	struct call call; /* of the last sample */
	struct tp tp;
	/* Scratch of decode(). */
	uint64_t *ip, *kern, *user, *part, *regs, *intr, *counter;
	size_t cap_ip, cap_kern, cap_user, cap_part, cap_regs, cap_intr;
	size_t cap_counter;
	struct branch *branch;
	size_t cap_branch;
	struct extra *extra;
	size_t n_extra, cap_extra;
	const char **read_name;
	size_t n_read_name, cap_read_name;
	char *text; /* a string without an end, made whole */
	size_t cap_text;
};

static inline struct perf *perf_of(struct source *src)
{
	return (struct perf *)src;
}

/* header.c: file form. Reads header, events, then feature sections. */
int perf_read_header(struct perf *p, struct err *err);

/* attr.c */
/* Adds the event in b, which holds perf_event_attr and nothing else. */
int perf_attr_add(struct perf *p, struct bytes *b, struct err *err);
void perf_id_add(struct perf *p, uint64_t id, uint32_t attr);
/* The id's entry or NULL. */
struct perf_id *perf_id_find(struct perf *p, uint64_t id);
/* Which event a record belongs to; NULL: an unknown one. */
const struct perf_attr *perf_attr_of(struct perf *p, const struct perf_rec *r);
void perf_event_name(struct perf *p, uint32_t attr, const char *name);
void perf_attr_release(struct perf *p);

/* walk.c */
void perf_walk_start(struct perf *p, struct perf_file *f);
/* 1 and *r, 0 at the end of the file, -1 when it cannot be read. */
int perf_walk(struct perf *p, struct perf_file *f, struct perf_rec *r,
	      struct err *err);
/* The n payload bytes behind a record, as far as they are there (they are
 * skipped by the next perf_walk(), or taken here). */
int perf_walk_payload(struct perf *p, struct perf_file *f, struct bytes *out,
		      unsigned char **owned, struct err *err);
void perf_walk_end(struct perf *p, struct perf_file *f);
/* The record of a ref; -1 when it is not there any more. */
int perf_rec_get(struct perf *p, const struct ref *ref, struct perf_rec *r,
		 struct err *err);
/* Damage found while walking: once, not again in the second pass. */
void perf_damage(struct perf *p, const char *what, uint64_t off, uint64_t len,
		 const struct err *err);
void perf_note(struct perf *p, const char *what, const char *detail);

/* chunk.c */
struct perf_chunk *perf_chunk_new(struct perf *p, size_t cap, uint64_t off,
				  bool flat);
struct perf_chunk *perf_chunk_find(struct perf *p, uint64_t handle);
void perf_chunk_put(struct perf *p, struct perf_chunk *c);
uint64_t perf_chunk_handle(const struct perf_chunk *c, size_t at);
void perf_chunk_release(struct perf *p);

/* zstd.c */
/* Starts unpacking the payload of a COMPRESSED record. */
void perf_z_feed(struct perf *p, struct perf_file *f, const struct perf_rec *r);
/* Unpacks more into f->plain, if input is left: whether there is more. */
bool perf_z_more(struct perf *p, struct perf_file *f);
/* A record cut at the end of everything: how many bytes of it there are. */
size_t perf_z_rest(const struct perf_file *f);
void perf_z_free(struct perf *p, struct perf_file *f);

/* tool.c: records of the perf tool, when walked the first time. */
int perf_tool(struct perf *p, struct perf_file *f, const struct perf_rec *r,
	      struct err *err);
/* What only the whole says: system_wide and the like. */
void perf_tool_end(struct perf *p);

/* feature.c */
/* Feature bit's section or record; a broken one is damage. */
void perf_feature(struct perf *p, uint32_t bit, struct bytes *b);
void perf_build_id(struct perf *p, struct bytes *b, uint16_t misc);

/* scan.c */
int perf_scan(struct source *src, struct err *err);
int perf_next(struct source *src, struct ref *ref, struct err *err);
/* Key, class and the rest of a kernel record's ref. false: it is not handed
 * out (and why has been said). */
bool perf_place(struct perf *p, struct perf_file *f, const struct perf_rec *r,
		struct ref *ref);
/* Counts a record whose event is not described. */
void perf_unknown_id(struct perf *p, const struct perf_rec *r);
/* Is this a record of state that goes before everything timed? */
bool perf_is_state(const struct perf *p, const struct perf_rec *r,
		   const struct ref *ref);
/* FINISHED_ROUND and records under it. */
void perf_round_end(struct perf *p);
void perf_round_record(struct perf *p, const struct perf_rec *r,
		       const struct ref *ref);

/* stream.c */
int perf_stream_start(struct perf *p, struct err *err);
int perf_stream_next(struct perf *p, struct ref *ref, struct err *err);

/* perf_record.c */
int perf_decode(struct source *src, const struct ref *ref, struct record *rec,
		struct err *err);
const char *perf_type_name(uint32_t type);

/* perf_sample.c */
int perf_sample(struct perf *p, const struct perf_attr *a,
		const struct perf_rec *r, struct record *rec, struct err *err);
void perf_extra(struct perf *p, const char *name, uint64_t value);

/* dir.c */
/* Opens DIR/data.N behind file[0]; none is fine. */
int perf_dir_open(struct perf *p, const char *dir, struct err *err);

/* perf_trace.c */
/* Feature section 1 or the payload of record 66. */
void perf_tracing_data(struct perf *p, struct bytes *b);
/* Gives tracepoint events their fields (and names, where none is known). */
void perf_trace_events(struct perf *p);
const struct tp_format *perf_fmt_of(const struct perf *p, uint32_t event);
/* Fills s->sched and s->call from the payload of an event that has
 * perf_attr.sched. */
void perf_sched(struct perf *p, struct rec_sample *s);
int perf_fields(struct source *src, const struct rec_sample *s,
		struct field *out, struct err *err);
int perf_print(struct source *src, const struct rec_sample *s, char *buf,
	       size_t size);
void perf_trace_release(struct perf *p);

/* dump.c */
int perf_dump(struct source *src,
	      int (*fn)(void *arg, const char *text, struct err *err),
	      void *arg, struct err *err);
#endif
