/* rings.c - one input that is the rings of a live buffer of ftrace. */
#include "cli/follow/rings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "cli/follow/other_reader.h"
#include "cli/follow/piece.h"
#include "cli/follow/ring_counts.h"
#include "cli/follow/threads.h"
#include "cli/follow/tracefs.h"
#include "formats/ftrace/cut.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define NS 1000000000
/* A ring that had little is left alone for a tick: each read makes a page of
 * what is there. */
#define TICK_NS (NS / 20)
#define MUCH 16 /* pages */
/* All rings are read that often, as the kernel tells only that one is half
 * full. */
#define ROUND_TICKS 4
/* Pages that are read from a ring before another has its turn, and are written
 * at once. */
#define TURN 64
#define EVENTS 64 /* of epoll */
/* Bytes that a page may have left when the next event did not fit, which is
 * shorter in the next page: its head, and the event's time. */
#define ROOM 64
/* Those that are read at the end, when a recorder may be as fast as this. */
#define LAST_TURNS 4096
#define TRIES 100
/* A stack comes at once behind its event: it is waited for this long in a ring
 * that is silent, and for that many pages in another. */
#define LATE_NS NS
#define LATE_PAGES 64
#define CPUS_MAX 65536
#define STACKS 3
#define LAYOUT "events/header_page"

struct ring {
	int32_t cpu;
	int fd;
	bool armed, begun;
	bool late; /* its next page may belong to the part before */
	uint32_t late_pages;
	unsigned char *page; /* bytes of one that is not whole */
	uint32_t n_page;
	struct ring_counts last; /* as the kernel has them */
	struct ring_counts sum;	 /* of what they grew */
	uint64_t marked;	 /* lost events that pages told */
	struct ring_counts end;	 /* what both had when the tail's pages end */
	struct ring_counts told; /* in parts */
	uint64_t events;	 /* in pages */
	uint32_t damaged;	 /* pages, whose events cannot be counted */
	uint64_t time;		 /* of the newest page */
	uint64_t left;		 /* events that could not be read */
	unsigned int tries;	 /* that gave none of them */
};

struct rings {
	struct segment *g;
	const char *input;
	unsigned int index;
	struct piece_source src;
	struct ftrace_cut *cut;
	uint16_t stack[STACKS]; /* ids of events that are stacks; 0: none */
	uint32_t page;
	struct ring *ring;
	size_t n, cap;
	int epoll, timer;
	unsigned int tick;
	char *clock;  /* the text of trace_clock */
	char *layout; /* that of header_page */
	/* the part that is received, and the one before it while it may get
	 * pages; number 0: none */
	struct piece piece, tail;
	int64_t cut_at;
	/* pages of one ring: those that are stored, and those that were looked
	 * at */
	unsigned char *batch;
	size_t first, n_batch;
	/* events of a page */
	uint64_t seen[1024];
	uint16_t *event;
	size_t n_event, cap_event;
	uint64_t undescribed; /* events without a format */
	bool damaged;
};

/* Notes what was lost up to here, where the pages of the tail end: pages of the
 * next part may come before the tail is complete. */
static void ring_note_lost(struct ring *r)
{
	r->end = ring_counts_lost(&r->sum, r->marked);
}

/* ---- parts */

static void rings_ask_threads(struct rings *rs)
{
	size_t len;
	char *names = tracefs_text(rs->src.fs, "saved_cmdlines", &len);
	char *processes = tracefs_text(rs->src.fs, "saved_tgids", &len);

	threads_ask(rs->src.threads, names, processes);
	free(names);
	free(processes);
}

static int rings_begin_piece(struct rings *rs, struct err *err)
{
	return piece_begin(&rs->piece, rs->g->dir, rs->g->number, rs->index,
			   &rs->src, rs->clock, err);
}

/* Ends the part before the one that is received: nothing of it comes later. */
static int rings_end_tail(struct rings *rs, struct err *err)
{
	if (!rs->tail.number)
		return 0;
	rings_ask_threads(rs);
	if (piece_set_threads(&rs->tail, rs->src.threads, err))
		return -1;
	threads_forget(rs->src.threads);
	for (size_t i = 0; i < rs->n; i++) {
		rs->ring[i].late = false;
		if (ring_tell_lost(&rs->tail, rs->ring[i].cpu,
				   &rs->ring[i].told, &rs->ring[i].end, err))
			return -1;
	}
	rs->tail.number = 0;
	return 0;
}

/* Stores the formats of events that are in the page. */
static int rings_describe(struct rings *rs, struct piece *p, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < rs->n_event; i++) {
		uint16_t id = rs->event[i];
		const char *name;
		size_t len;

		rs->seen[id / 64] &= ~((uint64_t)1 << (id % 64));
		if (rc || piece_has_format(p, id))
			continue;
		char *text = tracefs_format(rs->src.fs, id, &name, &len);

		if (!text && !rs->undescribed++)
			fprintf(stderr,
				"backstitch: %s: event %u has no format: it was "
				"removed, or never had one\n",
				rs->input, id);
		rc = piece_add_format(p, id, name, text, len, err);
		free(text);
	}
	rs->n_event = 0;
	return rc;
}

static void rings_take_entry(void *arg, uint16_t event, int32_t tid)
{
	struct rings *rs = arg;
	uint64_t *word = &rs->seen[event / 64];
	uint64_t bit = (uint64_t)1 << (event % 64);

	threads_see(rs->src.threads, tid);
	if (*word & bit)
		return;
	*word |= bit;
	*mem_add(rs->event, rs->n_event, rs->cap_event) = event;
}

static int rings_flush(struct rings *rs, struct ring *r, struct piece *p,
		       struct err *err)
{
	const unsigned char *page = rs->batch + rs->first * rs->page;
	size_t len = rs->n_batch * rs->page;

	rs->first += rs->n_batch;
	rs->n_batch = 0;
	return len ? piece_add_pages(p, r->cpu, page, len, err) : 0;
}

/* Returns the part for a page, or NULL and *err. */
static struct piece *rings_piece_of(struct rings *rs, struct ring *r,
				    const unsigned char *page, struct err *err)
{
	if (rs->tail.number && r->late) {
		if (r->late_pages++ < LATE_PAGES &&
		    ftrace_cut_is_late(rs->cut, page))
			return &rs->tail;
		r->late = false;
	}
	if (rs->piece.number || !rings_begin_piece(rs, err))
		return &rs->piece;
	return NULL;
}

/* Takes the next page of the batch. Returns 0, or -1 and *err. */
static int rings_take_page(struct rings *rs, struct ring *r, struct err *err)
{
	const unsigned char *page =
		rs->batch + (rs->first + rs->n_batch) * rs->page;
	struct ftrace_cut_page got;
	struct piece *p = rings_piece_of(rs, r, page, err);

	if (!p)
		return -1;
	ftrace_cut_look(rs->cut, page, rings_take_entry, rs, &got);
	if (!r->begun) {
		/* it marks what was lost before the ring was opened, too */
		r->begun = true;
		ring_counts_read(rs->src.fs, r->cpu, &r->last, &r->sum);
		if (r->sum.overrun < got.n_lost)
			r->sum.overrun = got.n_lost;
		r->sum.read = got.events;
	} else {
		r->marked += got.n_lost;
	}
	r->events += got.events;
	r->damaged += got.damaged;
	r->time = got.damaged ? r->time : got.time;
	if (p == &rs->tail)
		ring_note_lost(r);
	rs->g->events += got.events;
	rs->g->bytes += rs->page;
	if (rings_describe(rs, p, err))
		return -1;
	rs->n_batch++;
	return p == &rs->tail ? rings_flush(rs, r, p, err) : 0;
}

/* ---- reading */

static int rings_check_settings(struct rings *rs, struct err *err);

/* Reads a page, or what there is of it. Returns 1, 0 if there is none, -1 and
 * *err. */
static int ring_read_page(struct rings *rs, struct ring *r, struct err *err)
{
	ssize_t n;

	do
		n = read(r->fd, r->page + r->n_page, rs->page - r->n_page);
	while (n < 0 && errno == EINTR);
	if (n > 0) {
		r->n_page += (uint32_t)n;
		return r->n_page == rs->page;
	}
	if (!n || errno == EAGAIN)
		return 0;
	return err_set(err, ERR_IO,
		       "%s/per_cpu/cpu%" PRId32 "/trace_pipe_raw: "
		       "%s",
		       tracefs_root(rs->src.fs), r->cpu, strerror(errno));
}

/* Reads pages into the batch until there is none, or one begins at a time or
 * later. 0: until two pages would have been one, as the ring was empty after
 * the first one then; reading makes events too. A full page alone may have few
 * bytes if the next event is large. Returns the number of pages, or -1 and
 * *err. */
static int rings_fill(struct rings *rs, struct ring *r, uint64_t until,
		      struct err *err)
{
	struct ftrace_cut_page got = { 0 };
	uint32_t before = rs->page;
	int rc = 1;
	int n = 0;

	while (n < TURN && (rc = ring_read_page(rs, r, err)) > 0) {
		memcpy(rs->batch + (size_t)n++ * rs->page, r->page, rs->page);
		r->n_page = 0;
		ftrace_cut_look(rs->cut, r->page, NULL, NULL, &got);
		if (until ? got.time >= until
			  : before + got.len + ROOM < rs->page)
			break;
		before = got.len;
	}
	return rc < 0 ? -1 : n;
}

/* Reads a turn of a ring, as rings_fill() does. Returns the number of pages, or
 * -1 and *err. */
static int rings_read(struct rings *rs, struct ring *r, uint64_t until,
		      struct err *err)
{
	int n = rings_fill(rs, r, until, err);

	/* nothing of another clock may get into the part */
	if (n > 0 && rings_check_settings(rs, err))
		return -1;
	rs->first = 0;
	for (int i = 0; i < n; i++)
		if (rings_take_page(rs, r, err))
			return -1;
	if (n < 0 || rings_flush(rs, r, &rs->piece, err))
		return -1;
	if (!n && rs->g->now - rs->cut_at >= LATE_NS)
		r->late = false;
	return n;
}

/* Gives each ring its turn. Returns whether there are more pages, or -1 and
 * *err. */
static int rings_read_all(struct rings *rs, struct err *err)
{
	bool more = false;

	for (size_t i = 0; i < rs->n; i++) {
		int got = rings_read(rs, &rs->ring[i], 0, err);

		if (got < 0)
			return -1;
		more |= got == TURN;
	}
	if (threads_are_new(rs->src.threads))
		rings_ask_threads(rs);
	return more;
}

/* ---- cuts */

/* Reads the pages of a ring up to a time: what other rings had before, and what
 * was counted as lost, is then in the same part. */
static int rings_read_until(struct rings *rs, struct ring *r, uint64_t time,
			    struct err *err)
{
	int got = TURN;

	for (int i = 0; got == TURN && i < LAST_TURNS; i++) {
		got = rings_read(rs, r, time, err);
		if (r->time >= time)
			break;
	}
	return got < 0 ? -1 : 0;
}

static uint64_t rings_newest(const struct rings *rs)
{
	uint64_t time = 0;

	for (size_t i = 0; i < rs->n; i++)
		if (rs->ring[i].time > time)
			time = rs->ring[i].time;
	return time;
}

/* Returns whether the part before the one that is received has stacks. */
static bool rings_has_stacks(const struct rings *rs)
{
	for (size_t i = 0; i < STACKS; i++)
		if (rs->stack[i] && piece_has_format(&rs->tail, rs->stack[i]))
			return true;
	return false;
}

/* Ends the part that is received; read: with the pages that are in the rings.
 */
static int rings_cut(struct rings *rs, bool read, struct err *err)
{
	uint64_t newest = rings_newest(rs);

	for (size_t i = 0; i < rs->n; i++) {
		struct ring *r = &rs->ring[i];

		ring_counts_read(rs->src.fs, r->cpu, &r->last, &r->sum);
		if (read && rings_read_until(rs, &rs->ring[i], newest, err))
			return -1;
	}
	rings_ask_threads(rs);
	threads_cut(rs->src.threads);
	rs->tail = rs->piece;
	rs->piece.number = 0;
	rs->cut_at = rs->g->now;
	for (size_t i = 0; i < rs->n; i++) {
		ring_note_lost(&rs->ring[i]);
		rs->ring[i].late = read && rings_has_stacks(rs);
		rs->ring[i].late_pages = 0;
	}
	return 0;
}

static void rings_next_segment(struct rings *rs)
{
	if (rs->tail.number == rs->g->number)
		segment_next(rs->g);
}

static bool rings_is_full(const struct rings *rs)
{
	return rs->piece.number && !rs->tail.number &&
	       (rs->piece.number != rs->g->number || segment_is_full(rs->g));
}

static bool rings_has_late(const struct rings *rs)
{
	for (size_t i = 0; i < rs->n; i++)
		if (rs->ring[i].late)
			return true;
	return false;
}

/* Cuts where that is due. */
static int rings_end_round(struct rings *rs, struct err *err)
{
	if (rings_is_full(rs)) {
		if (rings_cut(rs, true, err))
			return -1;
		rings_next_segment(rs);
	}
	return rings_has_late(rs) ? 0 : rings_end_tail(rs, err);
}

/* The kernel empties the rings when their clock is changed: what comes is on
 * another timeline. So it does when the size of pages is. */
static int rings_check_settings(struct rings *rs, struct err *err)
{
	size_t len;
	char *layout = tracefs_text(rs->src.fs, LAYOUT, &len);
	bool same = !layout || !strcmp(layout, rs->layout);

	free(layout);
	if (!same)
		return err_set(err, ERR_IO,
			       "%s: the size of its pages was changed; what is "
			       "finished stays: start again",
			       rs->input);
	char *now = tracefs_text(rs->src.fs, "trace_clock", &len);

	if (!now || !strcmp(now, rs->clock)) {
		free(now);
		return 0;
	}
	fprintf(stderr, "backstitch: %s: the clock is another one now: %s",
		rs->input, now);
	free(rs->clock);
	rs->clock = now;
	for (size_t i = 0; i < rs->n; i++)
		rs->ring[i].time = 0;
	if (rings_end_tail(rs, err))
		return -1;
	if (!rs->piece.number)
		return 0;
	if (rings_cut(rs, false, err))
		return -1;
	rings_next_segment(rs);
	return rings_end_tail(rs, err);
}

/* ---- waiting */

static void ring_arm(struct rings *rs, struct ring *r)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLONESHOT,
				  .data.u32 = (uint32_t)(r - rs->ring) };

	r->armed = !epoll_ctl(rs->epoll, EPOLL_CTL_MOD, r->fd, &ev);
}

static int rings_tick(struct rings *rs, struct err *err)
{
	uint64_t times;

	if (read(rs->timer, &times, sizeof(times)) < 0 && errno != EAGAIN)
		return err_set(err, ERR_IO, "a timer: %s", strerror(errno));
	for (size_t i = 0; i < rs->n; i++)
		if (!rs->ring[i].armed)
			ring_arm(rs, &rs->ring[i]);
	if (++rs->tick % ROUND_TICKS)
		return 0;
	if (rings_check_settings(rs, err))
		return -1;
	int more = rings_read_all(rs, err);

	/* then the next tick reads on */
	rs->tick -= more > 0;
	return more < 0 ? -1 : 0;
}

static int rings_wait(struct rings *rs, struct err *err)
{
	struct epoll_event ev[EVENTS];
	int n = epoll_wait(rs->epoll, ev, EVENTS, 0);

	for (int i = 0; i < n; i++) {
		if (ev[i].data.u32 >= rs->n) {
			if (rings_tick(rs, err))
				return -1;
			continue;
		}
		struct ring *r = &rs->ring[ev[i].data.u32];
		int got = rings_read(rs, r, 0, err);

		if (got < 0)
			return -1;
		r->armed = false;
		if (got >= MUCH)
			ring_arm(rs, r);
	}
	return 0;
}

/* Says what no part has. */
static void rings_tell(struct rings *rs)
{
	for (size_t i = 0; i < rs->n; i++) {
		struct ring *r = &rs->ring[i];

		if (r->n_page)
			fprintf(stderr,
				"backstitch: %s: CPU %" PRId32 " ends in a "
				"page: %" PRIu32 " bytes of it\n",
				rs->input, r->cpu, r->n_page);
		rs->damaged |= r->n_page;
		if (r->sum.read > r->events) {
			ring_tell_missing(rs->input, r->cpu,
					  r->sum.read - r->events, r->damaged);
			rs->damaged = true;
		}
		if (r->left)
			ring_tell_left(rs->input, r->cpu, r->left);
		rs->damaged |= r->left;
	}
}

/* Reads a turn of a ring up to the time of the end. Returns whether there may
 * be more, or -1 and *err. */
static int rings_read_last(struct rings *rs, struct ring *r, uint64_t end,
			   struct err *err)
{
	if (r->time >= end)
		return 0;
	int n = rings_read(rs, r, end, err);

	if (n < 0)
		return -1;
	char *text = r->time < end ? ring_stats(rs->src.fs, r->cpu) : NULL;

	/* an event that is being written keeps those behind it from readers */
	r->left = text ? ring_count(text, "entries: ") : 0;
	r->tries = n ? 0 : r->tries + 1;
	free(text);
	return n == TURN || (r->left && r->tries < TRIES);
}

/* Reads all that was in the rings when the end was asked. What comes later may
 * have no end. */
static int rings_read_rest(struct rings *rs, struct err *err)
{
	uint64_t end = ring_time(rs->src.fs, rs->ring[0].cpu);
	bool more = true;

	for (int i = 0; more && i < LAST_TURNS; i++) {
		more = false;
		for (size_t k = 0; k < rs->n; k++) {
			int got = rings_read_last(rs, &rs->ring[k], end, err);

			if (got < 0)
				return -1;
			more |= got > 0;
		}
		if (threads_are_new(rs->src.threads))
			rings_ask_threads(rs);
	}
	return 0;
}

static int rings_stop(struct rings *rs, struct err *err)
{
	int rc = rings_read_rest(rs, err) || rings_end_tail(rs, err) ||
				 (rs->piece.number &&
				  rings_cut(rs, true, err)) ||
				 rings_end_tail(rs, err)
			 ? -1
			 : 0;

	close(rs->epoll);
	rs->epoll = -1;
	rings_tell(rs);
	return rc;
}

int rings_receive(struct rings *rs, bool stop, struct err *err)
{
	if (stop)
		return rings_stop(rs, err);
	return rings_wait(rs, err) || rings_end_round(rs, err) ? -1 : 0;
}

/* ---- opening and closing */

static int rings_add(struct rings *rs, int32_t cpu, const char *path,
		     struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	struct ring *r = mem_add(rs->ring, rs->n, rs->cap);

	*r = (struct ring){ .cpu = cpu, .fd = fd };
	struct epoll_event ev = { .events = EPOLLIN | EPOLLONESHOT,
				  .data.u32 = (uint32_t)(rs->n - 1) };

	if (epoll_ctl(rs->epoll, EPOLL_CTL_ADD, fd, &ev))
		return err_set(err, ERR_IO,
			       "%s: no ring that is written to; a copy of one "
			       "is read by 'backstitch ingest'",
			       path);
	r->armed = true;
	r->page = mem_new(rs->page, 1);
	ring_counts_read(rs->src.fs, r->cpu, &r->last, &r->sum);
	r->sum = (struct ring_counts){ 0 };
	return 0;
}

static int rings_lock(struct rings *rs, struct err *err)
{
	int *fd = mem_new(rs->n, sizeof(*fd));

	for (size_t i = 0; i < rs->n; i++)
		fd[i] = rs->ring[i].fd;
	int rc = other_reader_refuse(fd, rs->n, rs->input, err);

	free(fd);
	return rc;
}

/* All CPUs that can be: those that come later have files already. */
static int rings_add_all(struct rings *rs, struct err *err)
{
	char dir[SEGMENT_PATH], path[SEGMENT_PATH + 512];
	const struct dirent *e;
	int rc = 0;

	snprintf(dir, sizeof(dir), "%.4000s/per_cpu", tracefs_root(rs->src.fs));
	DIR *d = opendir(dir);

	while (d && !rc && (e = readdir(d)) != NULL) {
		char *end;
		unsigned long cpu = strncmp(e->d_name, "cpu", 3)
					    ? CPUS_MAX
					    : strtoul(e->d_name + 3, &end, 10);

		if (cpu >= CPUS_MAX || *end)
			continue;
		snprintf(path, sizeof(path), "%.4000s/%.255s/trace_pipe_raw",
			 dir, e->d_name);
		rc = rings_add(rs, (int32_t)cpu, path, err);
	}
	if (d)
		closedir(d);
	if (rc || rs->n)
		return rc ? rc : rings_lock(rs, err);
	return err_set(err, ERR_IO, "%s: no cpuN/trace_pipe_raw in it", dir);
}

/* The layout of pages, and which entries are stacks. */
static int rings_read_layout(struct rings *rs, struct err *err)
{
	static const char *const stacks[STACKS] = { "kernel_stack",
						    "user_stack",
						    "user_unwind_cookie" };
	char name[96];
	size_t len;
	char *text;

	rs->layout = tracefs_text(rs->src.fs, LAYOUT, &len);
	if (!rs->layout)
		return err_set(err, ERR_IO, "%s/" LAYOUT ": cannot be read",
			       tracefs_root(rs->src.fs));
	rs->cut = ftrace_cut_new(rs->layout, len, err);
	if (!rs->cut)
		return -1;
	rs->page = ftrace_cut_size(rs->cut);
	rs->batch = mem_new(TURN, rs->page);
	for (size_t i = 0; i < STACKS; i++) {
		snprintf(name, sizeof(name), "events/ftrace/%s/format",
			 stacks[i]);
		text = tracefs_text(rs->src.fs, name, &len);
		int32_t id = text ? ftrace_cut_id(text, len) : -1;

		free(text);
		if (id <= 0)
			continue;
		rs->stack[i] = (uint16_t)id;
		ftrace_cut_stack(rs->cut, rs->stack[i]);
	}
	return 0;
}

static int rings_start(struct rings *rs, struct err *err)
{
	const struct itimerspec every = { .it_interval.tv_nsec = TICK_NS,
					  .it_value.tv_nsec = TICK_NS };
	struct epoll_event ev = { .events = EPOLLIN, .data.u32 = UINT32_MAX };
	size_t len;

	rs->clock = tracefs_text(rs->src.fs, "trace_clock", &len);
	if (!rs->clock)
		return err_set(err, ERR_IO, "%s/trace_clock: cannot be read",
			       tracefs_root(rs->src.fs));
	rs->src.threads = threads_new(tracefs_is_live(rs->src.fs));
	rs->epoll = epoll_create1(EPOLL_CLOEXEC);
	rs->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (rs->epoll < 0 || rs->timer < 0 ||
	    timerfd_settime(rs->timer, 0, &every, NULL) ||
	    epoll_ctl(rs->epoll, EPOLL_CTL_ADD, rs->timer, &ev))
		return err_set(err, ERR_IO, "a timer: %s", strerror(errno));
	return rings_read_layout(rs, err) || rings_add_all(rs, err) ? -1 : 0;
}

struct rings *rings_open(struct segment *g, const char *input,
			 unsigned int index, struct err *err)
{
	struct rings *rs = mem_new(1, sizeof(*rs));

	*rs = (struct rings){
		.g = g, .input = input, .index = index, .epoll = -1, .timer = -1
	};
	rs->src.fs = tracefs_open(input, err);
	if (rs->src.fs && !rings_start(rs, err))
		return rs;
	rings_close(rs);
	return NULL;
}

void rings_close(struct rings *rs)
{
	if (!rs)
		return;
	for (size_t i = 0; i < rs->n; i++) {
		close(rs->ring[i].fd);
		free(rs->ring[i].page);
	}
	if (rs->epoll >= 0)
		close(rs->epoll);
	if (rs->timer >= 0)
		close(rs->timer);
	ftrace_cut_free(rs->cut);
	threads_free(rs->src.threads);
	tracefs_close(rs->src.fs);
	free(rs->src.kallsyms);
	free(rs->src.modules);
	free(rs->ring);
	free(rs->clock);
	free(rs->layout);
	free(rs->batch);
	free(rs->event);
	free(rs);
}

void rings_leave(struct rings *rs)
{
	for (size_t i = 0; i < rs->n; i++)
		close(rs->ring[i].fd);
}

int rings_fd(const struct rings *rs)
{
	return rs->epoll;
}

uint32_t rings_oldest(const struct rings *rs)
{
	if (rs->tail.number)
		return rs->tail.number;
	if (rs->piece.number)
		return rs->piece.number;
	return rs->epoll >= 0 ? rs->g->number : UINT32_MAX;
}

bool rings_damaged(const struct rings *rs)
{
	return rs->damaged || rs->undescribed;
}
