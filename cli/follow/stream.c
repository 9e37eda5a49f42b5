/* stream.c - one input that is a stream: its records go into the parts of
 * segments. */
#include "cli/follow/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "cli/output/say.h"
#include "formats/ftext/cut.h"
#include "formats/perf/cut.h"
#include "formats/reader/refuse.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define NS 1000000000
#define BUFFER ((size_t)128 << 10)
/* A stream is cut between any two records after so many ns of silence. */
#define SILENT NS
/* Files are flushed at least once in so many ns: a process that is killed loses
 * no older records, however slowly a buffer fills. */
#define FLUSH NS
/* Bytes by which ftrace's text is recognized, or fewer if silence follows. */
#define PROBE 4096
/* The stack of an event comes at most so many events after a cut in between. */
#define LATE_EVENTS 256

/* A part of a segment, being written. */
struct stream_part {
	FILE *f; /* NULL: none */
	uint32_t number;
	char name[SEGMENT_NAME];
};

struct stream {
	struct segment *g;
	const char *input;
	unsigned int index; /* of the input */
	int fd;
	/* one of them; both NULL: not recognized yet */
	struct perf_cut *perf;
	struct ftext_cut *text;
	unsigned char *buf;
	size_t n, cap;		 /* n: bytes in buf that are not stored yet */
	struct stream_part part; /* gets new records */
	struct stream_part tail; /* part before it, gets late records */
	/* Bytes of buf that go to the part in one write: with many small ones,
	 * most of the time went into page allocation in the kernel. */
	const unsigned char *run;
	size_t n_run;
	uint64_t events; /* of the part */
	uint64_t place;	 /* perf_cut_place() where the part begins */
	int64_t heard;	 /* g->now of the last bytes */
	int64_t flushed; /* when the files were last flushed */
	bool damaged;
	bool failed;	   /* after an error, no more is stored */
	bool broken;	   /* perf's next record cannot be found */
	bool stopped;	   /* by the user; the stream goes on */
	bool noted_damage; /* a message reported it */
	bool heard_any;	   /* bytes have come */
};

static int stream_fail(const struct stream *s, const struct stream_part *p,
		       int error, struct err *err)
{
	return err_set(err, ERR_IO, "%s/%s: %s; what is finished stays",
		       folder_lock_dir(s->g->claim), p->name, strerror(error));
}

/* Opens a part of the current segment, and writes its head. */
static int stream_begin_part(struct stream *s, struct err *err)
{
	s->part.number = s->g->number;
	segments_part_name(s->part.number, s->index, s->part.name);
	s->part.f = disk_space_create(s->g->room, s->part.name, err);
	if (!s->part.f)
		return -1;
	if (s->perf)
		perf_cut_head(s->perf, s->place, s->part.f);
	else
		ftext_cut_head(s->text, s->part.f);
	s->events = 0;
	/* if the run is killed, the head shows that the part is incomplete */
	if (!fflush(s->part.f))
		return 0;
	/* The user ended the wait for space. A part without its head is
	 * useless, even if there is space for the rest. */
	int failed = errno;

	fclose(s->part.f);
	s->part.f = NULL;
	unlinkat(folder_lock_fd(s->g->claim), s->part.name, 0);
	return stream_fail(s, &s->part, failed, err);
}

static int stream_close(const struct stream *s, struct stream_part *p,
			struct err *err)
{
	int failed = ferror(p->f) ? ENOSPC : 0;

	if (fclose(p->f) && !failed)
		failed = errno;
	p->f = NULL;
	return failed ? stream_fail(s, p, failed, err) : 0;
}

/* Returns whether the whole stream was stored. */
static bool stream_is_whole(const struct stream *s)
{
	return !s->failed && !s->broken && !s->n && !perf_cut_is_open(s->perf);
}

/* Completes and closes the tail. Returns 0, or -1 and *err. */
static int stream_end_tail(struct stream *s, struct err *err)
{
	if (!s->tail.f)
		return 0;
	if (s->text)
		ftext_cut_tail(s->text, s->tail.f);
	else if (s->part.f)
		perf_cut_mark(s->perf, PERF_CUT_ENDS, s->place, s->tail.f);
	else if (s->stopped)
		perf_cut_mark(s->perf, PERF_CUT_ENDS, perf_cut_place(s->perf),
			      s->tail.f);
	else if (stream_is_whole(s))
		perf_cut_mark(s->perf, PERF_CUT_LAST, 0, s->tail.f);
	return stream_close(s, &s->tail, err);
}

/* Writes to a part, or closes it and returns -1 and *err. */
static int stream_write(const struct stream *s, struct stream_part *p,
			const void *data, uint64_t size, struct err *err)
{
	errno = 0;
	if (fwrite_unlocked(data, 1, (size_t)size, p->f) == size)
		return 0;
	int failed = errno ? errno : ENOSPC;

	fclose(p->f);
	p->f = NULL;
	return stream_fail(s, p, failed, err);
}

/* Writes what stream_append() has collected. Call it before other writes to the
 * part, and before the buffer changes. Returns 0, or -1 and *err. */
static int stream_write_run(struct stream *s, struct err *err)
{
	size_t n = s->n_run;

	s->n_run = 0;
	return n ? stream_write(s, &s->part, s->run, n, err) : 0;
}

/* Appends data to the part: it is written later, together with data that
 * follows it in the buffer. */
static int stream_append(struct stream *s, const unsigned char *data,
			 uint64_t size, struct err *err)
{
	if (s->n_run && data != s->run + s->n_run && stream_write_run(s, err))
		return -1;
	if (!s->n_run)
		s->run = data;
	s->n_run += (size_t)size;
	return 0;
}

/* Makes the part the tail; one without events is removed instead. */
static int stream_end_part(struct stream *s, struct err *err)
{
	if (!s->part.f)
		return 0;
	if (stream_write_run(s, err) || stream_end_tail(s, err))
		return -1;
	if (s->events) {
		s->tail = s->part;
		s->part.f = NULL;
		return 0;
	}
	unlinkat(folder_lock_fd(s->g->claim), s->part.name, 0);
	return stream_close(s, &s->part, err);
}

/* Begins a new part, of a new segment if no other stream has begun one. */
static int stream_cut(struct stream *s, struct err *err)
{
	if (s->part.number == s->g->number)
		segment_next(s->g);
	if (stream_end_part(s, err))
		return -1;
	/* a part without events is removed: the next one begins where it did */
	if (s->perf && s->tail.f)
		s->place = perf_cut_place(s->perf);
	if (stream_begin_part(s, err))
		return -1;
	/* without rounds, no record of the tail comes later */
	return s->perf && !perf_cut_taken(s->perf)->rounds
		       ? stream_end_tail(s, err)
		       : 0;
}

/* Returns whether the part should end, as soon as it may. */
static bool stream_is_full(const struct stream *s)
{
	return s->part.number != s->g->number || segment_is_full(s->g);
}

static void stream_count(struct stream *s, uint64_t size, uint64_t events)
{
	s->events += events;
	s->g->events += events;
	s->g->bytes += size;
}

/* Stores perf's record, and cuts the stream after it if that is due. */
static int stream_put_record(struct stream *s, const unsigned char *data,
			     uint64_t size, struct err *err)
{
	const struct perf_cut_taken *taken = perf_cut_taken(s->perf);
	bool old = s->tail.f && perf_cut_is_old(s->perf);
	const unsigned char *stored = taken->stored;

	if (!stored)
		return 0;
	if (old && stream_write(s, &s->tail, stored, size, err))
		return -1;
	if (!old || taken->is_state) {
		/* a copy is valid until the next record */
		if (stream_append(s, stored, size, err) ||
		    (stored != data && stream_write_run(s, err)))
			return -1;
		stream_count(s, size, taken->events);
	}
	/* Report the first damaged record only: databases have them all. */
	struct err first;

	if (!s->noted_damage && perf_cut_damaged(s->perf, &first)) {
		say("backstitch: %s; its segment has it, and later ones lack what it "
		    "told\n",
		    first.msg);
		s->noted_damage = s->damaged = true;
	}
	if (!perf_cut_may_end(s->perf))
		return 0;
	if (stream_end_tail(s, err))
		return -1;
	return stream_is_full(s) ? stream_cut(s, err) : 0;
}

/* Writes a mark into the part where something is missing, and prints why.
 * Returns 0, or -1 and *err. */
static int stream_put_damage(struct stream *s, enum perf_cut_mark mark,
			     const struct err *why, struct err *err)
{
	if (stream_write_run(s, err))
		return -1;
	perf_cut_mark(s->perf, mark, 0, s->part.f);
	stream_count(s, PERF_CUT_MARK_SIZE, true);
	if (mark == PERF_CUT_BROKEN)
		say("backstitch: %s; the stream ends there, as nothing tells "
		    "where its next record is\n",
		    why->msg);
	else if (!s->noted_damage)
		say("backstitch: %s; what is not compressed goes on\n",
		    why->msg);
	s->damaged = s->noted_damage = true;
	s->broken |= mark == PERF_CUT_BROKEN;
	return 0;
}

/* Stores the records in a compressed one. Returns 0, or -1 and *err. */
static int stream_take_packed(struct stream *s, struct err *err)
{
	const unsigned char *data;
	struct err why;
	size_t len;
	int ret;

	while ((ret = perf_cut_unpack(s->perf, &data, &len, &why)) > 0) {
		size_t at = 0;
		uint64_t used;

		while ((ret = perf_cut_take(s->perf, data + at, len - at, &used,
					    &why)) > 0) {
			if (stream_put_record(s, data + at, used, err))
				return -1;
			at += (size_t)used;
		}
		if (stream_write_run(s, err))
			return -1;
		perf_cut_unpacked(s->perf, at);
		if (ret < 0)
			return stream_put_damage(s, PERF_CUT_BROKEN, &why, err);
	}
	return ret < 0 ? stream_put_damage(s, PERF_CUT_PACKED, &why, err) : 0;
}

/* Stores perf's next record. Returns 1, 0 if it is incomplete, -1 and *err. */
static int stream_take_record(struct stream *s, const unsigned char *data,
			      size_t len, uint64_t *used, struct err *err)
{
	bool begun = perf_cut_taken(s->perf)->begun;
	struct err why;
	int ret = s->broken ? 0 : perf_cut_take(s->perf, data, len, used, &why);

	if (ret < 0 && begun) {
		*used = 0;
		return stream_put_damage(s, PERF_CUT_BROKEN, &why, err);
	}
	if (ret < 0)
		*err = why;
	if (ret <= 0)
		return ret;
	if (perf_cut_taken(s->perf)->is_packed)
		return stream_take_packed(s, err) ? -1 : 1;
	if (stream_put_record(s, data, *used, err))
		return -1;
	/* the first part has no head, but this mark: it will have an end */
	if (!begun && stream_write_run(s, err))
		return -1;
	if (!begun)
		perf_cut_mark(s->perf, PERF_CUT_BEGINS, 0, s->part.f);
	return 1;
}

/* Stores the next line. Returns 1, 0 if it is incomplete, -1 and *err. */
static int stream_take_line(struct stream *s, const unsigned char *data,
			    size_t len, uint64_t *used, struct err *err)
{
	const struct ftext_cut_line *line =
		ftext_cut_take(s->text, data, len, used);
	int rc;

	if (!line)
		return 0;
	if (line->may_begin && stream_is_full(s) && stream_cut(s, err))
		return -1;
	if (s->tail.f && s->events > LATE_EVENTS && stream_end_tail(s, err))
		return -1;
	stream_count(s, *used, line->is_event);
	if (s->tail.f && line->is_late)
		rc = stream_write(s, &s->tail, data, *used, err);
	else
		rc = stream_append(s, data, *used, err);
	return rc ? -1 : 1;
}

/* Recognizes the stream and begins a part, once enough bytes are there. Returns
 * 1, 0 if more are needed, -1 and *err. */
static int stream_recognize(struct stream *s, bool all, struct err *err)
{
	static const char magic[] = "PERFILE2";
	static const char swapped[] = "2ELIFREP";
	size_t n = s->n < 8 ? s->n : 8;
	bool is_perf = !memcmp(s->buf, magic, n) || !memcmp(s->buf, swapped, n);

	if (!s->n || (is_perf && s->n < 8 && !all) ||
	    (!is_perf && s->n < PROBE && !all))
		return 0;
	if (!is_perf && !ftext_cut_probe(s->buf, s->n))
		return err_at(err, s->input, 0,
			      "no stream of 'perf record -o -' and no "
			      "trace_pipe, which is what can be followed");
	if (is_perf)
		s->perf = perf_cut_new(s->input);
	else
		s->text = ftext_cut_new(s->input);
	return stream_begin_part(s, err) ? -1 : 1;
}

/* Stores the complete records of buf; all: recognizes even a short stream. */
static int stream_take(struct stream *s, bool all, struct err *err)
{
	size_t at = 0;
	uint64_t used = 0;
	int ret = s->part.f ? 1 : stream_recognize(s, all, err);

	s->failed = ret < 0;
	if (ret <= 0)
		return ret;
	while ((ret = s->perf ? stream_take_record(s, s->buf + at, s->n - at,
						   &used, err)
			      : stream_take_line(s, s->buf + at, s->n - at,
						 &used, err)) > 0)
		at += (size_t)used;
	s->failed = ret < 0;
	if (ret < 0 || stream_write_run(s, err))
		return -1;
	memmove(s->buf, s->buf + at, s->n - at);
	s->n -= at;
	mem_grow(s->buf, s->cap, (size_t)used + BUFFER);
	return 0;
}

/* Closes the input and its parts; stop: before the end of the stream. */
static int stream_end(struct stream *s, bool stop, struct err *err)
{
	int ret = s->failed || s->broken ? 0 : stream_take(s, true, err);
	struct err late;

	if (s->perf && formats_is_messages(s->buf, s->n))
		s->n = 0;

	/* When it is stopped, a stream may be inside a record: that is no
	 * damage, and the part ends as if another one came after it. */
	s->stopped = stop && !s->failed && !s->broken;
	/* keep the part, even without events, to show that bytes are missing */
	if (s->perf && s->part.f && !s->stopped && !stream_is_whole(s))
		stream_count(s, 0, true);
	close(s->fd);
	s->fd = -1;
	if (stream_end_part(s, ret ? &late : err) ||
	    stream_end_tail(s, ret ? &late : err))
		ret = -1;
	if (!ret && !stop && !s->heard_any)
		say("backstitch: %s: the stream ended, and nothing was in "
		    "it; did the recorder say why?\n",
		    s->input);
	bool open = s->perf && perf_cut_is_open(s->perf);

	if (ret || s->stopped || s->failed || s->broken || (!s->n && !open))
		return ret;
	say("backstitch: %s: the stream ends in a record: %zu bytes of it%s\n",
	    s->input, s->n, open ? " outside of compressed data" : "");
	s->damaged = true;
	return 0;
}

int stream_receive(struct stream *s, bool stop, struct err *err)
{
	size_t most =
		s->cap - s->n < s->g->more ? s->cap - s->n : (size_t)s->g->more;

	/* read() of no bytes would return 0, as at the end */
	if (!most && !stop)
		return 0;
	ssize_t n = stop ? 0 : read(s->fd, s->buf + s->n, most);

	if (n > 0) {
		s->n += (size_t)n;
		s->heard = s->g->now;
		s->heard_any = true;
		if (stream_take(s, false, err))
			return -1;
		return s->broken ? stream_end(s, true, err) : 0;
	}
	if (!n)
		return stream_end(s, stop, err);
	if (errno == EINTR || errno == EAGAIN)
		return 0;
	return err_set(err, ERR_IO, "%s: %s", s->input, strerror(errno));
}

int stream_cut_now(struct stream *s, struct err *err)
{
	if (s->fd < 0 || !s->part.f)
		return 0;
	/* if another stream has ended the segment, the part is full already */
	s->g->cut_now = s->part.number == s->g->number;
	if (stream_is_full(s) && stream_cut(s, err))
		return -1;
	return stream_end_tail(s, err);
}

int stream_idle(struct stream *s, struct err *err)
{
	if (s->g->now - s->flushed >= FLUSH) {
		s->flushed = s->g->now;
		/* fclose() reports errors */
		if (s->tail.f)
			fflush(s->tail.f);
		if (s->part.f)
			fflush(s->part.f);
	}
	if (s->fd < 0 || s->g->now - s->heard < SILENT)
		return 0;
	if (!s->part.f)
		return stream_take(s, true, err);
	bool now = s->g->cut_now;

	if (stream_is_full(s) && stream_cut(s, err))
		return -1;
	/* perf's next round has late records of other rings; in ftrace's text,
	 * stacks follow their events at once */
	return now || s->text ? stream_end_tail(s, err) : 0;
}

/* Returns the descriptor of an input, or -1 and *err. */
static int stream_open_input(const char *input, struct err *err)
{
	int fd;

	if (!strcmp(input, "-")) {
		if (isatty(0))
			return err_set(err, ERR_USAGE,
				       "standard input is a terminal; pipe "
				       "'perf record -o -' into it");
		/* on Ctrl-C, the signal handler ends a pipe at descriptor 0 */
		return 0;
	}
	/* without a writer, open() would wait, and no signal would end it */
	fd = open(input, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? err_set(err, ERR_IO, "%s: %s", input, strerror(errno))
		      : fd;
}

struct stream *stream_open(struct segment *g, const char *input,
			   unsigned int index, struct err *err)
{
	int fd = stream_open_input(input, err);

	if (fd < 0)
		return NULL;
	struct stream *s = mem_new(1, sizeof(*s));

	*s = (struct stream){ .g = g,
			      .input = input,
			      .index = index,
			      .fd = fd,
			      .heard = g->now,
			      .part.number = g->number };
	s->buf = mem_grow_to(NULL, &s->cap, BUFFER, 1);
	return s;
}

void stream_free(struct stream *s)
{
	if (!s)
		return;
	if (s->part.f)
		fclose(s->part.f);
	if (s->tail.f)
		fclose(s->tail.f);
	if (s->fd > 0)
		close(s->fd);
	perf_cut_free(s->perf);
	ftext_cut_free(s->text);
	free_all(s->buf, s);
}

void stream_leave(struct stream *s)
{
	if (s->fd > 0)
		close(s->fd);
}

int stream_fd(const struct stream *s)
{
	return s->fd;
}

bool stream_has_begun(const struct stream *s)
{
	return s->part.f;
}

uint32_t stream_oldest(const struct stream *s)
{
	if (s->tail.f)
		return s->tail.number;
	if (s->part.f)
		return s->part.number;
	return s->fd >= 0 ? s->g->number : UINT32_MAX;
}

bool stream_damaged(const struct stream *s)
{
	return s->damaged;
}

uint64_t stream_dropped(const struct stream *s)
{
	return s->perf ? perf_cut_dropped(s->perf) : 0;
}
