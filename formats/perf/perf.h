/* perf.h - declarations shared by the files of the perf.data reader.
 *
 * Call order: perf_open() reads the header (in a file: events, then feature
 * sections); perf_scan() walks all records once and looks only at their times;
 * perf_next() walks them again and returns refs; perf_record_decode() makes a
 * record of a ref. A true pipe is not scanned: perf_next() holds back a window
 * of records. A handle identifies a record: it is an offset in a mapped file,
 * or a position in a chunk of memory. */
#pragma once
#include <stdbool.h>
#include <zstd.h>

#include "formats/input.h"
#include "formats/reader/bounds.h"
#include "formats/reader/reader.h"
#include "formats/tracepoint/tracepoint.h"
#include "stitch/base/bytes.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/source.h"

/* ---- decodes the zstd stream of compressed records. */

struct zstd_stream {
	ZSTD_DStream *d; /* the owner makes and frees it */
	ZSTD_inBuffer in;
	/* The number of bytes that the decoder wants next. It is 0 or the size
	 * of a block head after a flush, which ends each compressed record
	 * except full ones. */
	size_t wants;
};

/* Decodes until *out is full or the input is used up. Returns NULL, or a
 * constant string with the damage: nothing after that can be decoded. */
const char *zstd_stream_decode(struct zstd_stream *z, ZSTD_outBuffer *out);
/* Returns whether the input so far ends inside a block. */
bool zstd_stream_is_open(const struct zstd_stream *z);

extern const struct source_ops perf_ops;

/* Record types of the kernel, numbered from 1 on, and their sort classes. */
#define PERF_KERNEL_TYPES(X)                                                   \
	X(MMAP, MAP)                                                           \
	X(LOST, LOST)                                                          \
	X(COMM, COMM)                                                          \
	X(EXIT, EXIT)                                                          \
	X(THROTTLE, LOST)                                                      \
	X(UNTHROTTLE, LOST)                                                    \
	X(FORK, FORK)                                                          \
	X(READ, SAMPLE)                                                        \
	X(SAMPLE, SAMPLE)                                                      \
	X(MMAP2, MAP)                                                          \
	X(AUX, SAMPLE)                                                         \
	X(ITRACE_START, SAMPLE)                                                \
	X(LOST_SAMPLES, LOST)                                                  \
	X(SWITCH, SWITCH_IN)                                                   \
	X(SWITCH_CPU_WIDE, SWITCH_IN)                                          \
	X(NAMESPACES, SPACE)                                                   \
	X(KSYMBOL, MAP)                                                        \
	X(BPF_EVENT, MAP)                                                      \
	X(CGROUP, SPACE)                                                       \
	X(TEXT_POKE, MAP)                                                      \
	X(AUX_OUTPUT_HW_ID, SAMPLE)                                            \
	X(CALLCHAIN_DEFERRED, CHAIN)
/* Record types of the perf tool after PR_HEADER_ATTR. They have no sort class,
 * as they get no ref. */
#define PERF_TOOL_TYPES(X)                                                     \
	X(EVENT_TYPE)                                                          \
	X(TRACING_DATA)                                                        \
	X(BUILD_ID)                                                            \
	X(FINISHED_ROUND)                                                      \
	X(ID_INDEX)                                                            \
	X(AUXTRACE_INFO)                                                       \
	X(AUXTRACE)                                                            \
	X(AUXTRACE_ERROR)                                                      \
	X(THREAD_MAP)                                                          \
	X(CPU_MAP)                                                             \
	X(STAT_CONFIG)                                                         \
	X(STAT)                                                                \
	X(STAT_ROUND)                                                          \
	X(EVENT_UPDATE)                                                        \
	X(TIME_CONV)                                                           \
	X(FEATURE)                                                             \
	X(COMPRESSED)                                                          \
	X(FINISHED_INIT)                                                       \
	X(COMPRESSED2)                                                         \
	X(BPF_METADATA)                                                        \
	X(SCHEDSTAT_CPU)                                                       \
	X(SCHEDSTAT_DOMAIN)

/* Record types. Those from PR_TOOL on are of the perf tool, the others of the
 * kernel. */
enum perf_type {
	PR_NONE, /* not a valid type */
#define PERF_TYPE(name, ...) PR_##name,
	PERF_KERNEL_TYPES(PERF_TYPE)
	PR_KERNEL_KNOWN, /* first unknown kernel type */
	PR_TOOL = 64,
	PR_HEADER_ATTR = 64,
	PERF_TOOL_TYPES(PERF_TYPE)
#undef PERF_TYPE
	PR_TOOL_KNOWN,	       /* first unknown tool type */
	PR_SIMPLEPERF = 32768, /* simpleperf's own types begin after it */
	PR_EVENT_ID = PR_SIMPLEPERF + 6,
	PR_CUT = 40000, /* backstitch's own: a place where a stream was cut */
};

/* Returns whether the type is simpleperf's own. Such records may have more than
 * 64 KiB: their misc is the upper half of the size (simpleperf_record_header of
 * its record.h). */
static inline bool perf_type_is_simpleperf(uint32_t type)
{
	return type > PR_SIMPLEPERF && type < PR_SIMPLEPERF + PR_TOOL;
}

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
#define PS_UNKNOWN ((uint64_t)1 << 25) /* this bit and all above */

/* Bits of perf_event_attr.read_format. */
#define READ_ENABLED 1
#define READ_RUNNING 2
#define READ_ID 4
#define READ_GROUP 8
#define READ_LOST 16

/* Bits of perf_event_attr's flags. */
#define PA_INHERIT ((uint64_t)1 << 1)
#define PA_EXCLUDE_USER ((uint64_t)1 << 4)
#define PA_EXCLUDE_KERNEL ((uint64_t)1 << 5)
#define PA_EXCLUDE_HV ((uint64_t)1 << 6)
#define PA_MMAP ((uint64_t)1 << 8)
#define PA_FREQ ((uint64_t)1 << 10)
#define PA_PRECISE_SHIFT 15 /* precise_ip: 2 bits */
#define PA_PRECISE ((uint64_t)3 << PA_PRECISE_SHIFT)
#define PA_SAMPLE_ID_ALL ((uint64_t)1 << 18)
#define PA_EXCLUDE_HOST ((uint64_t)1 << 19)
#define PA_EXCLUDE_GUEST ((uint64_t)1 << 20)
#define PA_USE_CLOCKID ((uint64_t)1 << 25)
#define PA_WRITE_BACKWARD ((uint64_t)1 << 27)
#define PA_BUILD_ID ((uint64_t)1 << 34)
#define PA_DEFER ((uint64_t)1 << 38)
#define PA_DEFER_OUTPUT ((uint64_t)1 << 39)

/* Bits of a record's misc; the meaning of 13 to 15 depends on the type. */
#define PM_CPUMODE 7
#define PM_KERNEL 1
#define PM_USER 2
#define PM_HYPERVISOR 3
#define PM_GUEST_KERNEL 4
#define PM_GUEST_USER 5
#define PM_BIT12 (1 << 12) /* perf gave up reading /proc/PID/maps */
#define PM_BIT13 (1 << 13) /* data map, exec, switch out, synthesized fork */
#define PM_BIT14 (1 << 14) /* preempted, map has a build-id */
#define PM_BIT15 (1 << 15) /* dropped by a filter, build-id has a length */

/* The lowest bit of flags that backstitch does not know; all above are unknown
 * too. */
#define PA_UNKNOWN ((uint64_t)1 << 40)

#define PERF_TYPE_TRACEPOINT 2

/* A time of this value or more is not a time (perf's off-CPU samples; all bits
 * set). */
#define TIME_UNREAL 0xffffffff00000000u
#define KEY_LAST (UINT64_MAX - 1)

/* One event. The s_ fields are offsets from the start of a SAMPLE; the t_
 * fields are offsets back from the end of other records, which end with a
 * trailer. Both are computed once, from sample_type; 0: no such field. */
struct perf_attr {
	uint32_t type, size, bp_type;
	uint64_t bp_addr;
	uint64_t config, period, sample_type, read_format, flags;
	uint64_t branch_type, regs_user, regs_intr;
	int32_t clockid;
	uint32_t stack_user; /* size of the stack dump in a sample */
	uint16_t max_stack;  /* frames of both halves; 0: unknown */
	uint8_t s_id, s_ip, s_tid, s_time, s_addr, s_cpu, s_period, s_end;
	uint8_t t_tid, t_time, t_id, t_cpu, t_size;
	bool id_all, lbr, sched, off_cpu; /* off_cpu: set by the event's name */
	uint32_t fmt;			  /* index + 1 in perf.fmt; 0: none */
	uint8_t noted; /* enum perf_noted: notes that its samples have made */
};

enum perf_noted {
	NOTED_REGISTERS = 1, /* registers of an unknown kind */
	NOTED_MODE = 2,	     /* the kernel's mode for a program's address */
	NOTED_UNMAPPED = 4,  /* addresses that perf inject made 0 */
	NOTED_LOW = 8,	     /* kernel code below the kernel's half */
	NOTED_CPU = 16,	     /* a CPU that perf did not count */
};

#define RECENT_IDS 32

/* A kernel id of an event: one per CPU or thread. */
struct perf_id {
	uint64_t id;
	uint32_t attr;
	int32_t cpu, tid; /* from ID_INDEX; -1: any, -2: unknown */
};

/* Records in memory: decompressed ones, or a window of a pipe. */
struct perf_chunk {
	unsigned char *data;
	size_t len, cap;
	uint64_t id, off; /* file offset of the first byte */
	uint64_t spilled; /* 1 + its offset in the spill file; 0: it is not
			     there */
	uint32_t refs;
	/* Byte n of data is at off + n of the file. If false, all of data was
	 * decompressed from one record at off. */
	bool flat;
};

/* A record in its file or chunk. */
struct perf_rec {
	struct bytes b; /* the whole record, header included */
	uint32_t type;
	uint16_t misc, size;
	uint64_t off; /* offset in the file, for messages */
	uint64_t handle;
	uint64_t place; /* sum of the sizes of all records before it */
	struct perf_chunk *chunk; /* NULL: it is in the mapped file */
};

/* How to recognize a plain record: only its time is needed to make a ref. */
struct perf_layout {
	bool known;	      /* the other members are set */
	bool samples, others; /* such records can be plain */
	bool asks;	      /* only a sample with a known id is plain */
	uint8_t s_time, s_id, t_time,
		t_size; /* offsets as in struct perf_attr */
	const struct table *ids;
	uint64_t recent[RECENT_IDS]; /* ids seen lately, by their low bits */
};

/* A plain record. */
struct perf_plain {
	uint32_t type;
	uint16_t misc, size;
	uint64_t key; /* the time of the record */
};

/* The scan notes the smallest time of each block of 64 KiB. */
#define PERF_BLOCK_BITS 16

struct perf_z; /* decompression state of a file */

/* One file of records: the only one, or one in a folder. */
struct perf_file {
	struct input in;
	uint16_t index;
	bool done;
	uint64_t start, end; /* range of the records, in a mapped file */
	bool open_end;	     /* the file is incomplete: it ends at `end` */
	struct bytes raw; /* bytes not walked yet; of a pipe: in the window */
	struct perf_chunk *window; /* NULL: the file is mapped */
	uint64_t skip;		   /* bytes of payload that are still to skip */
	struct perf_z *z;
	struct perf_chunk
		*plain; /* decompressed bytes; walked up to plain_at */
	size_t plain_at;
	uint64_t place; /* sum of the sizes of all records walked so far */
	uint64_t n;	/* how many kernel records there were so far */
	uint64_t last_key;
	struct near_time near;
	/* The smallest key of each block of 64 KiB; after the scan: of the
	 * block and all later ones. */
	uint64_t *floor;
	size_t n_floor, cap_floor;
	uint64_t block; /* index of the block being read */
	bool holds;	/* perf_walk_next() returns `held` next */
	struct perf_rec held;
};

/* The state of the check that perf keeps its promise: records after a
 * FINISHED_ROUND are not older than those that an earlier round released. */
struct perf_rounds {
	uint64_t n;	    /* finished rounds */
	uint64_t max;	    /* the largest time so far */
	uint64_t limit;	    /* max at the end of the last round */
	uint64_t limit_was; /* limit of the round before that */
	uint64_t flushed;   /* the largest time that was released */
	uint64_t behind;    /* the largest time <= limit in this round */
};

/* The times from which perf_next() derives the floor of a pipe. */
struct perf_window {
	uint64_t first, max;	 /* the smallest and the largest time */
	uint64_t round1, round2; /* max at the end of the last round, and of the
				    one before */
	bool any;		 /* first and max are set */
};

struct perf {
	struct source src;
	struct source_opts opts;
	bool swap;	  /* the byte order is not the host's */
	bool loud;	  /* in the first pass, damage is reported */
	uint64_t damaged; /* how much damage was found, reported or not */
	bool simpleperf;  /* the note that simpleperf recorded the file was made
			   */
	bool stream;	  /* a pipe: there is no scan */
	bool ended;	  /* all files are walked */
	struct perf_file *file;
	size_t n_file;
	char *kallsyms; /* path in the folder; NULL: none */
	uint16_t cur;
	struct perf_attr *attr;
	struct event_def *event;
	size_t n_attr, cap_attr, cap_event;
	bool newer; /* an event has flags that backstitch does not know */
	bool asks_build_ids;   /* an event asks for build-ids in mappings */
	bool chains;	       /* an event takes callchains */
	bool same_sample_time; /* the time has the same offset in samples of all
				  events */
	bool same_time; /* the time has the same offset in other records of all
			   events */
	struct perf_layout layout; /* reset with each new event or id */
	struct perf_id *id;
	size_t n_id, cap_id;
	struct table by_id;
	struct {
		uint64_t id;
		uint32_t attr; /* index + 1; 0: empty */
	} recent[RECENT_IDS];  /* cache of by_id, by the low bits of the id */
	uint64_t chunk_base, chunk_bytes;
	uint64_t spill_end;
	int spill; /* 1 + the descriptor of the spill file; 0: none yet, -1: it
		      cannot be made */
	struct perf_chunk **chunk; /* by id - chunk_base */
	size_t n_chunk, cap_chunk;
	/* Records of state without a time, which are returned before all
	 * others. */
	struct ref *state;
	size_t n_state, cap_state, state_pos;
	struct perf_chunk *state_chunk;
	struct perf_rounds rounds;
	struct perf_window window;
	bool has_aux; /* AUX data was noted */
	/* The capture is a piece of a stream; the piece has its end. */
	bool is_piece, piece_ends;
	uint64_t features[4];
	size_t n_options; /* the length of the command line in front of the
			   * program, or more */
	bool thread_map;  /* a THREAD_MAP lists threads */
	bool converted;	  /* stack dumps may have been unwound by perf inject */
	struct build_id_def *build_id;
	size_t n_build_id, cap_build_id;
	struct jit_code **bpf; /* code of BPF programs */
	size_t n_bpf, cap_bpf;
	struct table by_bpf;
	struct claims claims; /* of a file, not of a pipe */
	struct arena arena;   /* strings of info, events and build-ids */
	uint8_t kernel_id[20];
	struct path_files
		*files; /* files that programs mapped, from the scan */
	/* The tracing data. */
	struct tp_format *fmt;
	size_t n_fmt, cap_fmt;
	struct call call; /* of the last sample */
	struct tp tp;	  /* for fields() and print() */
	struct tp look;	  /* for decode() */
	struct halves halves;
	/* Buffers of perf_record_decode(). */
	uint64_t *ip, *kern, *user, *part, *regs, *intr, *counter;
	size_t cap_ip, cap_kern, cap_user, cap_part, cap_regs, cap_intr;
	size_t cap_counter;
	uint64_t hit;
	struct branch *branch;
	size_t cap_branch;
	struct extra *extra;
	size_t n_extra, cap_extra;
	struct group_value *member;
	size_t n_member, cap_member;
	const char **read_name;
	size_t n_read_name, cap_read_name;
};

static inline struct perf *perf_of(struct source *src)
{
	return (struct perf *)src;
}

/* ---- open.c */
/* Frees what was read from records, but not files and chunks. */
void perf_release(struct perf *p);

/* ---- open.c: the header */

/* ---- attr.c */
/* Adds the event in b, which contains one perf_event_attr. Returns 0, or -1 and
 * *err. */
int perf_attr_add(struct perf *p, struct bytes *b, struct err *err);
/* Makes id an id of event attr. */
void perf_id_add(struct perf *p, uint64_t id, uint32_t attr);
/* Returns the id's entry, valid until the next perf_id_add(), or NULL. */
struct perf_id *perf_id_find(struct perf *p, uint64_t id);
/* Returns the event of a record, or NULL if it is unknown. */
const struct perf_attr *perf_attr_of_record(struct perf *p,
					    const struct perf_rec *r);
/* Sets the name of event attr. Ignores an empty name and an index out of
 * range. */
void perf_attr_set_name(struct perf *p, uint32_t attr, const char *name);
/* Returns the name to use unless the capture has one; it lives as long as p. */
const char *event_kind_name(struct perf *p, const struct perf_attr *a);
/* Return event_def.how and event_def.unit. */
enum event_how event_kind_how(const struct perf_attr *a);
const char *event_kind_unit(const struct perf_attr *a);
/* Returns a key of event i. A machine with several kinds of CPUs has a PMU for
 * each kind, so that 'cycles' is an event for each; these have the same key. */
uint64_t event_kind_key(const struct perf *p, size_t i);

/* ---- walk.c */
/* Starts at the first record of f, even if f was walked before. */
void perf_walk_start(struct perf *p, struct perf_file *f);
/* Returns 1 and *r; 0 at the end of the file; -1 and *err on a read error. */
int perf_walk_next(struct perf *p, struct perf_file *f, struct perf_rec *r,
		   struct err *err);
/* Takes the payload after the current record, which perf_walk_next() would
 * skip. *out is the part that is in the file. The caller frees *owned, which
 * may be NULL. Returns 0, or -1 and *err. */
int perf_walk_payload(struct perf *p, struct perf_file *f, struct bytes *out,
		      unsigned char **owned, struct err *err);
/* Frees what the walk over f allocated. */
void perf_walk_end(struct perf *p, struct perf_file *f);
/* Finds the record of a ref. Returns 0, or -1 and *err if its memory was
 * released. */
int perf_walk_find(struct perf *p, const struct ref *ref, struct perf_rec *r,
		   struct err *err);

/* A walk waits for each header, as only the size in it leads to the next one.
 * So the processor is told to fetch all lines a page ahead. Measured for 653 MB
 * with 2.65 million records: the walk alone takes 48 ms, not 120. */
#define FETCH_AHEAD 4096
#define FETCH_LINE 64
/* Records of this size or more are too large to be fetched completely. The
 * places of the next headers are guessed from the size of this record, as
 * records with stack dumps mostly have the same size. */
#define FETCH_FAR 512
#define FETCH_FAR_AHEAD 3

/* Prefetches ahead of b, which is after a record of this size. For a large
 * record two cache lines are enough: its time is in the second one at the
 * latest. */
static inline void perf_walk_fetch(const struct bytes *b, uint16_t size)
{
	uint64_t from = FETCH_AHEAD;
	uint64_t end = from + size;

	if (size >= FETCH_FAR) {
		from = FETCH_FAR_AHEAD * (uint64_t)size;
		end = from + 2 * FETCH_LINE;
	}
	for (; from < end; from += FETCH_LINE)
		bytes_prefetch(b, from);
}

/* Handles, keys and places have the index of the file from this bit on. */
#define PERF_FILE_BIT 48

static inline uint64_t perf_in_file(const struct perf_file *f, uint64_t v)
{
	return (uint64_t)f->index << PERF_FILE_BIT | v;
}

/* ---- attr.c: writes to the ledger */
/* Note damage, or a remark. Both do nothing in the second pass, which would
 * repeat everything. */
void perf_damage(struct perf *p, const char *what, uint64_t off, uint64_t len,
		 const struct err *err);
void perf_note(struct perf *p, const char *what, const char *detail);
/* perf_damage() with the arguments of reader_damage_text(). */
#define perf_damage_text(p, ...)                                               \
	do {                                                                   \
		(p)->damaged++;                                                \
		if ((p)->loud)                                                 \
			reader_damage_text(&(p)->src, __VA_ARGS__);            \
	} while (0)
/* Makes a note about the samples of an event, once for each kind, in either
 * pass. */
void perf_note_event(struct perf *p, uint32_t event, enum perf_noted what);
/* Counts a record that is skipped for its type. A type that no recorder writes
 * is damage. */
void perf_skip_type(struct perf *p, const struct perf_rec *r);
/* Notes as damage a record whose id belongs to no event. */
void perf_damage_id(struct perf *p, const struct perf_rec *r);

/* ---- walk.c: memory for records */
/* Returns an empty chunk for cap bytes with one reference, which the caller
 * owns. */
struct perf_chunk *perf_chunk_new(struct perf *p, size_t cap, uint64_t off,
				  bool flat);
/* Returns the chunk that a handle points into, or NULL. */
struct perf_chunk *perf_chunk_find(struct perf *p, uint64_t handle);
/* Drops a reference, and frees c with the last one; NULL is allowed. */
void perf_chunk_put(struct perf *p, struct perf_chunk *c);
/* Returns the handle of the record at c->data + at. */
uint64_t perf_chunk_handle(const struct perf_chunk *c, size_t at);
/* Frees all chunks. */
void perf_chunk_release(struct perf *p);

/* ---- tool.c */
/* Evaluates a record of the perf tool, in the first pass only. Damage is noted.
 * Returns 0, or -1 and *err on a read error. */
int perf_tool_take(struct perf *p, struct perf_file *f,
		   const struct perf_rec *r, struct err *err);
/* Notes damage if a piece of a stream has no end, as it was not stored
 * completely then. Call it after the last record, while damage is reported. */
void perf_tool_end(struct perf *p);
/* Sets the facts that depend on all tool records: system_wide and others. */
void perf_tool_finish(struct perf *p);

/* Takes the ids of events that were opened during the recording. Returns 0, or
 * -1 and *err. */
int perf_simpleperf_event_ids(struct perf *p, struct bytes *b, struct err *err);

/* ---- attr.c: checks for impossible values */
/* Checks the 20 bytes of a build-id of n bytes: zeros must fill the rest.
 * Returns 0, or -1 and *err. */
int perf_check_build_id(const struct bytes *id, unsigned int n,
			struct err *err);
/* Returns whether this time is years from those of the records before it in the
 * file. */
bool perf_check_time_is_far(const struct perf *p, struct perf_file *f,
			    uint64_t time);
/* Returns 0, or -1 and *err if a value of a decoded record is impossible. */
int perf_check_record(struct perf *p, const struct perf_rec *r,
		      const struct record *rec, struct err *err);

/* ---- feature.c */
/* Evaluates the section or record of feature `bit`, and notes damage. A record
 * may end with padding, of at most this many bytes. */
void perf_feature_take(struct perf *p, uint32_t bit, struct bytes *b,
		       size_t padding);
/* Returns the code of the BPF function that the kernel's record reports, or
 * NULL. */
const struct jit_code *perf_bpf_find(const struct perf *p,
				     const struct rec_ksymbol *k);
/* Adds the build-id in the body b of an entry. Returns 0, or -1 and *err. */
int perf_feature_add_build_id(struct perf *p, struct bytes *b, uint16_t misc,
			      struct err *err);

/* ---- attr.c */
/* Returns the kernel's or perf's name of a record type, or "UNKNOWN". */
const char *perf_type_name(uint32_t type);
/* Returns the enum record_class of a kernel record of known type. */
uint8_t perf_type_class(uint32_t type, uint16_t misc);

/* ---- tool.c: refs of records */
/* Makes the ref of a kernel record. Returns false, and counts the record as
 * skipped, if its type or event is unknown. */
bool perf_ref_make(struct perf *p, struct perf_file *f,
		   const struct perf_rec *r, struct ref *ref);
/* Returns whether this is a record of state, which precedes all records with a
 * time. */
bool perf_ref_is_state(const struct perf *p, const struct perf_rec *r,
		       const struct ref *ref);
/* Check the promise of FINISHED_ROUND at the end of a round, and for a record.
 * A record that breaks it becomes an entry of the ledger. */
void perf_round_record(struct perf *p, const struct perf_rec *r,
		       const struct ref *ref);
/* perf_round_record() for a record that is known to keep the promise. */
void perf_round_time(struct perf *p, uint64_t time);

/* ---- scan.c, for captures that can be read twice; open.c, for others */
/* Reads the times of all records once. Returns 0, or -1 and *err on a read
 * error. */
int perf_scan(struct perf *p, struct err *err);
/* Returns 1 and the next ref; 0 at the end; -1 and *err on a read error. Sets
 * the floor of the source. */
int perf_scan_next(struct perf *p, struct ref *ref, struct err *err);

/* ---- record.c */
int perf_record_decode(struct source *src, const struct ref *ref,
		       struct record *rec, struct err *err);
/* Decodes a record of event a that is not a sample. The caller has set the
 * thread and CPU in *rec, for types without them, and the flags that are not in
 * the bytes. *rec borrows the bytes of r. Returns 0, or -1 and *err if the
 * record is damaged. */
int perf_record_decode_other(struct perf *p, const struct perf_attr *a,
			     const struct perf_rec *r, bool untimed,
			     struct record *rec, struct err *err);

/* ---- record.c: samples */

/* ---- trace.c */
/* Reads feature section 1, or the payload of a TRACING_DATA record, which may
 * end with this much padding. Notes damage. */
void perf_tracing_data(struct perf *p, struct bytes *b, size_t padding);
/* Sets the fields of tracepoint events, and a name for those without one. */
void perf_trace_join_events(struct perf *p);
/* Sets s->sched, s->call and the stacks from the payload of an event that has
 * perf_attr.sched. */
void perf_trace_sample(struct perf *p, struct rec_sample *s);
int perf_trace_fields(struct source *src, const struct rec_sample *s,
		      struct field *out, struct err *err);
int perf_trace_print(struct source *src, const struct rec_sample *s, char *buf,
		     size_t size);

/* ---- open.c */
