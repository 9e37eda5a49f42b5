/* files.c - in which call on a descriptor a thread was, and on which file. */
#include "analyze/latency/files.h"

#include <fcntl.h>
#include <inttypes.h>

#include "analyze/causes/causes_types.h"
#include "analyze/causes/limits.h"
#include "analyze/latency/calls.h"
#include "analyze/latency/pair_kinds.h"
#include "analyze/samples/events.h"
#include "analyze/samples/filter.h"
#include "analyze/samples/loss_marks.h"
#include "analyze/samples/payloads.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/bytes.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"
#include "stitch/source.h"

#define ALL -1	       /* all descriptors of a process */
#define GENERATIONS 64 /* most parents and copies that are searched */
#define CALL_ARGS 6    /* in raw_syscalls */
#define FCNTL_DUPFD 0  /* include/uapi/linux/fcntl.h, on all machines */
#define FCNTL_SETFD 2
#define FCNTL_DUPFD_CLOEXEC 1030

/* What calls do to descriptors. Other calls that make one use a free number,
 * whose file is then unknown. */
enum files_does {
	FILES_NOTHING,
	FILES_OPEN, /* opens a file, whose name it has */
	FILES_MAKE,
	FILES_DUP,
	FILES_DUP_TO,
	FILES_FCNTL,
	FILES_CLOSE,
	FILES_RANGE,
};

static const struct {
	const char *call;
	enum files_does does;
	const char *name; /* of a descriptor without a file; or NULL */
} files_calls[] = {
	{ "open", FILES_OPEN, NULL },
	{ "openat", FILES_OPEN, NULL },
	{ "openat2", FILES_OPEN, NULL },
	{ "creat", FILES_OPEN, NULL },
	{ "socket", FILES_MAKE, "socket" },
	{ "accept", FILES_MAKE, "socket" },
	{ "accept4", FILES_MAKE, "socket" },
	{ "epoll_create", FILES_MAKE, "epoll" },
	{ "epoll_create1", FILES_MAKE, "epoll" },
	{ "eventfd", FILES_MAKE, "eventfd" },
	{ "eventfd2", FILES_MAKE, "eventfd" },
	{ "timerfd_create", FILES_MAKE, "timer" },
	{ "dup", FILES_DUP, NULL },
	{ "dup2", FILES_DUP_TO, NULL },
	{ "dup3", FILES_DUP_TO, NULL },
	{ "fcntl", FILES_FCNTL, NULL },
	{ "close", FILES_CLOSE, NULL },
	{ "close_range", FILES_RANGE, NULL },
};

struct files_type {
	const char *machine;
	uint32_t call; /* in text; 0: raw_syscalls, which has any call */
	bool enter, exit;
	bool shares, listed; /* LTTng's statedump, see files_take_state() */
};

/* A table of descriptors, and the process that had it at `time`. */
struct files_table {
	int64_t address, pid, time; /* pid: -1 if several have it */
};

struct files_process {
	int64_t pid, parent, start; /* parent: a pid */
};

/* At `time` a descriptor (fd ALL: each) may be closed, or gets a file. */
struct files_change {
	int64_t pid, fd, time;
	size_t nth;
	uint32_t name; /* in text; 0: not known */
	int64_t of;    /* 1 + the descriptor that it is a copy of; 0: none */
	bool stays;    /* exec keeps it open */
	bool exec;     /* exec: only descriptors that do not stay are closed */
};

/* A thread enters or leaves a call. */
struct files_point {
	int64_t tid, pid, time, fd;
	size_t nth;
	uint32_t call; /* in text; 0: left, or on no descriptor */
};

/* The call that a thread is in. */
struct files_open {
	int64_t tid, pid, arg[3];
	bool short_code; /* the program is a 32-bit one */
	enum files_does does;
	uint32_t name;
};

/* A call in which 'record --waits' saw a thread waiting. */
struct files_reading {
	int64_t tid, from, to, fd;
	uint32_t call, name; /* in text */
};

struct files {
	struct intern text; /* 0: "" */
	struct files_type *type;
	size_t n_type, cap_type;
	struct files_process *process; /* by pid and start */
	size_t n_process, cap_process;
	struct files_change *change;
	size_t n_change, cap_change;
	struct table by_address; /* of fds[], while events are read */
	struct files_table *fds;
	size_t n_fds, cap_fds;
	struct files_point *point;
	size_t n_point, cap_point;
	struct files_reading *reading;
	size_t n_reading, cap_reading;
	struct loss_rows *losses;
	int64_t *begun; /* by loss: when it or a later one begins first */
	const struct causes_kernel *kernel; /* NULL: all */
	bool whole; /* all threads, and all calls that close, were recorded */
	int64_t process_asked; /* pid that was to be recorded; -1: not known */
};

COMPARE_BY(files_compare_processes, struct files_process, pid, start);
COMPARE_BY(files_compare_changes, struct files_change, pid, fd, time, nth);
COMPARE_BY(files_compare_points, struct files_point, tid, time, nth);
COMPARE_BY(files_compare_readings, struct files_reading, tid, from);

/* ---- reading the database */

static bool files_takes(const struct files *f, int64_t capture)
{
	return !f->kernel || causes_kernel_has(f->kernel, capture);
}

/* Finds the types of events of calls and of the statedump, by id. */
static int files_read_types(struct files *f, struct store *db, bool *any,
			    struct err *err)
{
	struct rows *r = rows_dense(db, "interval_types", err);

	*any = false;
	f->whole = true;
	*mem_add(f->type, f->n_type, f->cap_type) = (struct files_type){ 0 };
	while (rows_step(r)) {
		const char *name = rows_text(r, INTERVAL_TYPES_NAME);
		struct files_type t = {
			.shares =
				!strcmp(name, "lttng_statedump_process_state"),
			.listed = !strcmp(name,
					  "lttng_statedump_file_descriptor"),
		};
		bool is = files_takes(f, rows_int(r, INTERVAL_TYPES_CAPTURE));

		if (is && (t.shares || t.listed))
			t.machine = "";
		for (size_t i = 0; is && i < pair_kinds_n && !t.machine; i++) {
			const struct pair_kind *k = &pair_kinds[i];
			const char *rest;
			size_t len;

			if (!k->calls || rows_int(r, INTERVAL_TYPES_SAMPLED))
				continue;
			t.enter = pair_name_is(k->begin, name, &rest, &len);
			t.exit = !t.enter &&
				 pair_name_is(k->end, name, &rest, &len);
			if (!t.enter && !t.exit)
				continue;
			t.machine = intern_get(
				&f->text,
				intern_add(&f->text,
					   rows_text(r, INTERVAL_TYPES_ARCH)));
			t.call =
				len ? intern_add_bytes(&f->text, rest, len) : 0;
			*any = true;
			f->whole &=
				rows_int(r, INTERVAL_TYPES_SYSTEM_WIDE) != 0;
		}
		*mem_add(f->type, f->n_type, f->cap_type) = t;
	}
	return rows_end(r, err);
}

/* Reads the lives of processes, and when they called exec. */
static int files_read_processes(struct files *f, struct store *db,
				struct err *err)
{
	struct rows *r = rows_of(db, "files_processes", err);

	while (rows_step(r))
		if (files_takes(f, rows_int(r, FILES_PROCESSES_CAPTURE)))
			*mem_add(f->process, f->n_process, f->cap_process) =
				(struct files_process){
					rows_int(r, FILES_PROCESSES_PID),
					rows_int(r, FILES_PROCESSES_PARENT),
					rows_int(r, FILES_PROCESSES_START)
				};
	sort_items(f->process, f->n_process, files_compare_processes);
	if (rows_end(r, err))
		return -1;
	r = rows_of(db, "causes_execs", err);
	while (rows_step(r))
		*mem_add(f->change, f->n_change, f->cap_change) =
			(struct files_change){
				.pid = rows_int(r, CAUSES_EXECS_TID),
				.fd = ALL,
				.time = rows_int(r, CAUSES_EXECS_TIME_NS),
				.exec = true
			};
	return rows_end(r, err);
}

/* Opens the rows of an event of 'record --waits' that has all n fields. Returns
 * as limits_open_rows(). */
static int files_open_readings(struct store *db, const char *event,
			       const char *const *name, size_t n, size_t *at,
			       struct rows **out, struct err *err)
{
	const struct limits_rows_ask ask = { .event = event,
					     .name = name,
					     .n = n };
	int rc = limits_open_rows(db, &ask, at, out, err);

	return rc > 0 && any_where(n, k, !at[k]) ? rows_end(*out, err) : rc;
}

/* Reads in which calls 'record --waits' saw threads wait, and which process it
 * recorded. */
static int files_read_readings(struct files *f, struct store *db,
			       struct err *err)
{
	enum {
		TOOK,
		TID,
		FD,
		CALL,
		PATH,
		READ_FIELDS
	};
	static const char *const name[READ_FIELDS] = { "took_ns", "tid", "fd",
						       "call", "path" };
	static const char *const pid[] = { "pid" };
	size_t at[READ_FIELDS] = { 0 };
	struct rows *r;
	int rc = files_open_readings(db, "limits_process", pid, 1, at, &r, err);

	f->process_asked = -1;
	if (rc > 0) {
		while (rows_step(r))
			if (f->process_asked < 0 &&
			    limits_rows_is_of(r, f->kernel))
				f->process_asked = rows_int(r, at[0]);
		rc = rows_end(r, err);
	}
	at[0] = 0;
	if (!rc)
		rc = files_open_readings(db, "limits_call", name, READ_FIELDS,
					 at, &r, err);
	if (rc <= 0)
		return rc;
	while (rows_step(r)) {
		int64_t took = rows_int_or(r, at[TOOK], -1);
		int64_t to = rows_int(r, LIMITS_ROWS_TIME_NS);

		if (took < 0 || took > to || !limits_rows_is_of(r, f->kernel))
			continue;
		*mem_add(f->reading, f->n_reading, f->cap_reading) =
			(struct files_reading){
				rows_int(r, at[TID]),
				to - took,
				to,
				rows_int(r, at[FD]),
				intern_add(&f->text, rows_text(r, at[CALL])),
				intern_add(&f->text, rows_text(r, at[PATH])),
			};
	}
	sort_items(f->reading, f->n_reading, files_compare_readings);
	return rows_end(r, err);
}

/* ---- events of calls */

/* Returns a number of an event: field `name`, or argument i of raw_syscalls; -1
 * if it has none. The kernel's own text of a call has hexadecimal numbers. */
static int64_t files_number(const struct field_def *def, size_t n,
			    const struct field *f, const char *name, size_t i,
			    bool big)
{
	char key[32];

	snprintf(key, sizeof(key), "%s: ", name);
	for (size_t k = 0; k < n; k++) {
		const char *text = f[k].text;
		bool args = !strcmp(def[k].name, "args");

		if (!f[k].present)
			continue;
		if (!strcmp(def[k].name, name))
			return text ? strtoll(text, NULL, 0) : f[k].num;
		if (args && f[k].blob && f[k].len == CALL_ARGS * 8) {
			struct bytes b;
			uint64_t word = 0;

			bytes_init(&b, f[k].blob, f[k].len, "args", 0,
				   bytes_must_swap(big));
			for (size_t at = 0; at <= i; at++)
				bytes_u64(&b, &word, NULL);
			return (int64_t)word;
		}
		for (size_t at = 0; args && text && at < i; at++)
			text = strchr(text, ' ') ? strchr(text, ' ') + 1 : "";
		if (args && text)
			return (int64_t)strtoull(text, NULL, 16);
		text = text && !strcmp(def[k].name, "text") ? strstr(text, key)
							    : NULL;
		if (text)
			return (int64_t)strtoull(text + strlen(key), NULL, 16);
	}
	return -1;
}

/* Returns the id of the name of the file that is opened; 0: only its address
 * was recorded. */
static uint32_t files_path(struct files *f, const struct field_def *def,
			   size_t n, const struct field *value)
{
	for (size_t k = 0; k < n; k++) {
		const char *text = value[k].present ? value[k].text : NULL;
		const char *end;

		/* the second one since Linux 6.19 */
		if (text && (!strcmp(def[k].name, "filename") ||
			     !strcmp(def[k].name, "__filename_val")))
			return intern_add(&f->text, text);
		text = text && !strcmp(def[k].name, "text") ? strchr(text, '"')
							    : NULL;
		end = text ? strrchr(text, '"') : NULL;
		if (end > text)
			return intern_add_bytes(&f->text, text + 1,
						(size_t)(end - text) - 1);
	}
	return 0;
}

static void files_change(struct files *f, const struct files_change *c)
{
	*mem_add(f->change, f->n_change, f->cap_change) = *c;
	f->change[f->n_change - 1].nth = f->n_change;
}

static void files_point(struct files *f, const struct files_open *o,
			int64_t time, int64_t fd, uint32_t call)
{
	size_t nth = f->n_point;

	*mem_add(f->point, f->n_point, f->cap_point) =
		(struct files_point){ o->tid, o->pid, time, fd, nth, call };
}

/* Notes that a thread leaves a call, and which descriptor the call made. */
static void files_take_exit(struct files *f, struct files_open *o, int64_t time,
			    int64_t ret)
{
	struct files_change c = {
		.pid = o->pid, .fd = ret, .time = time, .of = o->arg[0] + 1
	};
	bool is = ret >= 0 && ret <= INT32_MAX;

	files_point(f, o, time, -1, 0);
	switch (o->does) {
	case FILES_OPEN:
	case FILES_MAKE:
		c.name = o->name;
		c.of = 0;
		c.stays = o->does == FILES_OPEN && o->arg[2] >= 0 &&
			  !(o->arg[2] & O_CLOEXEC);
		break;
	case FILES_DUP:
	case FILES_DUP_TO:
		c.stays = o->arg[2] <= 0 || !(o->arg[2] & O_CLOEXEC);
		break;
	case FILES_FCNTL:
		c.stays =
			o->arg[1] == FCNTL_DUPFD ||
			(o->arg[1] == FCNTL_SETFD && !(o->arg[2] & FD_CLOEXEC));
		is &= o->arg[1] == FCNTL_DUPFD || o->arg[1] == FCNTL_SETFD ||
		      o->arg[1] == FCNTL_DUPFD_CLOEXEC;
		if (o->arg[1] == FCNTL_SETFD)
			c.fd = o->arg[0];
		break;
	default:
		is = false;
	}
	if (is)
		files_change(f, &c);
	o->does = FILES_NOTHING;
}

/* Returns whether records may be missing between two times. */
static bool files_lost(const struct files *f, int64_t from, int64_t to)
{
	size_t i = search_where(f->losses->n, k,
				!f->losses->row[k].has_to ||
					f->losses->row[k].to >= from);

	return i < f->losses->n && f->begun[i] <= to;
}

/* Takes what LTTng's statedump reports about a thread, and then about each of
 * its descriptors. An event of a descriptor has the process in older
 * lttng-modules; in newer ones (2.12 or so) it has the address of the table of
 * descriptors, which the event of the thread has, too. */
static void files_take_state(struct files *f, const struct files_type *t,
			     int64_t time, const struct field_def *def,
			     size_t n, const struct field *value)
{
	struct files_table own = { .time = time };
	struct files_change c = { .time = time };
	int64_t flags = files_number(def, n, value, "flags", 0, false);

	own.address =
		files_number(def, n, value, "file_table_address", 0, false);
	own.pid = files_number(def, n, value, "pid", 0, false);
	struct files_table *seen = mem_at(
		f->fds, f->n_fds, f->cap_fds,
		table_find_or_add(&f->by_address,
				  hash_u64((uint64_t)own.address), f->n_fds));
	const bool known = own.address != -1 && seen->address == own.address &&
			   !files_lost(f, seen->time, time);

	if (t->shares) {
		/* a table of another process is of an earlier dump, or shared
		 */
		if (known && seen->pid != own.pid) {
			c.pid = seen->pid;
			c.fd = ALL;
			files_change(f, &c);
			own.pid = -1;
		}
		*seen = own;
		return;
	}
	c.pid = own.pid >= 0 ? own.pid : known ? seen->pid : -1;
	c.fd = (int32_t)files_number(def, n, value, "fd", 0, false);
	c.name = files_path(f, def, n, value);
	c.stays = flags >= 0 && !(flags & O_CLOEXEC);
	if (c.pid >= 0 && c.fd >= 0 && c.name)
		files_change(f, &c);
}

/* Reads the events of calls and of the statedump in time order. */
static int files_read_events(struct files *f, struct store *db, struct err *err)
{
	struct files_open *thread = NULL;
	size_t n_thread = 0, cap_thread = 0;
	struct payloads *ps = payloads_open(db, err);
	struct rows *r = rows_dense(db, "interval_threads", err);
	struct event_rows events = { 0 };
	struct event_row e;
	int rc = ps ? 0 : -1;

	mem_reach(thread, n_thread, cap_thread, 1);
	while (rows_step(r))
		*mem_add(thread, n_thread, cap_thread) = (struct files_open){
			.tid = rows_int(r, INTERVAL_THREADS_TID),
			.pid = rows_int(r, INTERVAL_THREADS_PID),
			.short_code = rows_int(r, INTERVAL_THREADS_SHORT) != 0,
		};
	rc = rows_end(r, err) ? -1 : rc;
	if (!rc)
		events = event_rows_open(db, EVENT_ROWS_TO_PAYLOAD, err);
	while (rc >= 0 && (rc = event_rows_next(&events, &e, err)) > 0) {
		const struct files_type *t =
			e.type > 0 && (size_t)e.type < f->n_type
				? &f->type[e.type]
				: NULL;
		struct files_open *o = e.thread && e.thread < n_thread
					       ? &thread[e.thread]
					       : NULL;
		const struct field *value;
		const struct field_def *def;
		char name[CALLS_NAME];
		size_t n;

		const bool state = t && (t->shares || t->listed);

		if (!t || !t->machine || (!state && (!o || o->tid <= 0)) ||
		    (rc = payloads_fields(ps, &e, &value, err)) <= 0)
			continue;
		def = payloads_defs(ps, e.type, &n);
		if (state) {
			files_take_state(f, t, e.time, def, n, value);
			continue;
		}
		bool big = !strcmp(t->machine, "s390x");

		if (t->exit) {
			const char *text = NULL;
			int64_t ret =
				files_number(def, n, value, "ret", 0, big);

			/* the text is "sys_openat -> 0x3" */
			for (size_t i = 0; i < n && ret < 0; i++)
				if (value[i].present && value[i].text)
					text = strstr(value[i].text, " -> ");
			files_take_exit(f, o, e.time,
					text ? strtoll(text + 4, NULL, 0)
					     : ret);
			continue;
		}
		if (t->call)
			snprintf(name, sizeof(name), "%s",
				 intern_get(&f->text, t->call));
		else
			calls_name(!o->short_code		   ? t->machine
				   : !strcmp(t->machine, "x86_64") ? "i386"
								   : "",
				   files_number(def, n, value, "id", 0, big),
				   name);
		/* what the call does to descriptors */
		static const char *const first[] = { "fd",   "fildes", "oldfd",
						     "epfd", "out_fd", "fd_in",
						     "fdin" };
		struct files_change c = { .pid = o->pid,
					  .fd = ALL,
					  .time = e.time };
		bool on = calls_descriptor(name);
		int64_t fd = -1;

		for (size_t i = 0; i < ARRAY_SIZE(first) && fd < 0; i++)
			fd = (int32_t)files_number(def, n, value, first[i], 0,
						   big);
		files_point(f, o, e.time, fd,
			    on && fd >= 0 ? intern_add(&f->text, name) : 0);
		o->does = FILES_NOTHING;
		for (size_t i = 0; i < ARRAY_SIZE(files_calls); i++)
			if (!strcmp(files_calls[i].call, name)) {
				o->does = files_calls[i].does;
				o->name = files_calls[i].name
						  ? intern_add(
							    &f->text,
							    files_calls[i].name)
						  : 0;
			}
		if (o->does == FILES_NOTHING)
			continue;
		o->arg[0] = fd;
		o->arg[1] = files_number(
			def, n, value, o->does == FILES_FCNTL ? "cmd" : "newfd",
			1, big);
		o->arg[2] = files_number(
			def, n, value, o->does == FILES_FCNTL ? "arg" : "flags",
			2, big);
		if (o->does == FILES_OPEN)
			o->name = files_path(f, def, n, value);
		/* the descriptor may be closed from here on */
		if (o->does == FILES_CLOSE)
			c.fd = fd;
		else if (o->does == FILES_DUP_TO)
			c.fd = (int32_t)o->arg[1];
		else if (o->does != FILES_RANGE)
			continue;
		files_change(f, &c);
	}
	rows_close(events.rows);
	payloads_close(ps);
	free(thread);
	sort_items(f->change, f->n_change, files_compare_changes);
	sort_items(f->point, f->n_point, files_compare_points);
	return rc < 0 ? -1 : 0;
}

struct files *files_load(struct store *db, const struct causes_kernel *k,
			 struct err *err)
{
	struct files *f = mem_new(1, sizeof(*f));
	bool any;

	f->kernel = k;
	intern_add(&f->text, "");
	if (files_read_types(f, db, &any, err) ||
	    files_read_readings(f, db, err) ||
	    (any && (files_read_processes(f, db, err) ||
		     !(f->losses = loss_rows_load(db, &filter_none, err))))) {
		files_free(f);
		return NULL;
	}
	if (any)
		f->begun = mem_new(f->losses->n + 1, sizeof(*f->begun));
	for (size_t i = any ? f->losses->n : 0; i-- > 0;) {
		const struct loss_row *l = &f->losses->row[i];

		f->begun[i] = l->has_from ? l->from : INT64_MIN;
		if (i + 1 < f->losses->n)
			lower_to(f->begun[i], f->begun[i + 1]);
	}
	if (any && files_read_events(f, db, err)) {
		files_free(f);
		return NULL;
	}
	return f;
}

void files_free(struct files *f)
{
	if (!f)
		return;
	loss_rows_free(f->losses);
	intern_release(&f->text);
	table_release(&f->by_address);
	free_all(f->type, f->process, f->change, f->fds, f->begun, f->point,
		 f->reading, f);
}

/* ---- lookups */

int64_t files_process(const struct files *f)
{
	return f->process_asked;
}

/* Returns the last change of a descriptor of a process up to a time, of those
 * at that time up to the nth; NULL: none. */
static const struct files_change *files_before(const struct files *f,
					       int64_t pid, int64_t fd,
					       int64_t time, size_t nth)
{
	const struct files_change key = { pid, fd, time, .nth = nth };
	size_t i = search_where(f->n_change, k,
				files_compare_changes(&f->change[k], &key) > 0);

	return i && f->change[i - 1].pid == pid && f->change[i - 1].fd == fd
		       ? &f->change[i - 1]
		       : NULL;
}

/* Returns the name of a descriptor's file at a time; NULL: it is not proved. */
static const char *files_name(const struct files *f, int64_t pid, int64_t fd,
			      int64_t time)
{
	const int64_t asked = time;
	bool exec = false;
	size_t nth = 0;

	for (int i = 0; i < GENERATIONS && f->whole; i++) {
		const struct files_process key = { .pid = pid, .start = time };
		size_t n = search_where(
			f->n_process, k,
			files_compare_processes(&f->process[k], &key) > 0);
		const struct files_process *p =
			n && f->process[n - 1].pid == pid ? &f->process[n - 1]
							  : NULL;
		const struct files_change *c =
			files_before(f, pid, fd, time, nth);
		const struct files_change *all =
			files_before(f, pid, ALL, time, nth);
		int64_t born = p ? p->start : INT64_MIN;

		if (c && c->time < born)
			c = NULL;
		for (; all && all->time >= (c ? c->time : born); all--) {
			if (!all->exec)
				return NULL;
			exec = true;
			if (all == f->change || all[-1].pid != pid ||
			    all[-1].fd != ALL)
				break;
		}
		if (c && exec && !c->stays)
			return NULL;
		if (c && c->of) {
			fd = c->of - 1;
			time = c->time;
			nth = c->nth - 1;
			exec = false;
			continue;
		}
		if (c)
			return c->name && !files_lost(f, c->time, asked)
				       ? intern_get(&f->text, c->name)
				       : NULL;
		if (!p || p->parent <= 0 || born == INT64_MIN)
			return NULL;
		pid = p->parent;
		time = born;
		nth = 0;
	}
	return NULL;
}

bool files_call(const struct files *f, int64_t tid, int64_t from, int64_t to,
		struct files_call *out)
{
	size_t i = search_where(f->n_reading, k,
				f->reading[k].tid > tid ||
					(f->reading[k].tid == tid &&
					 f->reading[k].from >= from));
	const struct files_point *p;

	if (i < f->n_reading && f->reading[i].tid == tid &&
	    f->reading[i].to <= to) {
		const char *name = intern_get(&f->text, f->reading[i].name);

		*out = (struct files_call){
			.call = intern_get(&f->text, f->reading[i].call),
			.fd = f->reading[i].fd,
			.name = strcmp(name, "-") != 0 ? name : NULL,
		};
		return true;
	}
	i = search_where(f->n_point, k,
			 f->point[k].tid > tid || (f->point[k].tid == tid &&
						   f->point[k].time > from));
	p = i ? &f->point[i - 1] : NULL;
	*out = (struct files_call){ 0 };
	if (!p || p->tid != tid || files_lost(f, p->time, from))
		return false;
	out->elsewhere = !p->call;
	if (out->elsewhere)
		return false;
	out->call = intern_get(&f->text, p->call);
	out->fd = p->fd;
	out->name = files_name(f, p->pid, p->fd, from);
	return true;
}
