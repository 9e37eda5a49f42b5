/* cut.c - cuts a stream of perf record -o - into streams that can be read
 * separately. */
#include "formats/perf/cut.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/perf/cut_state.h"
#include "formats/perf/perf.h"
#include "stitch/base/err.h"
#include "stitch/base/search.h"

#define PIPE_HEADER 16
#define RECORD_HEADER 8
#define MAGIC "PERFILE2"
#define MAGIC_SWAPPED "2ELIFREP"
/* The largest payloads. Formats of tracepoints, a few MB if all are recorded,
 * are kept; hardware traces are passed on. A larger size is damage. */
#define TRACING_MAX ((uint64_t)64 << 20)
#define AUX_MAX ((uint64_t)1 << 30)
/* The most bytes of all session records. */
#define HEAD_MAX ((size_t)128 << 20)

/* The most records that wait for earlier ones, and their bytes; further ones
 * are taken in the order of arrival. A record has up to 65535 bytes. */
#define LATE_MAX 65536
#define LATE_BYTES ((size_t)64 << 20)
/* The largest buffer for these records that is kept while it is empty. */
#define LATE_SPARE ((size_t)1 << 20)
/* Compressed data is unpacked in steps of this size, as 64 KiB of it can become
 * gigabytes. */
#define UNPACK_STEP ((size_t)256 << 10)

/* Consecutive records. */
struct cut_bytes {
	unsigned char *data;
	size_t n, cap;
};

/* A record as it was written, which waits for its turn. */
struct cut_late {
	uint64_t time;
	size_t at; /* offset in late_data; of equal times the lower one comes
		      first */
	size_t size;
};

/* The records inside compressed ones; a record may be split between two of
 * these. */
struct cut_unpack {
	struct zstd_stream stream;
	bool more;
	bool dead; /* damaged: zstd cannot decode later data without the earlier
		    */
	const char *error; /* is reported after the data before it is taken */
	struct cut_bytes plain; /* unpacked data that is not taken yet */
};

struct perf_cut {
	char *path;
	bool swap, round_ended;
	struct perf_cut_taken taken;
	uint64_t off;
	uint64_t payload; /* bytes of payload that still follow a record */
	/* offsets of the compressed record that is being unpacked, and of its
	 * end */
	uint64_t packed_off, behind;
	bool inside; /* the record is inside a compressed one */
	struct cut_unpack unpack;
	struct cut_read *read;
	struct cut_counts *counts;
	struct cut_tasks *tasks;
	unsigned char
		bare[UINT16_MAX + 1]; /* copy of a record without its payload */
	uint32_t piece;
	struct cut_bytes head; /* records of the session */
	size_t head_bad;       /* bytes of damaged session records, of which the
				  reader may have kept a part */
	struct cut_objects kernel[CUT_KERNEL];
	/* Records of tasks and mappings that wait because earlier ones may
	 * follow. */
	struct cut_late *late;
	size_t n_late, cap_late;
	struct cut_bytes late_data, late_spare;
	uint64_t newest, limit; /* the latest time in this round, and in the
				   rounds before */
	size_t seq;		/* how many of these records there were */
	struct cut_stamp stamp; /* of the record that was taken last */
	uint64_t end; /* the end of the previous piece, while that may get
			 records */
	struct cut_kept kept;
	uint64_t damaged;
	struct err first_damage;
};

struct perf_cut *perf_cut_new(const char *path)
{
	struct perf_cut *c = mem_new(1, sizeof(*c));

	c->path = mem_strdup(path);
	return c;
}

void perf_cut_free(struct perf_cut *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < CUT_KERNEL; i++)
		cut_objects_release(&c->kernel[i], &c->kept);
	ZSTD_freeDStream(c->unpack.stream.d);
	cut_counts_free(c->counts);
	cut_tasks_free(c->tasks);
	cut_read_free(c->read);
	free_all(c->head.data, c->late, c->late_data.data, c->late_spare.data,
		 c->path, c->unpack.plain.data, c);
}

static void cut_append(struct cut_bytes *b, const void *data, size_t n)
{
	mem_append(b->data, b->n, b->cap, data, n);
}

static void cut_damage(struct perf_cut *c, const struct err *err)
{
	if (!c->damaged++)
		c->first_damage = *err;
}

/* Takes a record of threads or their code. time: 0 if unknown. */
static void cut_take_state(struct perf_cut *c, const struct perf_rec *r,
			   uint64_t time)
{
	struct record rec;

	/* cut_keep_kernel() has decoded it without an error */
	if (cut_read_decode(c->read, r, &rec, NULL))
		return;
	if (rec.kind == REC_MAP && (rec.pid < 0 || rec.flags & REC_F_KERNEL)) {
		const struct cut_object o = {
			.a = rec.map.start,
			.b = (uint64_t)(r->misc & PM_CPUMODE) << 32 |
			     (uint32_t)rec.pid,
			.record = cut_read_copy(c->read, r),
			.size = r->size,
		};

		cut_objects_put(&c->kernel[CUT_MAPS], &o, &c->kept);
	} else if (rec.kind == REC_KSYMBOL || rec.kind == REC_MARK) {
		cut_objects_take(c->kernel, &c->kept, r);
	} else {
		cut_tasks_take(c->tasks, r, &rec, time);
	}
}

/* Reads the header of a record. Returns 0, or -1 and *err. */
static int cut_read_header(const struct perf_cut *c, const void *data,
			   size_t len, uint64_t off, struct perf_rec *r,
			   struct err *err)
{
	*r = (struct perf_rec){ .off = off };
	bytes_init(&r->b, data, len, c->path, off, c->swap);
	struct bytes b = r->b;
	if (bytes_u32(&b, &r->type, err) || bytes_u16(&b, &r->misc, err) ||
	    bytes_u16(&b, &r->size, err))
		return -1;
	if (r->size < RECORD_HEADER)
		return err_at(err, c->path, off,
			      "a record is %u bytes, needs at least %d",
			      (unsigned int)r->size, RECORD_HEADER);
	return 0;
}

COMPARE_BY(cut_compare_late, struct cut_late, time, at);

/* Takes the waiting records up to that time, and at least n of them. */
static void cut_settle(struct perf_cut *c, uint64_t time, size_t n)
{
	struct cut_bytes data = c->late_data;
	size_t done = 0;

	sort_items(c->late, c->n_late, cut_compare_late);
	while (done < c->n_late && (done < n || c->late[done].time <= time)) {
		struct cut_late *l = &c->late[done++];
		struct perf_rec r;

		/* the header was valid when the record came */
		if (!cut_read_header(c, data.data + l->at, l->size, 0, &r,
				     NULL))
			cut_take_state(c, &r, l->time);
	}
	c->n_late -= done;
	memmove(c->late, c->late + done, c->n_late * sizeof(*c->late));
	c->late_data = c->late_spare;
	c->late_spare = data;
	c->late_data.n = 0;
	for (size_t i = 0; i < c->n_late; i++) {
		struct cut_late *l = &c->late[i];

		cut_append(&c->late_data, data.data + l->at, l->size);
		l->at = c->late_data.n - l->size;
	}
	if (data.cap <= LATE_SPARE)
		return;
	free(data.data);
	c->late_spare = (struct cut_bytes){ .data = NULL };
}

/* Returns whether records of this type are about threads or their code. */
static bool cut_tells_state(uint32_t type)
{
	switch (type) {
	case PR_COMM:
	case PR_MMAP:
	case PR_MMAP2:
	case PR_FORK:
	case PR_EXIT:
	case PR_KSYMBOL:
	case PR_BPF_EVENT:
	case PR_CGROUP:
		return true;
	default:
		return false;
	}
}

/* Takes a record of the kernel. A damaged one is reported by the piece that
 * contains it; no other piece begins with it, and its time is not used. */
static void cut_keep_kernel(struct perf_cut *c, const struct perf_rec *r)
{
	bool state = cut_tells_state(r->type);
	struct cut_stamp stamp;
	struct record rec;
	struct err why;

	if (cut_read_stamp(c->read, r, &stamp, &why) ||
	    (state && cut_read_decode(c->read, r, &rec, &why))) {
		c->taken.events = 1;
		cut_damage(c, &why);
		return;
	}
	c->stamp = stamp;
	c->taken.is_state = state;
	c->taken.events = !state;
	raise_to(c->newest, stamp.time);
	if (state) {
		/* Each CPU has a separate ring, and a thread changes its CPU:
		 * an EXIT may be read before an earlier COMM. So a record waits
		 * until a round with later times has ended, as in perf
		 * itself. */
		if (!c->stamp.time) {
			cut_take_state(c, r, 0);
			return;
		}
		if (c->n_late == LATE_MAX || c->late_data.n > LATE_BYTES)
			cut_settle(c, 0, c->n_late / 2);
		*mem_add(c->late, c->n_late, c->cap_late) =
			(struct cut_late){ .time = c->stamp.time,
					   .at = c->late_data.n,
					   .size = r->size };
		cut_append(&c->late_data, r->b.pos, r->size);
		c->seq++;
	} else if (r->type == PR_SAMPLE
			   ? c->read->counts
			   : r->type == PR_LOST || r->type == PR_LOST_SAMPLES)
		c->taken.stored = cut_counts_take(
			c->counts, r, &c->stamp,
			c->piece - (perf_cut_is_old(c) ? 1 : 0));
}

/* Keeps what pieces need of a record. whole: its length including the
 * payload. */
static void cut_keep(struct perf_cut *c, const struct perf_rec *r,
		     uint64_t whole)
{
	struct err why;

	if (c->inside &&
	    (r->type == PR_TRACING_DATA || r->type == PR_AUXTRACE)) {
		/* Payloads follow records of the perf tool, which are never
		 * compressed: here other records follow, and the reader takes
		 * them so. A piece has this record without payload. */
		err_at(&why, c->path, r->off,
		       "a record of type %s is in a compressed one",
		       perf_type_name(r->type));
		cut_damage(c, &why);
		c->taken.events = 1;
		memcpy(c->bare, r->b.pos, r->size);
		if (r->size >= RECORD_HEADER + 8)
			memset(c->bare + RECORD_HEADER, 0, 8);
		c->taken.stored = c->bare;
		return;
	}
	switch (r->type) {
	case PR_FINISHED_ROUND: {
		uint64_t limit = c->limit;

		c->taken.rounds = c->round_ended = true;
		c->end = 0;
		c->limit = c->newest;
		if (c->n_late)
			cut_settle(c, limit, 0);
		break;
	}
	case PR_COMPRESSED:
	case PR_COMPRESSED2: {
		struct bytes b = r->b;
		struct bytes data;
		uint64_t n = r->size - RECORD_HEADER;

		/* data that is not packed is stored as it is, and its reader
		 * reports what is wrong */
		if (c->inside)
			err_at(&why, c->path, r->off,
			       "a compressed record is in another one");
		if (c->inside || bytes_skip(&b, RECORD_HEADER, &why) ||
		    (r->type == PR_COMPRESSED2 && bytes_u64(&b, &n, &why)) ||
		    bytes_take(&b, n, &data, &why)) {
			cut_damage(c, &why);
			return;
		}
		struct zstd_stream *z = &c->unpack.stream;

		if (!z->d)
			z->d = mem_must(ZSTD_createDStream());
		z->in = (ZSTD_inBuffer){ data.pos, bytes_left(&data), 0 };
		c->unpack.more = true;
		c->taken.is_packed = true;
		c->packed_off = r->off;
		break;
	}
	case PR_HEADER_ATTR:
	case PR_ID_INDEX:
	case PR_EVENT_TYPE:
	case PR_TRACING_DATA:
	case PR_BUILD_ID:
	case PR_THREAD_MAP:
	case PR_CPU_MAP:
	case PR_EVENT_UPDATE:
	case PR_TIME_CONV:
	case PR_FEATURE:
	case PR_AUXTRACE_INFO:
		/* the session is kept for all pieces */
		if (c->head.n + c->head_bad > HEAD_MAX - whole) {
			c->kept.dropped++;
			return;
		}
		if (r->type != PR_TRACING_DATA &&
		    cut_read_session(c->read, r, &why)) {
			cut_damage(c, &why);
			/* without its event, no sample could be read */
			c->taken.events = r->type != PR_HEADER_ATTR;
			if (c->taken.events) {
				c->head_bad += (size_t)whole;
				return;
			}
		}
		cut_append(&c->head, r->b.pos, (size_t)whole);
		break;
	case PR_FINISHED_INIT:
		break;
	case PR_CUT:
		/* the stream itself is a piece, or is damaged */
		c->taken.events = r->size != PERF_CUT_MARK_SIZE;
		/* what a mark reports as missing is missing in this piece
		 * too */
		if (!c->taken.events && r->misc != PERF_CUT_PACKED &&
		    r->misc != PERF_CUT_BROKEN)
			c->taken.stored = NULL;
		break;
	default:
		if (r->type < PR_TOOL)
			cut_keep_kernel(c, r);
		else
			c->taken.events = 1;
	}
}

/* Takes the header of the stream. Returns as perf_cut_take(). */
static int cut_take_header(struct perf_cut *c, const void *data, size_t len,
			   uint64_t *used, struct err *err)
{
	*used = PIPE_HEADER;
	if (len < PIPE_HEADER)
		return 0;
	bool big = !memcmp(data, MAGIC_SWAPPED, 8);

	c->swap = bytes_must_swap(big);
	if (!big && memcmp(data, MAGIC, 8) != 0)
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
	c->read = cut_read_new(c->path, big);
	c->counts = cut_counts_new(c->read);
	c->tasks = cut_tasks_new(c->read, &c->kept);
	c->taken.stored = data;
	c->taken.begun = true;
	c->off = PIPE_HEADER;
	return 1;
}

int perf_cut_take(struct perf_cut *c, const void *data, size_t len,
		  uint64_t *used, struct err *err)
{
	struct perf_rec r;

	if (!c->taken.begun)
		return cut_take_header(c, data, len, used, err);
	*used = c->payload ? 1 : RECORD_HEADER;
	if (len < *used)
		return 0;
	if (!c->payload && cut_read_header(c, data, len, c->off, &r, err))
		return -1;
	if (!c->payload && len < r.size) {
		*used = r.size;
		return 0;
	}
	c->round_ended = c->taken.is_state = c->taken.is_packed = false;
	c->taken.events = 0;
	c->stamp = (struct cut_stamp){ .cpu = -1 };
	c->taken.stored = data;
	if (c->payload) {
		*used = len < c->payload ? len : c->payload;
		c->payload -= *used;
		c->off += *used;
		return 1;
	}
	*used = r.size;
	r.b.end = r.b.pos + r.size;
	uint64_t most = r.type == PR_AUXTRACE ? AUX_MAX : TRACING_MAX;
	uint64_t payload = 0;
	uint32_t n32;

	/* the number of bytes that follow the record */
	if (!c->inside && r.type == PR_TRACING_DATA &&
	    !bytes_peek_u32(&r.b, RECORD_HEADER, &n32))
		payload = ((uint64_t)n32 + 7) & ~(uint64_t)7;
	else if (!c->inside && r.type == PR_AUXTRACE)
		bytes_peek_u64(&r.b, RECORD_HEADER, &payload);
	if (payload > most)
		return err_at(err, c->path, c->off,
			      "%" PRIu64 " bytes follow the record, at most "
			      "%" PRIu64 " are expected",
			      payload, most);
	if (r.type == PR_AUXTRACE) {
		c->payload = payload;
		payload = 0;
	}
	*used += payload;
	if (len < *used)
		return 0;
	cut_keep(c, &r, *used);
	c->off += *used;
	if (r.type == PR_SAMPLE && c->taken.stored == data && c->taken.rounds &&
	    !c->end && !c->read->counts) {
		/* Most of a stream is samples that are stored as they are: take
		 * those after this one too, as no piece may end between
		 * them. */
		uint64_t more = 0;
		const unsigned char *p = data;

		while (!cut_read_header(c, p + *used, len - *used, c->off, &r,
					NULL) &&
		       r.type == PR_SAMPLE && r.size <= len - *used) {
			r.b.end = r.b.pos + r.size;
			cut_keep_kernel(c, &r);
			*used += r.size;
			c->off += r.size;
			more++;
		}
		c->taken.events += more;
		c->taken.stored = data;
	}
	return 1;
}

const struct perf_cut_taken *perf_cut_taken(const struct perf_cut *c)
{
	return &c->taken;
}

uint64_t perf_cut_off(const struct perf_cut *c)
{
	return c->inside ? c->packed_off : c->off;
}

/* Unpacks the next bytes. Returns as perf_cut_unpack(). Each compressed record
 * after damaged data is reported once. */
static int cut_unpack_next(struct perf_cut *c, struct err *err)
{
	struct cut_unpack *u = &c->unpack;
	struct cut_bytes *plain = &u->plain;

	if (!u->more)
		return 0;
	if (u->dead) {
		const char *why = u->error ? u->error : "data before it is";

		u->more = false;
		u->error = NULL;
		/* messages have the offset of the compressed record */
		return err_at(err, c->path, c->packed_off,
			      "compressed data is damaged (%s)", why);
	}
	mem_grow(plain->data, plain->cap, plain->n + UNPACK_STEP);
	ZSTD_outBuffer out = { plain->data, plain->n + UNPACK_STEP, plain->n };

	u->error = zstd_stream_decode(&u->stream, &out);
	u->dead = u->error != NULL;
	plain->n = out.pos;
	/* if the output is full, the decoder may hold more */
	u->more = u->dead || out.pos == out.size;
	return 1;
}

int perf_cut_unpack(struct perf_cut *c, const unsigned char **data, size_t *len,
		    struct err *err)
{
	int ret = cut_unpack_next(c, err);

	*data = c->unpack.plain.data;
	*len = c->unpack.plain.n;
	if (!c->inside)
		c->behind = c->off;
	c->inside = ret > 0;
	c->off = c->inside ? c->packed_off : c->behind;
	return ret;
}

void perf_cut_unpacked(struct perf_cut *c, size_t n)
{
	struct cut_bytes *plain = &c->unpack.plain;

	memmove(plain->data, plain->data + n, plain->n - n);
	plain->n -= n;
}

bool perf_cut_is_open(const struct perf_cut *c)
{
	const struct cut_unpack *u = &c->unpack;

	return c->payload || u->plain.n ||
	       (!u->dead && zstd_stream_is_open(&u->stream));
}

bool perf_cut_may_end(const struct perf_cut *c)
{
	return !c->payload && (c->round_ended || !c->taken.rounds);
}

bool perf_cut_is_old(const struct perf_cut *c)
{
	return c->stamp.time ? c->stamp.time <= c->end : c->taken.is_state;
}

uint64_t perf_cut_place(const struct perf_cut *c)
{
	uint64_t off = perf_cut_off(c);
	uint64_t v[] = { off, c->newest, c->seq, c->piece };
	uint64_t head = hash_content(c->head.data, c->head.n, off);

	return hash_content(v, sizeof(v), head) | 1;
}

void perf_cut_mark(struct perf_cut *c, enum perf_cut_mark mark, uint64_t place,
		   FILE *out)
{
	unsigned char record[PERF_CUT_MARK_SIZE];
	uint32_t type = c->swap ? __builtin_bswap32(PR_CUT) : PR_CUT;
	uint16_t misc = (uint16_t)mark;
	uint16_t size = sizeof(record);

	if (!c->taken.begun)
		return;
	if (mark == PERF_CUT_ENDS)
		c->end = 0;
	if (mark == PERF_CUT_PACKED)
		place = c->packed_off;
	else if (mark & (PERF_CUT_BROKEN | PERF_CUT_LAST))
		place = perf_cut_off(c);
	misc = c->swap ? __builtin_bswap16(misc) : misc;
	size = c->swap ? __builtin_bswap16(size) : size;
	place = c->swap ? __builtin_bswap64(place) : place;
	memcpy(record, &type, sizeof(type));
	memcpy(record + 4, &misc, sizeof(misc));
	memcpy(record + 6, &size, sizeof(size));
	memcpy(record + RECORD_HEADER, &place, sizeof(place));
	fwrite(record, 1, sizeof(record), out);
}

void perf_cut_head(struct perf_cut *c, uint64_t place, FILE *out)
{
	c->end = c->newest;
	c->piece++;
	if (c->head.n)
		fwrite(c->head.data, 1, c->head.n, out);
	if (c->head.n)
		perf_cut_mark(c, PERF_CUT_BEGINS, place, out);
	for (size_t i = 0; i < CUT_KERNEL; i++)
		cut_objects_write(&c->kernel[i], c->read, out);
	if (c->tasks)
		cut_tasks_write(c->tasks, out);
	for (size_t i = 0; i < c->n_late; i++)
		cut_read_write(c->read, c->late_data.data + c->late[i].at,
			       c->late[i].size, out);
}

uint64_t perf_cut_dropped(const struct perf_cut *c)
{
	return c->kept.dropped;
}

uint64_t perf_cut_damaged(const struct perf_cut *c, struct err *first)
{
	if (c->damaged)
		*first = c->first_damage;
	return c->damaged;
}
