/* open.c - reads perf's text ('perf script') and folded stacks ("outer;inner
 * 12", as stackcollapse, bpftrace, async-profiler and dtrace's scripts write
 * them).
 *
 * The text is mapped. next() finds where samples begin and end, decode() parses
 * their lines. Frames have the names of the text and no mapping, as the text
 * has nothing else. */
#include "formats/ptext/ptext.h"

#include <ctype.h>
#include <stdbool.h>

#include "formats/input.h"
#include "formats/reader/bounds.h"
#include "formats/reader/reader.h"
#include "formats/reader/refuse.h"
#include "formats/reader/scan.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/source.h"

/* ---- parses the lines of a text of 'perf script', and of folded stacks. The
 * results are borrowed from the line.
 *
 * perf 3.x to 7.x print the fields of a sample in one order; -F may leave out
 * each of them (tools/perf/builtin-script.c, print_sample_start()). The name of
 * the thread comes first and may have blanks and digits: it ends where the
 * whole rest has the form of the other fields, and a rest with a thread, a CPU
 * or a time is preferred to one without. */

/* The first line of a sample: "comm pid/tid [cpu] time: period event: text",
 * each of which may be missing. */
struct ptext_head {
	struct scan comm, event;
	struct scan text; /* what follows the event: a tracepoint's text, or an
			     address */
	int32_t pid, tid, cpu; /* -1: unknown */
	bool timed, has_period;
	bool deferred; /* a deferred stack follows, with this cookie */
	uint64_t time, period, cookie;
};

/* A line of a callchain: "ip symbol+off (path)". */
struct ptext_frame {
	uint64_t ip;
	struct scan rest; /* the text after the address */
	struct scan symbol, path;
	uint64_t off;
	bool inlined; /* its path is that of the next frame that is not inlined
		       */
};

#define NS_DIGITS 9
#define ADDRESS_WIDTH 17
#define PERIOD_WIDTH 10
/* A longer name of a thread is none; Linux has 15 bytes at most. */
#define COMM_MOST 256

/* How much of a head a line must have. */
enum ptext_surety {
	PTEXT_WHOLE,  /* a thread, and a CPU or a time */
	PTEXT_THREAD, /* a thread, and something after it */
	PTEXT_MOMENT, /* a CPU or a time */
	PTEXT_ANY,    /* an event, or a thread alone */
};

static bool ptext_ends(struct scan s)
{
	return !s.n || scan_is_blank(*s.p);
}

/* Moves *s to t and returns true, if a field ends at t. */
static bool ptext_moves(struct scan *s, struct scan t)
{
	if (ptext_ends(t))
		*s = t;
	return ptext_ends(t);
}

static bool ptext_take_id(struct scan *s, int32_t *id)
{
	*id = -1;
	return scan_take(s, "-1") || scan_i32(s, id);
}

/* Takes "12" or "12/34". */
static bool ptext_take_thread(struct scan *s, struct ptext_head *h)
{
	struct scan t = *s;
	int32_t tid, pid = -1;

	if (!ptext_take_id(&t, &tid))
		return false;
	if (scan_take(&t, "/")) {
		pid = tid;
		if (!ptext_take_id(&t, &tid))
			return false;
	}
	if (!ptext_moves(s, t))
		return false;
	h->pid = pid;
	h->tid = tid;
	return true;
}

static bool ptext_take_cpu(struct scan *s, int32_t *cpu)
{
	struct scan t = *s;

	return scan_take(&t, "[") && scan_i32(&t, cpu) && scan_take(&t, "]") &&
	       ptext_moves(s, t);
}

/* Takes "12.345678:", with up to 9 digits of a second. */
static bool ptext_take_time(struct scan *s, uint64_t *time)
{
	struct scan t = *s;
	uint64_t sec, part;

	if (!scan_u64(&t, &sec) || !scan_take(&t, "."))
		return false;
	const size_t left = t.n;

	if (!scan_u64(&t, &part) || left - t.n > NS_DIGITS)
		return false;
	for (size_t n = left - t.n; n < NS_DIGITS; n++)
		part *= 10;
	return scan_take(&t, ":") &&
	       !__builtin_mul_overflow(sec, 1000000000u, time) &&
	       !__builtin_add_overflow(*time, part, time) &&
	       *time <= INT64_MAX && ptext_moves(s, t);
}

/* Skips what -F tod prints: "2026-11-25 22:59:21.267447" in the recorder's time
 * zone, or "disabled". */
static void ptext_skip_day(struct scan *s)
{
	static const char form[] = "dddd-dd-dd dd:dd:dd.";
	size_t i = 0;

	if (scan_take(s, "disabled ") || s->n < sizeof(form)) {
		scan_blanks(s);
		return;
	}
	while (form[i] &&
	       (form[i] == 'd' ? scan_is_digit(s->p[i]) : form[i] == s->p[i]))
		i++;
	if (!form[i])
		scan_skip(s, i + scan_token(scan_tail(*s, i)).n);
	scan_blanks(s);
}

/* Returns whether a number has the columns of a period: perf pads it to 10, but
 * a thread to 5 or 7, and an address to 16. from: where its field begins, or up
 * to two columns before that. */
static bool ptext_is_wide(const char *from, struct scan number)
{
	const size_t digits = scan_token(number).n;
	const ptrdiff_t n = number.p - from + (ptrdiff_t)digits;

	return (n >= PERIOD_WIDTH && n <= PERIOD_WIDTH + 2) ||
	       (digits > PERIOD_WIDTH && number.p == from);
}

/* Takes a number of hits, if an event follows it, or by its columns. from: as
 * for ptext_is_wide(). */
static void ptext_take_period(struct scan *s, const char *from,
			      struct ptext_head *h)
{
	struct scan t = *s;

	if (!scan_u64(&t, &h->period) || !ptext_ends(t))
		return;
	scan_blanks(&t);
	const struct scan name = scan_token(t);

	h->has_period = (name.n > 1 && name.p[name.n - 1] == ':') ||
			ptext_is_wide(from, *s);
	if (h->has_period)
		*s = t;
}

/* Takes the first number of a head if its columns are those of a period, and
 * nothing follows it that is in front of one. */
static void ptext_take_only_period(struct scan *s, const char *from,
				   struct ptext_head *h)
{
	struct scan t = *s;
	uint64_t time;
	int32_t cpu;

	if (!scan_u64(&t, &time) || !ptext_is_wide(from, *s))
		return;
	scan_blanks(&t);
	if (!ptext_take_cpu(&t, &cpu) && !ptext_take_time(&t, &time))
		ptext_take_period(s, from, h);
}

/* Returns where the first branch of -F brstack begins, "FROM/TO/P/-/-/3/"; the
 * length of s if there is none. */
static size_t ptext_find_branch(struct scan s)
{
	size_t at = scan_find(s, "/-/-/");

	if (at == s.n)
		return at;
	while (at && !scan_is_blank(s.p[at - 1]))
		at--;
	return at;
}

/* Returns whether a line belongs to the sample before it: -F insn, insnlen and
 * brstack print such lines after the frames. */
static bool ptext_is_more(struct scan s)
{
	scan_blanks(&s);
	return scan_starts(s, "ilen: ") || scan_starts(s, "insn:") ||
	       (s.n && !ptext_find_branch(s));
}

/* Returns whether a line tells nothing: it is empty, a comment, or the source
 * text of -F srccode, "|12     f();". */
static bool ptext_is_idle(struct scan s)
{
	return !s.n || *s.p == '#' || scan_is(s, "\r") ||
	       (scan_take(&s, "|") && s.n && scan_is_digit(*s.p));
}

static bool ptext_take_frame(struct scan s, struct ptext_frame *out)
{
	*out = (struct ptext_frame){ .ip = 0 };
	if (s.n && s.p[s.n - 1] == '\r')
		s.n--;
	scan_blanks(&s);
	const size_t left = s.n;

	/* an instruction of -F brstackinsn has 16 digits and a tab */
	if (!scan_hex(&s, &out->ip) || !ptext_ends(s) ||
	    (left - s.n == 16 && scan_starts(s, "\t")))
		return false;
	scan_blanks(&s);
	scan_trim(&s);
	out->rest = s;
	return true;
}

/* Returns whether a line is of -F brstackinsn: a function, "\tmain+22:", an
 * instruction, "\t0000000000401136\tinsn: 89 07", or a remark. */
static bool ptext_is_code(struct scan s)
{
	return scan_starts(s, "\t... ") ||
	       scan_starts(s, "\tmismatch of LBR") ||
	       (s.n && s.p[s.n - 1] == ':') || scan_find(s, ":\t") < s.n ||
	       (s.n > 17 && s.p[17] == '\t');
}

/* Returns whether a name ends in a CPU or a time: then the number after it is a
 * period. */
static bool ptext_ends_in_moment(struct scan s)
{
	uint64_t time;
	int32_t cpu;
	size_t n = s.n;

	while (n && !scan_is_blank(s.p[n - 1]))
		n--;
	s = scan_tail(s, n);
	return ptext_take_cpu(&s, &cpu) || ptext_take_time(&s, &time);
}

/* Returns where the field after a thread begins. perf pads the second number of
 * "12/34" to 5 or 7 columns. */
static const char *ptext_after_thread(struct scan thread)
{
	const size_t at = scan_find_char(thread, '/');
	const size_t id = thread.n - at - (at < thread.n);

	return thread.p + thread.n + 1 + (at < thread.n && id < 5 ? 5 - id : 0);
}

/* Takes a head from the thread on. from: where the fields after the thread's
 * name begin. Returns false if the text does not fit. */
static bool ptext_take_rest(struct scan s, const char *from,
			    enum ptext_surety sure, struct ptext_head *h)
{
	const struct scan comm = h->comm;

	*h = (struct ptext_head){
		.comm = comm, .pid = -1, .tid = -1, .cpu = -1
	};
	const char *begin = s.p;

	ptext_take_only_period(&s, from, h);
	const bool only = h->has_period;
	const bool thread = !only && ptext_take_thread(&s, h);
	const char *after = s.p;

	if (!thread && sure <= PTEXT_THREAD)
		return false;
	if (thread)
		from = ptext_after_thread(
			scan_of(begin, (size_t)(s.p - begin)));
	scan_blanks(&s);
	bool moment = ptext_take_cpu(&s, &h->cpu);

	if (moment)
		from = s.p + 1;
	scan_blanks(&s);
	if (thread || moment)
		ptext_skip_day(&s);
	h->timed = ptext_take_time(&s, &h->time);
	if (h->timed)
		from = s.p + 1;
	if (!h->timed && (thread || moment)) {
		/* -F misc: the mode, "U" or "Sp" */
		struct scan t = s;
		size_t n = 0;

		while (n < s.n && scan_is_word(s.p[n]) &&
		       !scan_is_digit(s.p[n]))
			n++;
		scan_skip(&t, n);
		if (n && n <= 3 && scan_blanks(&t)) {
			ptext_skip_day(&t);
			h->timed = ptext_take_time(&t, &h->time);
			if (!h->timed)
				ptext_take_period(&t, t.p, h);
			if (h->timed || h->has_period)
				s = t;
		}
	}
	moment |= h->timed;
	scan_blanks(&s);
	if (!h->has_period)
		ptext_take_period(&s, from, h);
	h->event = scan_token(s);
	if (h->event.n > 1 && h->event.p[h->event.n - 1] == ':')
		scan_skip(&s, h->event.n--);
	else
		h->event.n = 0;
	scan_blanks(&s);
	scan_trim(&s);
	h->text = s;
	/* what -F brstack prints after the address is not part of its place */
	const size_t branch = ptext_find_branch(s);

	h->text.n = branch;
	scan_trim(&h->text);
	struct ptext_frame f;

	if (!h->event.n && s.n && branch && !ptext_take_frame(s, &f))
		return false;
	/* addresses have 16 columns, and no other number has so many */
	const bool address = !h->event.n && branch &&
			     s.p + scan_token(s).n >= after + ADDRESS_WIDTH;

	return sure == PTEXT_WHOLE    ? moment
	       : sure == PTEXT_THREAD ? moment || ((h->event.n || address) &&
						   !ptext_ends_in_moment(comm))
	       : sure == PTEXT_MOMENT
		       ? moment || (only && h->event.n)
		       : h->event.n || ((thread || h->has_period) && !s.n);
}

/* Removes what -F iregs, uregs, insnlen and insn print behind an address:
 * " ABI:2    AX:0x0", " ilen: 2 insn: 89 07". */
static void ptext_cut_more(struct ptext_head *h)
{
	static const char *const more[] = { " ABI:", " ilen: ", " insn: " };

	for (size_t i = 0; i < ARRAY_SIZE(more); i++) {
		const size_t at = scan_find(h->text, more[i]);

		/* else it may be a word of a tracepoint's text */
		if (at && (h->text.p[at - 1] == ')' || !i))
			h->text.n = at;
	}
	scan_trim(&h->text);
}

/* Takes the head of a sample, or that of a deferred stack: "comm tid [cpu]
 * time: DEFERRED CALLCHAIN [cookie: 1f00000004]". chain: a frame follows, so
 * that a thread or an event is enough. */
static bool ptext_take_head(struct scan s, bool chain, struct ptext_head *out)
{
	static const char deferred[] = "DEFERRED CALLCHAIN [cookie: ";
	const char *begin = s.p;
	const size_t at = scan_find(s, deferred);
	struct scan cookie = scan_tail(s, at);

	if (scan_take(&cookie, deferred)) {
		s.n = at;
		scan_trim(&s);
		if (!ptext_take_head(s, true, out) || out->event.n ||
		    out->text.n || !scan_hex(&cookie, &out->cookie))
			return false;
		out->deferred = true;
		return true;
	}
	/* a tab begins a frame */
	if (s.n && *s.p == '\t')
		return false;
	if (s.n && s.p[s.n - 1] == '\r')
		s.n--;
	scan_blanks(&s);
	for (int sure = PTEXT_WHOLE; sure < PTEXT_ANY + chain; sure++)
		for (struct scan t = s; t.n && s.n - t.n <= COMM_MOST;
		     scan_blanks(&t)) {
			out->comm = scan_head(s, s.n - t.n);
			scan_trim(&out->comm);
			if (ptext_take_rest(
				    t,
				    out->comm.n ? out->comm.p + out->comm.n + 1
						: begin,
				    (enum ptext_surety)sure, out)) {
				ptext_cut_more(out);
				return true;
			}
			scan_skip(&t, scan_token(t).n);
		}
	return false;
}

/* Takes a record of perf itself, as --show-task-events, --show-mmap-events and
 * the like print it. Sets *lost to the number of records lost; 0: it is not
 * about a loss. Returns false if the line is no such record. */
static bool ptext_take_record(struct scan s, struct ptext_head *out,
			      uint64_t *lost)
{
	/* fast path: few lines have an 'O' */
	const size_t at = scan_find_char(s, 'O') < s.n
				  ? scan_find(s, "PERF_RECORD_")
				  : s.n;
	struct scan head = scan_head(s, at), what = scan_tail(s, at);
	uint64_t n;

	*out = (struct ptext_head){ .pid = -1, .tid = -1, .cpu = -1 };
	*lost = 0;
	scan_trim(&head);
	/* the text of an event may contain this word too */
	if (at == s.n || (head.n && (!ptext_take_head(head, true, out) ||
				     out->event.n || out->text.n)))
		return false;
	if (scan_take(&what, "PERF_RECORD_LOST")) {
		scan_skip(&what, scan_find(what, " lost ") + 6);
		*lost = scan_u64(&what, &n) && n ? n : 1;
	}
	return true;
}

/* Takes the last bracket from the end of s, with the brackets inside it:
 * "f(int) (/tmp/x (deleted))". Returns false if there is none. */
static bool ptext_take_bracket(struct scan *s, struct scan *in)
{
	size_t depth = 0;

	for (size_t i = s->n; i-- > 0;) {
		if (s->p[i] == ')')
			depth++;
		else if (s->p[i] == '(' && depth && !--depth) {
			if (!i || s->p[i - 1] != ' ')
				return false;
			*in = scan_head(scan_tail(*s, i + 1), s->n - i - 2);
			s->n = i - 1;
			scan_trim(s);
			return true;
		}
		if (!depth)
			return false;
	}
	return false;
}

/* Takes "+0x12" from the end of s and returns the number; 0 if there is
 * none. */
static uint64_t ptext_take_off(struct scan *s)
{
	size_t at = s->n;
	uint64_t off = 0;

	while (at && s->p[at - 1] != '+')
		at--;
	struct scan t = scan_tail(*s, at);

	if (at < 2 || !scan_starts(t, "0x") || !scan_hex(&t, &off) || t.n)
		return 0;
	s->n = at - 1;
	return off;
}

/* Splits what follows the address into symbol, offset and path. */
static void ptext_take_place(struct ptext_frame *f)
{
	f->symbol = f->rest;
	if (ptext_take_bracket(&f->symbol, &f->path)) {
		f->inlined = scan_is(f->path, "inlined");
		if (f->inlined)
			f->path.n = 0;
		ptext_take_off(&f->path); /* -F dsoff */
		if (scan_is(f->path, "[unknown]"))
			f->path.n = 0;
	}
	f->off = ptext_take_off(&f->symbol);
}

/* Returns whether a path has a text that ends in the name of its file. */
static bool ptext_file_has(struct scan path, const char *text)
{
	const struct scan rest = scan_tail(path, scan_find(path, text));

	return rest.n && scan_find_char(scan_tail(rest, 1), '/') == rest.n - 1;
}

/* Returns whether the file of a frame is the kernel or a module. */
static bool ptext_is_kernel(struct scan path)
{
	static const char others[] =
		"[vdso] [vdso32] [vdsox32] [vvar] [vsyscall] [vectors] "
		"[sigpage] [heap] [stack] [uprobes]";
	size_t n = 1;

	/* "[ext4]", but not "[anon:x]" or other names that no module has */
	while (n < path.n && (scan_is_word(path.p[n]) || path.p[n] == '-'))
		n++;
	if (n > 1 && *path.p == '[' && scan_is(scan_tail(path, n), "]"))
		return !memmem(others, sizeof(others), path.p, path.n);
	/* "/lib/modules/6.1/ext4.ko.xz", but not "/opt/.kodi/pvr.so" */
	return scan_starts(path, "[kernel") ||
	       scan_starts(path, "[guest.kernel") ||
	       scan_starts(path, "bpf_prog_") || scan_take_end(&path, ".ko") ||
	       ptext_file_has(path, ".ko.") ||
	       ptext_file_has(path, "/vmlinux") || scan_is(path, "/proc/kcore");
}

/* Takes "outer;inner 12". Returns false if the line is not of this form. */
static bool ptext_take_folded(struct scan s, struct scan *stack, uint64_t *n)
{
	size_t at;

	if (s.n && s.p[s.n - 1] == '\r')
		s.n--;
	scan_trim(&s);
	for (at = s.n; at && scan_is_digit(s.p[at - 1]);)
		at--;
	struct scan number = scan_tail(s, at);

	if (at < 2 || !scan_is_blank(s.p[at - 1]) || !scan_u64(&number, n) ||
	    number.n)
		return false;
	*stack = scan_head(s, at - 1);
	scan_trim(stack);
	return stack->n > 0 && *n <= INT64_MAX;
}

/* How many lines are looked at before a text is accepted. */
#define LOOK_LINES 200
#define NAME_MOST 4096u
#define KERNEL_HALF ((uint64_t)1 << 63)
/* In handles, which are offsets: the ref is of the thread's name, not of the
 * sample. */
#define HANDLE_COMM ((uint64_t)1 << 63)
/* In handles: the line is about lost records. */
#define HANDLE_LOST ((uint64_t)1 << 62)
#define FRAMES_MOST 65536u
#define LEAST_STEP ((uint64_t)64 << 10)
/* How many samples next() keeps for decode(): order reads 2,048 refs at a time,
 * and by then the text is no longer in the processor's cache. */
#define READY_MOST 4096
/* How many frames of stacks are kept for samples with the same lines: 64 MB. */
#define KEPT_MOST ((size_t)4 << 20)

/* The meaning of frames with this text. */
struct ptext_place {
	const char *rest; /* n bytes in the mapped text */
	size_t n;
	uint32_t outer; /* index + 1 of the place that it is inlined into; or 0
			 */
	bool kernel;	/* the path is the kernel's or a module's */
	const struct place *place; /* NULL: only the address is known */
};

/* A stack with these lines: n of the kept frames, the first kern of which are
 * in the kernel. */
struct ptext_stack {
	const char *text; /* n_text bytes in the mapped text */
	size_t n_text, first, n, kern;
	uint64_t hash;	 /* of the text; 0: the stack is not kept */
	uint64_t cookie; /* of the deferred stack that is its user half; or 0 */
};

/* The sample whose first line this is, as next() parsed it. */
struct ptext_ready {
	const char *line;
	struct ptext_head head;
	uint32_t stack; /* TABLE_NONE: decode() has to find it */
};

struct ptext {
	struct source src;
	struct source_opts opts;
	struct input in;
	bool folded, deltas;
	bool chains;   /* deferred stacks have lines of their own */
	uint64_t sum;  /* sum of the differences of --deltatime */
	uint64_t pos;  /* offset in the text */
	uint64_t last; /* key of the last line */
	/* By LEAST_STEP bytes of the text: the least time from there on; NULL:
	 * times do not go back. */
	uint64_t *least;
	struct near_time near;
	struct event_def *event;
	size_t n_event, cap_event;
	struct table by_name, places, threads, stacks;
	struct ptext_place *place;
	size_t n_place, cap_place;
	uint64_t *comm; /* by thread: hash of its last name */
	size_t n_comm, cap_comm;
	struct ref due[2]; /* refs of a name and of a sample, to return */
	size_t n_due, due_pos;
	uint64_t seq;
	struct ptext_ready ready[READY_MOST]; /* by seq modulo READY_MOST */
	struct ptext_stack *stack;
	size_t n_stack, cap_stack;
	/* The addresses and places of the kept frames, followed by those of the
	 * last decode(), which also have their texts in `rest`. */
	uint64_t *ip;
	const struct place **at;
	struct scan *rest;
	size_t n_kept, cap_ip, cap_rest, cap_at;
	struct arena arena, scratch;
};

static const char ptext_format[] =
	"name: text\n"
	"ID: 0\n"
	"format:\n"
	"\tfield:char text[];\toffset:0;\tsize:0;\tsigned:0;\n"
	"\n"
	"print fmt: \"%s\", REC->text\n";

static struct ptext *ptext_of(struct source *src)
{
	return (struct ptext *)src;
}

/* Returns whether the head ends the sample's first line: a frame follows, or
 * the empty line after a sample without frames, which has only its thread with
 * -F comm,tid,ip. */
static bool ptext_ends_here(struct scan s)
{
	return s.n && (*s.p == '\t' || *s.p == '\n');
}

/* Returns whether a line belongs to the sample before it. */
static bool ptext_goes_on(struct scan line)
{
	struct ptext_head h;
	uint64_t lost;

	return line.n &&
	       (*line.p == '\t' || ptext_is_more(line) ||
		(*line.p == ' ' && !ptext_take_head(line, false, &h) &&
		 !ptext_take_record(line, &h, &lost)));
}

/* Returns how sure it is, by the first lines, that a text has samples or folded
 * stacks; 0 if more lines are something else, or all have two numbers, as in a
 * comparison. Skips a last line without a line feed. */
static int ptext_recognise(struct scan s, bool folded)
{
	unsigned int is = 0, other = 0, frames = 0, twice = 0;
	bool joined = false, within = false;
	struct ptext_frame f;
	struct ptext_head h;
	struct scan stack;
	uint64_t n;

	for (int i = 0; i < LOOK_LINES;) {
		const size_t end = scan_find_char(s, '\n');

		if (end == s.n)
			break;
		const struct scan line = scan_line(&s);

		if (memchr(line.p, 0, line.n))
			return 0;
		if (ptext_is_idle(line))
			continue;
		i++;
		/* a frame, its source line, or another line of the sample */
		if (within && ptext_goes_on(line)) {
			const bool tab = *line.p == '\t';
			const bool frame = tab && ptext_take_frame(line, &f);

			frames += frame;
			other += tab && !frame && !ptext_is_more(line) &&
				 !ptext_is_code(line);
			continue;
		}
		if (!folded && ptext_take_record(line, &h, &n)) {
			is++;
			while (s.n && *s.p == '\t') /* its namespaces */
				scan_line(&s);
			continue;
		}
		within = !folded &&
			 ptext_take_head(line, s.n && *s.p == '\t', &h);
		if (folded ? ptext_take_folded(line, &stack, &n) : within) {
			joined |=
				folded && scan_find_char(stack, ';') < stack.n;
			twice += folded && ptext_take_folded(stack, &stack, &n);
			is++;
		} else if (folded || (!ptext_take_frame(line, &f) &&
				      !(ptext_ends_here(s) &&
					ptext_take_head(line, true, &h)))) {
			other++;
		}
	}
	/* without frames it may be a text of ftrace, whose lines can look like
	 * heads */
	if ((folded && !joined) || other > is || twice == is)
		return 0;
	return frames ? 70 : 40;
}

static int ptext_probe(const char *path UNUSED, const void *head, size_t n)
{
	const struct scan s = scan_of(head, n);

	/* the header of a large machine is larger than the bytes that are
	 * looked at */
	return ptext_recognise(s, false)
		       ?: ptext_recognise(s, true)
		       ?: scan_starts(s, "# ========\n# captured on") * 20;
}

/* Returns whether an event is "system:name": the letters of "cycles:P" are
 * modifiers. */
static bool ptext_is_tracepoint(struct scan name)
{
	const struct scan s = scan_tail(name, scan_find_char(name, ':') + 1);

	return any_where(s.n, i, !memchr("ukhGHpPSDIWeb:", s.p[i], 14));
}

SAME_FUNCTION(ptext_event_same, struct ptext, event[id], struct scan,
	      scan_is(*y, x->name));

/* Returns the index of an event, which is added if it is new. chain: the sample
 * has a callchain. */
static uint32_t ptext_event(struct ptext *p, const struct ptext_head *h,
			    bool chain)
{
	const struct scan name = h->event.n ? scan_head(h->event, NAME_MOST)
					    : scan_of("samples", 7);
	const uint64_t hash = hash_bytes(name.p, name.n, 0);
	uint32_t id = table_find(&p->by_name, hash, ptext_event_same, p, &name);

	if (id != TABLE_NONE) {
		p->event[id].has_chain |= chain;
		return id;
	}
	const bool clock = scan_starts(name, "cpu-clock") ||
			   scan_starts(name, "task-clock");
	const bool text = h->text.n && ptext_is_tracepoint(name);

	id = (uint32_t)p->n_event;
	*mem_add(p->event, p->n_event, p->cap_event) = (struct event_def){
		.name = arena_strndup(&p->arena, name.p, name.n),
		.type = text ? 2 : 0, /* PERF_TYPE_TRACEPOINT */
		.config = id,
		.has_chain = chain || p->folded,
		.has_cpu = h->cpu >= 0,
		.has_time = h->timed,
		.how = text ? EVENT_COUNT : EVENT_SAMPLE,
		.unit = !h->has_period ? "samples"
			: clock	       ? "ns"
				       : NULL,
		.format = text ? ptext_format : NULL,
	};
	table_add(&p->by_name, hash, id);
	p->src.events = p->event;
	p->src.n_events = (uint32_t)p->n_event;
	return id;
}

SAME_FUNCTION(ptext_place_same, struct ptext, place[id], struct ptext_place,
	      x->outer == y->outer && x->n == y->n &&
		      !memcmp(x->rest, y->rest, x->n));

/* Returns the index + 1 of the place of frames with this text. */
static uint32_t ptext_place_of(struct ptext *p, struct scan rest,
			       uint32_t outer)
{
	struct ptext_place made = { .rest = rest.p,
				    .n = rest.n,
				    .outer = outer };
	const uint64_t hash = hash_bytes(rest.p, rest.n, outer);
	uint32_t id = table_find(&p->places, hash, ptext_place_same, p, &made);

	if (id != TABLE_NONE)
		return id + 1;
	struct ptext_frame f = { .rest = rest };
	struct place is = { .path = NULL };

	if (p->folded) {
		f.symbol = rest;
		if (rest.n > 4 &&
		    scan_starts(scan_tail(rest, rest.n - 4), "_[")) {
			made.kernel = rest.p[rest.n - 2] == 'k';
			f.symbol.n -= 4;
		}
	} else {
		ptext_take_place(&f);
		made.kernel = ptext_is_kernel(f.path);
	}
	is.off = f.off;
	if (f.symbol.n)
		is.symbol = arena_strndup(&p->arena, f.symbol.p, f.symbol.n);
	if (f.path.n)
		is.path = arena_strndup(&p->arena, f.path.p, f.path.n);
	else if (outer && p->place[outer - 1].place)
		is.path = p->place[outer - 1].place->path;
	/* for a function without a name, only the file is known */
	if (is.symbol && !strcmp(is.symbol, "[unknown]"))
		is.symbol = is.path ? "" : NULL;
	if (is.symbol) {
		struct place *to = arena_take(&p->arena, sizeof(is));

		*to = is;
		made.place = to;
	}
	id = (uint32_t)p->n_place;
	*mem_add(p->place, p->n_place, p->cap_place) = made;
	table_add(&p->places, hash, id);
	return id + 1;
}

/* Stores frame n of a sample. */
static void ptext_push(struct ptext *p, size_t n, uint64_t ip, struct scan rest)
{
	mem_grow(p->ip, p->cap_ip, p->n_kept + n + 1);
	mem_grow(p->rest, p->cap_rest, n + 1);
	p->ip[p->n_kept + n] = ip;
	p->rest[n] = rest;
}

/* Stores the frames of a sample, the lines from s on. Returns their number, and
 * sets *cookie if the last one is a cookie: "1f00000004 (cookie)". */
static size_t ptext_take_frames(struct ptext *p, struct scan s,
				uint64_t *cookie)
{
	const char first = s.n ? *s.p : 0;
	struct ptext_frame f;
	size_t n = 0;

	while (s.n) {
		const struct scan line = scan_line(&s);

		if (!ptext_goes_on(line))
			break;
		/* other lines are the source lines of -F srcline, and the
		 * number of -F phys_addr, behind blanks */
		if (*line.p != first || !ptext_take_frame(line, &f))
			continue;
		if (scan_starts(f.rest, "(cookie)"))
			*cookie = f.ip;
		else if (n < FRAMES_MOST)
			ptext_push(p, n++, f.ip, f.rest);
	}
	return n;
}

/* Stores the address of an event without callchains as a frame, and returns 1;
 * 0 if there is none. It is after the event's text, or alone: the last one of a
 * line, since -F addr, data_src and weight print theirs before it, and
 * phys_addr a number after its file. */
static size_t ptext_take_address(struct ptext *p, struct ptext_head *h)
{
	const bool tracepoint = ptext_is_tracepoint(h->event);
	struct ptext_frame is = { .ip = 0 };
	struct scan text = h->text;
	size_t end = text.n;

	while (end && (scan_is_blank(text.p[end - 1]) ||
		       isxdigit((unsigned char)text.p[end - 1])))
		end--;
	if (end && text.p[end - 1] == ')')
		text.n = end;
	for (struct scan t = text; t.n; scan_blanks(&t)) {
		const struct scan token = scan_token(t);
		struct ptext_frame f;

		if (token.n >= 6 && !scan_starts(token, "0x") &&
		    ptext_take_frame(t, &f) && f.rest.n && *f.rest.p != '|') {
			ptext_take_place(&f);
			if (f.path.n || scan_is(f.symbol, "[unknown]") ||
			    (t.p == text.p && !tracepoint) ||
			    (is.rest.n && token.n >= 12)) {
				is = f;
				h->text.n = (size_t)(t.p - text.p);
			}
		}
		scan_skip(&t, token.n);
	}
	if (is.rest.n)
		ptext_push(p, 0, is.ip, is.rest);
	return is.rest.n > 0;
}

SAME_FUNCTION(ptext_stack_same, struct ptext, stack[id], struct ptext_stack,
	      x->n_text == y->n_text && !memcmp(x->text, y->text, x->n_text));

/* Sets the place of each of n frames. Returns how many of them are in the
 * kernel. */
static size_t ptext_set_places(struct ptext *p, size_t n)
{
	uint32_t outer = 0;
	size_t kern = 0;

	mem_grow(p->ip, p->cap_ip, p->n_kept + n + 1);
	mem_grow(p->at, p->cap_at, p->n_kept + n + 1);
	for (size_t i = n; i-- > 0;) {
		const struct scan rest = p->rest[i];
		const uint64_t *ip = p->ip + p->n_kept + i;
		/* it is inlined into the next frame if that has the same
		 * address */
		const bool inlined =
			!p->folded && rest.n > 9 && outer && *ip == ip[1] &&
			scan_is(scan_tail(rest, rest.n - 9), "(inlined)");

		outer = ptext_place_of(p, rest, inlined ? outer : 0);
		const struct ptext_place *x = &p->place[outer - 1];

		p->at[p->n_kept + i] = x->place;
		kern = x->kernel || *ip & KERNEL_HALF ||
				       (inlined && kern == i + 2)
			       ? kern ? kern : i + 1
			       : 0;
	}
	return kern;
}

/* Returns the number of the stack of a sample, whose `lines` follow its head;
 * p->n_stack if the stack is valid only until the next call. Most samples of a
 * text share lines, and with them the frames. h: as for ptext_take_address();
 * NULL: a stack without frames stays empty. */
static size_t ptext_stack_of(struct ptext *p, struct scan lines,
			     struct ptext_head *h)
{
	struct ptext_stack made = { .text = lines.p,
				    .n_text = lines.n,
				    .first = p->n_kept };
	const uint64_t hash = hash_bytes(lines.p, lines.n, 0);
	const uint32_t id =
		table_find(&p->stacks, hash, ptext_stack_same, p, &made);

	if (id != TABLE_NONE)
		return id;
	made.n = ptext_take_frames(p, lines, &made.cookie);
	const bool keeps = made.n && p->n_kept < KEPT_MOST;

	if (!made.n && !made.cookie && h)
		made.n = ptext_take_address(p, h);
	made.kern = ptext_set_places(p, made.n);
	if (keeps) {
		made.hash = hash;
		table_add(&p->stacks, hash, (uint32_t)p->n_stack);
		p->n_kept += made.n;
	}
	*mem_add(p->stack, p->n_stack, p->cap_stack) = made;
	return keeps ? p->n_stack - 1 : --p->n_stack;
}

static int ptext_decode(struct source *src, const struct ref *ref,
			struct record *rec, struct err *err UNUSED)
{
	struct ptext *p = ptext_of(src);
	const uint64_t off = ref->handle & ~(HANDLE_COMM | HANDLE_LOST);
	struct scan s = scan_of(p->in.data + off, (size_t)(p->in.len - off));
	struct scan lines = scan_head(s, ref->len), stack = { 0 };
	const struct ptext_ready *is = &p->ready[ref->seq % READY_MOST];
	struct ptext_head h = { .pid = -1, .tid = -1, .cpu = -1 };
	uint64_t weight = 1;

	const bool ready = is->line == s.p;
	const struct scan line = ready ? s : scan_line(&s);

	if (ready)
		h = is->head;
	else if (p->folded)
		ptext_take_folded(line, &stack, &weight);
	else if (ref->handle & HANDLE_LOST)
		ptext_take_record(line, &h, &weight);
	else
		ptext_take_head(line, ptext_ends_here(s), &h);
	*rec = (struct record){
		.kind = ref->handle & HANDLE_COMM   ? REC_COMM
			: ref->handle & HANDLE_LOST ? REC_LOST
						    : REC_SAMPLE,
		.time = ref->key,
		.off = off,
		.pid = h.pid,
		.tid = h.tid,
		.cpu = h.cpu,
	};
	if (rec->kind == REC_COMM) {
		arena_release(&p->scratch);
		rec->comm.name = arena_strndup(&p->scratch, h.comm.p, h.comm.n);
		return 0;
	}
	if (rec->kind == REC_LOST) {
		rec->lost.n = weight;
		rec->lost.event = -1;
		return 0;
	}
	struct ptext_stack of = { .first = 0 };

	if (p->folded) {
		size_t kern = 0;

		/* the innermost frame comes first */
		while (stack.n && of.n < FRAMES_MOST) {
			size_t at = stack.n;

			while (at && stack.p[at - 1] != ';')
				at--;
			const struct scan rest = scan_tail(stack, at);

			/* option -d of bcc's tools puts "-" between the frames
			 * of the program and of the kernel */
			if (!kern && of.n && scan_is(rest, "-"))
				kern = of.n;
			else
				ptext_push(p, of.n++, 0, rest);
			stack.n = at ? at - 1 : 0;
		}
		of.kern = ptext_set_places(p, of.n);
		raise_to(of.kern, kern);
	} else if (ready && is->stack != TABLE_NONE) {
		of = p->stack[is->stack];
	} else {
		scan_line(&lines);
		const size_t id = ptext_stack_of(p, lines, &h);

		of = p->stack[id];
	}
	const struct addrs user = { .ip = p->ip + of.first + of.kern,
				    .n = (uint32_t)(of.n - of.kern),
				    .place = p->at + of.first + of.kern,
				    .places = of.hash };

	if (h.deferred) {
		rec->kind = REC_CHAIN;
		rec->chain =
			(struct rec_chain){ .cookie = h.cookie, .user = user };
		return 0;
	}
	struct rec_sample *x = &rec->sample;

	*x = (struct rec_sample){
		.event = ptext_event(p, &h, false),
		.weight = h.has_period ? h.period : weight,
	};
	if (p->event[x->event].format && h.text.n) {
		x->raw = h.text.p;
		x->raw_len = (uint32_t)(h.text.n < UINT16_MAX ? h.text.n
							      : UINT16_MAX);
	}
	x->kern = (struct addrs){ .ip = p->ip + of.first,
				  .n = (uint32_t)of.kern,
				  .place = p->at + of.first,
				  .places = of.hash };
	x->user = user;
	x->defer = x->user.n ? DEFER_DIRECT : DEFER_NONE;
	if (of.cookie && !x->user.n) {
		x->defer = DEFER_COOKIE;
		x->cookie = of.cookie;
		/* else perf has joined all others */
		p->event[x->event].defer |= p->chains;
	}
	return 0;
}

static void ptext_due(struct ptext *p, uint64_t handle, uint64_t key,
		      enum record_class kind, uint64_t len)
{
	p->due[p->n_due++] = (struct ref){
		.key = key,
		.seq = ++p->seq,
		.handle = handle,
		.len = (uint32_t)(len < UINT32_MAX ? len : UINT32_MAX),
		.kind = (uint8_t)kind,
		.untimed = !p->src.info.has_time,
	};
}

/* Adds the refs of a sample at off with head h, which is followed by `lines`,
 * or of a loss. */
static void ptext_add(struct ptext *p, uint64_t off, const struct ptext_head *h,
		      struct scan lines, bool lost)
{
	uint64_t key = p->seq + 2;

	p->chains |= h->deferred;
	if (!lost && !h->deferred) {
		/* an empty line ends a sample of an event with callchains */
		const bool ends =
			p->pos < p->in.len && p->in.data[p->pos] == '\n';
		struct scan first = lines;
		struct ptext_frame f;

		ptext_event(p, h,
			    ends || ptext_take_frame(scan_line(&first), &f));
	}
	if (p->src.info.has_time) {
		if (h->timed && h->time < p->src.floor)
			reader_regress(&p->src, off, h->time, p->src.floor,
				       h->cpu);
		key = h->timed ? h->time : p->last;
		raise_to(key, p->src.floor);
		p->last = key;
	}
	raise_to(p->src.floor, p->least && p->least[p->pos / LEAST_STEP] < key
				       ? p->least[p->pos / LEAST_STEP]
				       : key);
	if (lost) {
		ptext_due(p, off | HANDLE_LOST, key, CLASS_SAMPLE,
			  p->pos - off);
		return;
	}
	/* for a thread without a name perf prints its number */
	struct scan number = h->comm;
	int32_t tid;

	if (h->tid >= 0 && h->comm.n &&
	    !(scan_take(&number, ":") && scan_i32(&number, &tid) && !number.n &&
	      tid == h->tid)) {
		const uint64_t comm = hash_bytes(h->comm.p, h->comm.n, 1);
		const uint32_t i = table_find_or_add(
			&p->threads, hash_u64((uint32_t)h->tid), p->n_comm);

		if (i == p->n_comm)
			*mem_add(p->comm, p->n_comm, p->cap_comm) = 0;
		if (p->comm[i] != comm)
			ptext_due(p, off | HANDLE_COMM, key, CLASS_COMM,
				  h->comm.n);
		p->comm[i] = comm;
	}
	ptext_due(p, off, key, CLASS_SAMPLE, p->pos - off);
	struct ptext_ready *x = &p->ready[p->seq % READY_MOST];

	x->line = p->folded ? NULL : (const char *)p->in.data + off;
	x->head = *h;
	x->stack = TABLE_NONE;
	if (lines.n && p->n_kept < KEPT_MOST) {
		const size_t id = ptext_stack_of(p, lines, NULL);

		if (id < p->n_stack)
			x->stack = (uint32_t)id;
	}
}

/* Takes the line at pos, and the lines that belong to it. */
static void ptext_take_line(struct ptext *p)
{
	const uint64_t off = p->pos;
	struct scan s = scan_of(p->in.data + off, (size_t)(p->in.len - off));
	struct ptext_head h = { .pid = -1, .tid = -1, .cpu = -1 };
	const char *why = NULL;
	struct scan stack;
	uint64_t n, lost = 0;
	bool record = false;

	if (scan_find_char(s, '\n') == s.n) {
		p->pos = p->in.len;
		p->src.info.truncated = true;
		reader_damage_text(&p->src, p->in.path, "cut", off, s.n,
				   "the last line has no end: the text is cut "
				   "off");
		return;
	}
	const struct scan line = scan_line(&s);

	p->pos = p->in.len - s.n;
	if (ptext_is_idle(line))
		return;
	record = !p->folded && ptext_take_record(line, &h, &lost);
	const bool known =
		p->folded ? ptext_take_folded(line, &stack, &n)
			  : record || ptext_take_head(line, ptext_ends_here(s),
						      &h);

	if (p->deltas && h.timed)
		h.time = p->sum += h.time < INT64_MAX - p->sum ? h.time : 0;
	if (!known)
		why = "a line of unknown form";
	else if (!thread_id_can_be(h.tid) || !thread_id_can_be(h.pid) ||
		 h.cpu > CPU_ID_MAX)
		why = "a line of a thread or CPU that cannot be";
	else if (h.timed && near_time_is_far(&p->near, h.time))
		why = "a line with a time that is years from those before it";
	for (struct scan next = s; !p->folded && next.n;) {
		const size_t end = scan_find_char(next, '\n');

		if (end == next.n || !ptext_goes_on(scan_head(next, end)))
			break;
		scan_skip(&next, end + 1);
		p->pos = p->in.len - next.n;
	}
	if (record && !lost)
		return;
	if (why)
		reader_damage_text(&p->src, p->in.path, "line", off,
				   p->pos - off, "%s", why);
	else
		ptext_add(p, off, &h,
			  scan_head(s, (size_t)(p->pos - p->in.len + s.n)),
			  record);
}

static int ptext_next(struct source *src, struct ref *ref,
		      struct err *err UNUSED)
{
	struct ptext *p = ptext_of(src);

	while (p->due_pos == p->n_due) {
		p->due_pos = p->n_due = 0;
		if (p->pos == p->in.len) {
			src->floor = UINT64_MAX;
			return 0;
		}
		ptext_take_line(p);
		src->pos = p->pos;
	}
	*ref = p->due[p->due_pos++];
	return 1;
}

static void ptext_close(struct source *src)
{
	struct ptext *p = ptext_of(src);

	input_close(&p->in);
	table_release(&p->by_name);
	table_release(&p->places);
	table_release(&p->threads);
	table_release(&p->stacks);
	arena_release(&p->arena);
	arena_release(&p->scratch);
	free_all(p->least, p->event, p->place, p->comm, p->stack, p->ip,
		 p->rest, p->at, src->path, p);
}

/* Takes what 'perf script --header' prints first, and finds out whether there
 * are times. */
static void ptext_take_info(struct ptext *p, struct scan s)
{
	struct source_info *info = &p->src.info;
	const struct {
		const char *key;
		const char **value;
	} keys[] = {
		{ "# hostname : ", &info->host },
		{ "# os release : ", &info->release },
		{ "# perf version : ", &info->version },
		{ "# arch : ", &info->arch },
		{ "# cpudesc : ", &info->cpudesc },
		{ "# cmdline : ", &info->cmdline },
	};
	struct ptext_head h;
	uint64_t lost;
	int n = 0;

	/* the first sample may follow a message of perf, or half a sample */
	while (s.n && n < LOOK_LINES && !info->has_time) {
		struct scan line = scan_line(&s);

		if (!line.n || *line.p == '\t' ||
		    ptext_take_record(line, &h, &lost))
			continue;
		if (*line.p != '#') {
			info->has_time =
				!p->folded &&
				ptext_take_head(line, ptext_ends_here(s), &h) &&
				h.timed;
			n++;
			continue;
		}
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
			if (scan_take(&line, keys[i].key))
				*keys[i].value = arena_strndup(&p->arena,
							       line.p, line.n);
		if (scan_take(&line, "# nrcpus online : "))
			scan_i32(&line, &info->cpus_online);
	}
}

/* Returns whether times are those of --deltatime: the first is 0, and each is
 * the time since the previous one, so that times go back. */
static bool ptext_has_deltas(struct scan s)
{
	struct ptext_head h;
	uint64_t last = 0;
	int n = 0;

	while (s.n && n < LOOK_LINES) {
		const struct scan line = scan_line(&s);

		if (!line.n || *line.p == '#' || *line.p == '\t' ||
		    !ptext_take_head(line, false, &h) || !h.timed)
			continue;
		if (n ? h.time < last : h.time != 0)
			return n > 0;
		n++;
		last = h.time;
	}
	return false;
}

/* Finds the first time in a line. Returns false if there is none. */
static bool ptext_first_time(struct scan line, uint64_t *time)
{
	for (size_t at = 0; at < line.n; at++) {
		at += scan_find_char(scan_tail(line, at), ':');
		size_t from = at;

		while (from && (scan_is_digit(line.p[from - 1]) ||
				line.p[from - 1] == '.'))
			from--;
		struct scan t = scan_tail(line, from);

		if ((!from || scan_is_blank(line.p[from - 1])) &&
		    ptext_take_time(&t, time))
			return true;
	}
	return false;
}

/* Sets p->least, if times go back in s, the end of the text: perf 7 prints a
 * sample for whose user stack it waits after later ones. */
static void ptext_find_least(struct ptext *p, struct scan s)
{
	const size_t n = (size_t)(p->in.len / LEAST_STEP) + 1;
	uint64_t time, last = 0;
	bool back = false;

	p->least = mem_new(n, sizeof(*p->least));
	memset(p->least, 0xff, n * sizeof(*p->least));
	while (s.n) {
		const uint64_t at = (p->in.len - s.n) / LEAST_STEP;
		const struct scan line = scan_line(&s);

		if (!line.n || *line.p == '\t' || ptext_is_idle(line) ||
		    !ptext_first_time(line, &time))
			continue;
		lower_to(p->least[at], time);
		back |= time < last;
		last = time;
	}
	for (size_t i = n - 1; i-- > 0;)
		lower_to(p->least[i], p->least[i + 1]);
	if (back)
		return;
	free(p->least);
	p->least = NULL;
}

static struct source *ptext_open(const char *path, const struct source_opts *o,
				 struct ledger *lg, struct err *err)
{
	struct ptext *p = mem_new(1, sizeof(*p));

	reader_init(&p->src, &ptext_ops, path, o, lg, &p->opts);
	p->in.fd = -1;
	p->src.info.exact = true;
	if (input_open(&p->in, path, p->opts.temp_dir, err) ||
	    input_spool(&p->in, p->opts.temp_dir, err)) {
		ptext_close(&p->src);
		return NULL;
	}
	p->src.size = p->in.len;
	struct scan all = scan_of(p->in.data, (size_t)p->in.len);

	if (scan_take(&all, TEXT_MARK))
		p->pos = p->in.len - all.n;
	p->folded = ptext_recognise(all, true);
	if (!p->folded && !ptext_recognise(all, false)) {
		formats_refuse(path, p->in.data,
			       all.n < INPUT_HEAD ? all.n : INPUT_HEAD, err);
		ptext_close(&p->src);
		return NULL;
	}
	ptext_take_info(p, all);
	if (p->src.info.has_time && ptext_has_deltas(all)) {
		p->deltas = true;
		reader_note(&p->src, "deltas",
			    "times are the sums of those that --deltatime "
			    "printed, from 0 on");
	} else if (p->src.info.has_time) {
		ptext_find_least(p, all);
	}
	if (p->in.cut)
		reader_damage_packed(&p->src, p->in.path);
	reader_note(&p->src, "text",
		    p->folded
			    ? "folded stacks: samples without times, threads, "
			      "files and losses, which no line of them tells"
			    : "a text of perf script: names are those of the "
			      "text; what was lost, and what was mapped "
			      "where, no line of it tells");
	return &p->src;
}

static int ptext_scan(struct source *src UNUSED, struct err *err UNUSED)
{
	return 0;
}

static int ptext_print(struct source *src UNUSED, const struct rec_sample *s,
		       char *buf, size_t size)
{
	snprintf(buf, size, "%.*s", (int)s->raw_len, (const char *)s->raw);
	return 0;
}

const struct source_ops ptext_ops = {
	.name = "ptext",
	.summary = "texts of perf script, and folded stacks",
	.probe = ptext_probe,
	.open = ptext_open,
	.scan = ptext_scan,
	.next = ptext_next,
	.decode = ptext_decode,
	.print = ptext_print,
	.close = ptext_close,
};
