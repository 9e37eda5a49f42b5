/* cut.c - cuts a stream of perf record -o - into streams that can be read
 * alone. */
#include "formats/perf/cut.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/perf/cut_counts.h"
#include "formats/perf/cut_state.h"
#include "formats/perf/cut_unpack.h"
#include "formats/perf/perf.h"
#include "stitch/base/err.h"
#include "stitch/base/search.h"

#define PIPE_HEADER 16
#define RECORD_HEADER 8
#define MAGIC "PERFILE2"
#define MAGIC_SWAPPED "2ELIFREP"
#define AT_PID 8
#define AT_TID 12
#define MISC_MODE 7
#define MISC_KERNEL 1
#define MISC_GUEST_KERNEL 4
#define MISC_EXEC (1 << 13)
/* A pipe has no larger payload behind a record than formats of tracepoints. */
#define PAYLOAD_MAX ((uint64_t)1 << 30)

/* Records that wait for earlier ones, and bytes of them; more are taken as they
 * came. A record has up to 65535 bytes. */
#define LATE_MAX 65536
#define LATE_BYTES ((size_t)64 << 20)

/* Records in a row. */
struct cut_bytes {
	unsigned char *data;
	size_t n, cap;
};

/* A thread; its mappings are in the one whose tid is its pid. */
struct cut_task {
	int32_t pid, tid;
	bool alive;
	bool complete;	  /* all mappings of the process are known */
	uint32_t threads; /* of the process that live, in its first one */
	unsigned char *comm;
	size_t comm_size;
	struct cut_maps maps;
};

/* A record as it was written, until it is its turn. */
struct cut_late {
	uint64_t time, off;
	size_t seq;
	unsigned char *record;
	size_t size;
};

struct perf_cut {
	char *path;
	bool begun, swap, big, rounds, round_ended, is_event, is_state,
		is_packed;
	uint64_t off;
	/* of the compressed record that is unpacked, and behind it */
	uint64_t packed_off, behind;
	bool inside; /* a compressed record */
	struct cut_unpack *unpack;
	struct cut_counts *counts;
	const void *stored; /* the record, as a piece has it */
	uint32_t piece;
	struct cut_bytes head; /* of the session */
	struct cut_objects kernel[CUT_KERNEL];
	/* Records of tasks and mappings that earlier ones may still follow. */
	struct cut_late *late;
	size_t n_late, cap_late, late_bytes;
	uint64_t newest, limit; /* times in this round, and in those before */
	size_t seq;
	struct cut_stamp stamp; /* of the record */
	uint64_t end;		/* of the piece before */
	uint64_t dropped; /* mappings that were not kept of what has ended */
	struct cut_task *task;
	size_t n_task, cap_task;
	uint32_t *hole; /* places of threads that ended */
	size_t n_hole, cap_hole;
	struct table by_tid;
};

struct perf_cut *perf_cut_new(const char *path)
{
	struct perf_cut *c = mem_new(1, sizeof(*c));

	c->path = mem_strdup(path);
	return c;
}

static void cut_drop_maps(struct perf_cut *c, struct cut_task *t)
{
	cut_maps_release(&t->maps);
	c->dropped += t->maps.dropped;
	t->maps.dropped = 0;
}

void perf_cut_free(struct perf_cut *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n_task; i++) {
		cut_drop_maps(c, &c->task[i]);
		free(c->task[i].comm);
	}
	free(c->task);
	free(c->hole);
	free(c->head.data);
	for (size_t i = 0; i < CUT_KERNEL; i++)
		cut_objects_release(&c->kernel[i]);
	for (size_t i = 0; i < c->n_late; i++)
		free(c->late[i].record);
	free(c->late);
	free(c->path);
	cut_unpack_free(c->unpack);
	cut_counts_free(c->counts);
	table_release(&c->by_tid);
	free(c);
}

static void cut_append(struct cut_bytes *b, const void *data, size_t n)
{
	b->data = mem_grow(b->data, &b->cap, b->n + n, 1);
	memcpy(b->data + b->n, data, n);
	b->n += n;
}

/* ---- threads */

static uint64_t cut_hash(int32_t tid)
{
	return hash_u64((uint32_t)tid);
}

static struct cut_task *cut_find(struct perf_cut *c, int32_t tid)
{
	uint32_t at = table_find_hash(&c->by_tid, cut_hash(tid));

	return at == TABLE_NONE ? NULL : &c->task[at];
}

/* Returns the place of a thread, which is made if it is new. */
static uint32_t cut_place(struct perf_cut *c, int32_t tid)
{
	uint32_t at = table_find_hash(&c->by_tid, cut_hash(tid));

	if (at != TABLE_NONE)
		return at;
	if (c->n_hole) {
		at = c->hole[--c->n_hole];
	} else {
		at = (uint32_t)c->n_task;
		(void)mem_add(c->task, c->n_task, c->cap_task);
	}
	c->task[at] = (struct cut_task){ .pid = tid, .tid = tid };
	table_add(&c->by_tid, cut_hash(tid), at);
	return at;
}

static void cut_forget(struct perf_cut *c, int32_t tid)
{
	uint32_t at = table_find_hash(&c->by_tid, cut_hash(tid));
	struct cut_task *t;

	if (at == TABLE_NONE)
		return;
	t = &c->task[at];
	table_remove(&c->by_tid, cut_hash(tid), at);
	cut_drop_maps(c, t);
	free(t->comm);
	*t = (struct cut_task){ .pid = 0 };
	*mem_add(c->hole, c->n_hole, c->cap_hole) = at;
}

/* Notes that a thread lives. Its process is kept as long as any of them. */
static struct cut_task *cut_live(struct perf_cut *c, int32_t pid, int32_t tid)
{
	uint32_t leader = cut_place(c, pid);
	uint32_t at = cut_place(c, tid);
	struct cut_task *t = &c->task[at];

	if (!t->alive) {
		t->alive = true;
		t->pid = pid;
		c->task[leader].threads++;
	}
	return t;
}

static void cut_end(struct perf_cut *c, int32_t tid)
{
	struct cut_task *t = cut_find(c, tid);
	struct cut_task *leader = t ? cut_find(c, t->pid) : NULL;

	if (!t || !t->alive || !leader)
		return;
	int32_t pid = t->pid;

	t->alive = false;
	if (leader->threads)
		leader->threads--;
	bool last = !leader->threads;

	if (tid != pid)
		cut_forget(c, tid);
	if (last)
		cut_forget(c, pid);
}

/* ---- copies of records */

static void cut_put_u32(const struct perf_cut *c, unsigned char *at, uint32_t v)
{
	v = c->swap ? __builtin_bswap32(v) : v;
	memcpy(at, &v, sizeof(v));
}

/* Returns a copy of a record as perf record writes it for what was there before
 * it began: without time, CPU and event. */
static unsigned char *cut_copy(const struct perf_cut *c, const void *data,
			       size_t size)
{
	unsigned char *p = mem_dup(data, size);

	size_t trailer = cut_counts_trailer(c->counts);

	if (trailer && size >= AT_TID + 4 + trailer)
		memset(p + size - trailer, 0, trailer);
	return p;
}

static void cut_set_owner(const struct perf_cut *c, unsigned char *record,
			  int32_t pid, int32_t tid)
{
	cut_put_u32(c, record + AT_PID, (uint32_t)pid);
	cut_put_u32(c, record + AT_TID, (uint32_t)tid);
}

static void cut_set_comm(struct cut_task *t, unsigned char *record, size_t size)
{
	free(t->comm);
	t->comm = record;
	t->comm_size = size;
}

/* ---- records */

/* A record: b is behind its header. */
struct cut_record {
	uint32_t type;
	uint16_t misc, size;
	uint64_t time; /* of names, mappings and threads; 0: unknown */
	const void *data;
	struct bytes b;
};

static int cut_take_comm(struct perf_cut *c, const struct cut_record *r,
			 struct err *err)
{
	struct bytes b = r->b;
	int32_t pid, tid;
	uint16_t misc = r->misc & (uint16_t)~MISC_EXEC;

	if (bytes_i32(&b, &pid, err) || bytes_i32(&b, &tid, err))
		return -1;
	struct cut_task *t = cut_live(c, pid, tid);
	unsigned char *copy = cut_copy(c, r->data, r->size);

	if (r->misc & MISC_EXEC) {
		cut_drop_maps(c, cut_find(c, pid));
		cut_find(c, pid)->complete = true;
	}
	misc = c->swap ? __builtin_bswap16(misc) : misc;
	memcpy(copy + 4, &misc, sizeof(misc));
	cut_set_comm(t, copy, r->size);
	return 0;
}

static int cut_take_mmap(struct perf_cut *c, const struct cut_record *r,
			 struct err *err)
{
	unsigned int mode = r->misc & MISC_MODE;
	struct bytes b = r->b;
	struct cut_map m = { .size = r->size };
	int32_t pid, tid;

	if (bytes_i32(&b, &pid, err) || bytes_i32(&b, &tid, err) ||
	    bytes_u64(&b, &m.start, err) || bytes_u64(&b, &m.len, err))
		return -1;
	m.record = cut_copy(c, r->data, r->size);
	if (pid < 0 || mode == MISC_KERNEL || mode == MISC_GUEST_KERNEL) {
		cut_objects_put(&c->kernel[CUT_MAPS], m.start,
				(uint64_t)mode << 32 | (uint32_t)pid, m.record,
				m.size);
		return 0;
	}
	cut_live(c, pid, pid);
	struct cut_task *t = cut_find(c, pid);

	/* one without a time is of a list of all: a reader takes it so */
	if (!r->time)
		t->complete = true;
	else if (!t->complete)
		memcpy(m.record, r->data, r->size);
	cut_maps_add(&t->maps, &m);
	return 0;
}

/* A new thread has the name of the one that made it, and a new process copies
 * of its parent's mappings. */
static int cut_take_fork(struct perf_cut *c, const struct cut_record *r,
			 struct err *err)
{
	struct bytes b = r->b;
	int32_t pid, ppid, tid, ptid;

	if (bytes_i32(&b, &pid, err) || bytes_i32(&b, &ppid, err) ||
	    bytes_i32(&b, &tid, err) || bytes_i32(&b, &ptid, err))
		return -1;
	/* of a FORK too: an EXIT may be lost, and the id is used again */
	cut_end(c, tid);
	if (r->type == PR_EXIT)
		return 0;
	cut_live(c, pid, tid);
	/* made up by perf of /proc: the mappings follow, none are the parent's
	 */
	if (r->misc & MISC_EXEC)
		return 0;
	const struct cut_task *from = cut_find(c, ptid);
	const struct cut_task *leader = cut_find(c, ppid);
	struct cut_task *to = cut_find(c, tid);

	if (from && from->comm) {
		unsigned char *copy = mem_dup(from->comm, from->comm_size);

		cut_set_owner(c, copy, pid, tid);
		cut_set_comm(to, copy, from->comm_size);
	}
	to = cut_find(c, pid);
	if (pid == ppid || !leader || !to)
		return 0;
	to->complete = leader->complete;
	for (size_t i = 0; i < leader->maps.n; i++) {
		struct cut_map m = leader->maps.map[i];

		m.record = mem_dup(m.record, m.size);
		cut_set_owner(c, m.record, pid, pid);
		cut_maps_add(&to->maps, &m);
	}
	return 0;
}

static int cut_take_packed(struct perf_cut *c, const struct cut_record *r,
			   struct err *err)
{
	struct bytes b = r->b;
	struct bytes data;
	uint64_t n = bytes_left(&b);

	if (c->inside)
		return err_at(err, c->path, c->off,
			      "a compressed record is in another one");
	if ((r->type == PR_COMPRESSED2 && bytes_u64(&b, &n, err)) ||
	    bytes_take(&b, n, &data, err))
		return -1;
	if (!c->unpack)
		c->unpack = cut_unpack_new();
	cut_unpack_feed(c->unpack, data.pos, bytes_left(&data));
	c->is_packed = true;
	c->packed_off = c->off;
	return 0;
}

/* ---- the order of time */

static int cut_take_state(struct perf_cut *c, const struct cut_record *r,
			  struct err *err)
{
	const struct cut_object_record object = { r->type, r->data, r->size,
						  r->b };

	switch (r->type) {
	case PR_COMM:
		return cut_take_comm(c, r, err);
	case PR_MMAP:
	case PR_MMAP2:
		return cut_take_mmap(c, r, err);
	case PR_FORK:
	case PR_EXIT:
		return cut_take_fork(c, r, err);
	default:
		return cut_objects_take(c->kernel, &object, err);
	}
}

/* Reads the header of a record. Returns 0, or -1 and *err. */
static int cut_read_record(const struct perf_cut *c, const void *data,
			   size_t len, struct cut_record *r, struct bytes *b,
			   struct err *err)
{
	r->data = data;
	r->time = 0;
	bytes_init(b, data, len, c->path, c->off, c->swap);
	if (bytes_u32(b, &r->type, err) || bytes_u16(b, &r->misc, err) ||
	    bytes_u16(b, &r->size, err))
		return -1;
	if (r->size < RECORD_HEADER)
		return err_at(err, c->path, c->off,
			      "a record is %u bytes, needs at least %d",
			      (unsigned int)r->size, RECORD_HEADER);
	return 0;
}

static int cut_compare_late(const void *pa, const void *pb)
{
	const struct cut_late *a = pa;
	const struct cut_late *b = pb;
	int by_time = compare_numbers(a->time, b->time);

	return by_time ? by_time : compare_numbers(a->seq, b->seq);
}

/* Takes the records up to that time, and at least n of them. */
static int cut_settle(struct perf_cut *c, uint64_t time, size_t n,
		      struct err *err)
{
	uint64_t off = c->off;
	size_t done = 0;
	int ret = 0;

	qsort(c->late, c->n_late, sizeof(*c->late), cut_compare_late);
	while (!ret && done < c->n_late &&
	       (done < n || c->late[done].time <= time)) {
		struct cut_late *l = &c->late[done++];
		struct cut_record r;
		struct bytes b;

		c->off = l->off;
		ret = cut_read_record(c, l->record, l->size, &r, &b, err);
		r.b = b;
		r.time = l->time;
		if (!ret)
			ret = cut_take_state(c, &r, err);
		c->late_bytes -= l->size;
		free(l->record);
	}
	memmove(c->late, c->late + done, (c->n_late - done) * sizeof(*c->late));
	c->n_late -= done;
	if (!ret)
		c->off = off;
	return ret;
}

/* Each CPU has a ring of its own, and a thread changes its CPU: an EXIT may be
 * read before the COMM that is earlier. Until a round has ended whose times are
 * later, as perf itself waits, such a record is kept as it was written. */
static int cut_put_late(struct perf_cut *c, const struct cut_record *r,
			struct err *err)
{
	c->is_state = true;
	if (!c->stamp.time)
		return cut_take_state(c, r, err);
	if ((c->n_late == LATE_MAX || c->late_bytes > LATE_BYTES) &&
	    cut_settle(c, 0, c->n_late / 2, err))
		return -1;
	c->late_bytes += r->size;
	*mem_add(c->late, c->n_late, c->cap_late) =
		(struct cut_late){ .time = c->stamp.time,
				   .off = c->off,
				   .seq = c->seq++,
				   .record = mem_dup(r->data, r->size),
				   .size = r->size };
	return 0;
}

static int cut_end_round(struct perf_cut *c, struct err *err)
{
	uint64_t limit = c->limit;

	c->rounds = c->round_ended = true;
	c->limit = c->newest;
	return c->n_late ? cut_settle(c, limit, 0, err) : 0;
}

/* Gives a record to the counters. Returns what is to be stored. */
static const void *cut_count(struct perf_cut *c, const struct cut_record *r)
{
	const struct cut_counted counted = {
		.type = r->type,
		.misc = r->misc,
		.data = r->data,
		.size = r->size,
		.piece = c->piece - (perf_cut_is_old(c) ? 1 : 0),
		.stamp = c->stamp,
	};

	return cut_counts_take(c->counts, &counted);
}

/* Keeps what a piece needs of a record. */
static int cut_keep(struct perf_cut *c, const struct cut_record *r,
		    uint64_t whole, struct err *err)
{
	cut_counts_stamp(c->counts, r->type, &r->b, &c->stamp);
	if (c->stamp.time > c->newest)
		c->newest = c->stamp.time;
	c->stored = r->data;
	switch (r->type) {
	case PR_COMM:
	case PR_MMAP:
	case PR_MMAP2:
	case PR_FORK:
	case PR_EXIT:
	case PR_KSYMBOL:
	case PR_BPF_EVENT:
	case PR_CGROUP:
		return cut_put_late(c, r, err);
	case PR_SAMPLE:
	case PR_LOST:
	case PR_LOST_SAMPLES:
		c->is_event = true;
		c->stored = cut_count(c, r);
		return 0;
	case PR_CALLCHAIN_DEFERRED:
	case PR_SWITCH:
	case PR_SWITCH_CPU_WIDE:
	case PR_THROTTLE:
	case PR_UNTHROTTLE:
		c->is_event = true;
		return 0;
	case PR_FINISHED_ROUND:
		return cut_end_round(c, err);
	case PR_COMPRESSED:
	case PR_COMPRESSED2:
		return cut_take_packed(c, r, err);
	case PR_HEADER_ATTR:
	case PR_ID_INDEX:
		cut_count(c, r);
		break;
	case PR_EVENT_TYPE:
	case PR_TRACING_DATA:
	case PR_BUILD_ID:
	case PR_THREAD_MAP:
	case PR_CPU_MAP:
	case PR_EVENT_UPDATE:
	case PR_TIME_CONV:
	case PR_FEATURE:
	case PR_AUXTRACE_INFO:
		break;
	default:
		return 0;
	}
	cut_append(&c->head, r->data, (size_t)whole);
	return 0;
}

/* Takes the header of the stream. */
static int cut_take_header(struct perf_cut *c, const void *data, size_t len,
			   uint64_t *used, struct err *err)
{
	*used = PIPE_HEADER;
	if (len < PIPE_HEADER)
		return 0;
	c->big = !memcmp(data, MAGIC_SWAPPED, 8);
	c->swap = bytes_must_swap(c->big);
	if (!c->big && memcmp(data, MAGIC, 8) != 0)
		return err_at(err, c->path, 0,
			      "no stream of 'perf record -o -', which is what "
			      "can be followed");
	struct bytes b;
	uint64_t magic, size;

	bytes_init(&b, data, len, c->path, 0, c->swap);
	if (bytes_u64(&b, &magic, err) || bytes_u64(&b, &size, err))
		return -1;
	if (size != PIPE_HEADER)
		return err_at(err, c->path, 8,
			      "the header is %" PRIu64 " bytes, needs %d: a "
			      "file and no stream; 'ingest' reads it",
			      size, PIPE_HEADER);
	cut_append(&c->head, data, PIPE_HEADER);
	c->counts = cut_counts_new(c->big);
	c->stored = data;
	c->begun = true;
	c->off = PIPE_HEADER;
	return 1;
}

/* Stores the length of a record and of the payload behind it in *whole. */
static int cut_length(struct perf_cut *c, const struct cut_record *r,
		      uint64_t *whole, struct err *err)
{
	uint64_t payload = 0;
	uint32_t n32;

	if (r->type == PR_TRACING_DATA && !bytes_peek_u32(&r->b, 0, &n32))
		payload = ((uint64_t)n32 + 7) & ~(uint64_t)7;
	else if (r->type == PR_AUXTRACE)
		bytes_peek_u64(&r->b, 0, &payload);
	if (payload > PAYLOAD_MAX)
		return err_at(err, c->path, c->off,
			      "%" PRIu64 " bytes follow the record, at most "
			      "%" PRIu64 " are expected",
			      payload, PAYLOAD_MAX);
	*whole = r->size + payload;
	return 0;
}

int perf_cut_take(struct perf_cut *c, const void *data, size_t len,
		  uint64_t *used, struct err *err)
{
	struct cut_record r;
	struct bytes b;

	if (!c->begun)
		return cut_take_header(c, data, len, used, err);
	*used = RECORD_HEADER;
	if (len < RECORD_HEADER)
		return 0;
	if (cut_read_record(c, data, len, &r, &b, err))
		return -1;
	*used = r.size;
	if (len < r.size)
		return 0;
	if (bytes_take(&b, r.size - RECORD_HEADER, &r.b, err) ||
	    cut_length(c, &r, used, err))
		return -1;
	if (len < *used)
		return 0;
	c->round_ended = c->is_event = c->is_state = c->is_packed = false;
	if (cut_keep(c, &r, *used, err))
		return -1;
	c->off += *used;
	return 1;
}

const void *perf_cut_stored(const struct perf_cut *c)
{
	return c->stored;
}

bool perf_cut_is_packed(const struct perf_cut *c)
{
	return c->is_packed;
}

int perf_cut_unpack(struct perf_cut *c, const unsigned char **data, size_t *len,
		    struct err *err)
{
	/* messages name the place of what was compressed */
	int ret = c->unpack ? cut_unpack_next(c->unpack, data, len, c->path,
					      c->packed_off, err)
			    : 0;

	if (!c->inside)
		c->behind = c->off;
	c->inside = ret > 0;
	c->off = c->inside ? c->packed_off : c->behind;
	return ret;
}

void perf_cut_unpacked(struct perf_cut *c, size_t n)
{
	cut_unpack_used(c->unpack, n);
}

bool perf_cut_may_end(const struct perf_cut *c)
{
	return c->round_ended || !c->rounds;
}

bool perf_cut_is_event(const struct perf_cut *c)
{
	return c->is_event;
}

bool perf_cut_is_state(const struct perf_cut *c)
{
	return c->is_state;
}

bool perf_cut_is_old(const struct perf_cut *c)
{
	return c->stamp.time ? c->stamp.time <= c->end : c->is_state;
}

bool perf_cut_has_rounds(const struct perf_cut *c)
{
	return c->rounds;
}

uint64_t perf_cut_place(const struct perf_cut *c)
{
	uint64_t off = c->inside ? c->packed_off : c->off;
	uint64_t v[] = { off, c->newest, c->seq, c->piece };
	uint64_t head = hash_content(c->head.data, c->head.n, off);

	return hash_content(v, sizeof(v), head) | 1;
}

static void cut_write_place(const struct perf_cut *c, uint64_t place,
			    uint16_t misc, FILE *out)
{
	unsigned char record[RECORD_HEADER + sizeof(place)];
	uint16_t size = sizeof(record);

	cut_put_u32(c, record, PR_CUT);
	misc = c->swap ? __builtin_bswap16(misc) : misc;
	size = c->swap ? __builtin_bswap16(size) : size;
	place = c->swap ? __builtin_bswap64(place) : place;
	memcpy(record + 4, &misc, sizeof(misc));
	memcpy(record + 6, &size, sizeof(size));
	memcpy(record + RECORD_HEADER, &place, sizeof(place));
	fwrite(record, 1, sizeof(record), out);
}

void perf_cut_tail(const struct perf_cut *c, uint64_t place, FILE *out)
{
	if (c->head.n)
		cut_write_place(c, place, PERF_CUT_ENDS, out);
}

void perf_cut_head(struct perf_cut *c, uint64_t place, FILE *out)
{
	c->end = c->newest;
	c->piece++;
	if (c->head.n)
		fwrite(c->head.data, 1, c->head.n, out);
	if (c->head.n && place)
		cut_write_place(c, place, 0, out);
	for (size_t i = 0; i < CUT_KERNEL; i++)
		cut_objects_write(&c->kernel[i], out);
	for (size_t i = 0; i < c->n_task; i++) {
		const struct cut_task *t = &c->task[i];

		if (t->comm && t->alive)
			fwrite(t->comm, 1, t->comm_size, out);
		cut_maps_write(&t->maps, out);
	}
	for (size_t i = 0; i < c->n_late; i++)
		fwrite(c->late[i].record, 1, c->late[i].size, out);
}

uint64_t perf_cut_dropped(const struct perf_cut *c)
{
	uint64_t n = c->dropped;

	for (size_t i = 0; i < CUT_KERNEL; i++)
		n += c->kernel[i].dropped;
	for (size_t i = 0; i < c->n_task; i++)
		n += c->task[i].maps.dropped;
	return n;
}
