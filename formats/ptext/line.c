/* line.c - takes the lines of 'perf script' and of folded stacks apart.
 *
 * perf 3.x to 7.x print the fields of a sample in one order, of which each may
 * be left out by -F (tools/perf/builtin-script.c, print_sample_start()). The
 * name of the thread comes first and may have blanks and digits: it ends where
 * all that follows has that form, and what has a thread, a CPU or a time is
 * preferred to what has none. */
#include "formats/ptext/line.h"

#define NS_DIGITS 9
#define ADDRESS_WIDTH 17

/* How much of a head must be there. */
enum ptext_surety {
	PTEXT_THREAD, /* a thread, and something after it */
	PTEXT_MOMENT, /* a CPU or a time */
	PTEXT_ANY,    /* an event, or a thread alone */
};

static bool ptext_ends(struct scan s)
{
	return !s.n || scan_is_blank(*s.p);
}

/* Moves *s to t, if what was taken ends there. */
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

/* "12", or "12/34" */
static bool ptext_take_thread(struct scan *s, struct ptext_head *h)
{
	struct scan t = *s;

	if (!ptext_take_id(&t, &h->tid))
		return false;
	if (scan_take(&t, "/")) {
		h->pid = h->tid;
		if (!ptext_take_id(&t, &h->tid))
			return false;
	}
	return ptext_moves(s, t);
}

static bool ptext_take_cpu(struct scan *s, int32_t *cpu)
{
	struct scan t = *s;

	return scan_take(&t, "[") && scan_i32(&t, cpu) && scan_take(&t, "]") &&
	       ptext_moves(s, t);
}

/* "12.345678:", with up to 9 digits of a second */
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

/* -F tod: "2026-11-25 22:59:21.267447" of the recorder's time zone, or
 * "disabled". */
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

/* A number of hits, if the event follows. */
static void ptext_take_period(struct scan *s, struct ptext_head *h)
{
	struct scan t = *s;

	if (!scan_u64(&t, &h->period) || !scan_blanks(&t))
		return;
	const struct scan name = scan_token(t);

	h->has_period = name.n > 1 && name.p[name.n - 1] == ':';
	if (h->has_period)
		*s = t;
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

bool ptext_is_more(struct scan s)
{
	scan_blanks(&s);
	return scan_starts(s, "ilen: ") || scan_starts(s, "insn:") ||
	       (s.n && !ptext_find_branch(s));
}

/* The head from the thread on. */
static bool ptext_take_rest(struct scan s, enum ptext_surety sure,
			    struct ptext_head *h)
{
	const struct scan comm = h->comm;

	*h = (struct ptext_head){
		.comm = comm, .pid = -1, .tid = -1, .cpu = -1
	};
	const bool thread = ptext_take_thread(&s, h);
	const char *after = s.p;

	if (!thread && sure == PTEXT_THREAD)
		return false;
	scan_blanks(&s);
	bool moment = ptext_take_cpu(&s, &h->cpu);

	scan_blanks(&s);
	if (thread || moment)
		ptext_skip_day(&s);
	h->timed = ptext_take_time(&s, &h->time);
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
				ptext_take_period(&t, h);
			if (h->timed || h->has_period)
				s = t;
		}
	}
	moment |= h->timed;
	scan_blanks(&s);
	if (!h->has_period)
		ptext_take_period(&s, h);
	h->event = scan_token(s);
	if (h->event.n > 1 && h->event.p[h->event.n - 1] == ':')
		scan_skip(&s, h->event.n--);
	else
		h->event.n = 0;
	scan_blanks(&s);
	scan_trim(&s);
	h->text = s;
	/* -F brstack, after the address, is no part of its place */
	const size_t branch = ptext_find_branch(s);

	h->text.n = branch;
	scan_trim(&h->text);
	struct ptext_frame f;

	if (!h->event.n && s.n && branch && !ptext_take_frame(s, &f))
		return false;
	/* addresses have 16 columns, and are of no other number */
	const bool address = !h->event.n && branch &&
			     s.p + scan_token(s).n >= after + ADDRESS_WIDTH;

	return sure == PTEXT_THREAD
		       ? thread && (moment || h->event.n || address)
	       : sure == PTEXT_MOMENT ? moment
				      : h->event.n || (thread && !s.n);
}

bool ptext_take_head(struct scan s, bool chain, struct ptext_head *out)
{
	if (s.n && s.p[s.n - 1] == '\r')
		s.n--;
	scan_blanks(&s);
	for (int sure = PTEXT_THREAD; sure < PTEXT_ANY + chain; sure++)
		for (struct scan t = s; t.n; scan_blanks(&t)) {
			out->comm = scan_head(s, s.n - t.n);
			scan_trim(&out->comm);
			if (ptext_take_rest(t, (enum ptext_surety)sure, out))
				return true;
			scan_skip(&t, scan_token(t).n);
		}
	return false;
}

bool ptext_take_record(struct scan s, struct ptext_head *out, uint64_t *lost)
{
	/* few lines have its letter O */
	const size_t at = scan_find_char(s, 'O') < s.n
				  ? scan_find(s, "PERF_RECORD_")
				  : s.n;
	struct scan head = scan_head(s, at), what = scan_tail(s, at);
	uint64_t n;

	*out = (struct ptext_head){ .pid = -1, .tid = -1, .cpu = -1 };
	*lost = 0;
	scan_trim(&head);
	/* the text of an event may have the word, too */
	if (at == s.n || (head.n && (!ptext_take_head(head, true, out) ||
				     out->event.n || out->text.n)))
		return false;
	if (scan_take(&what, "PERF_RECORD_LOST")) {
		scan_skip(&what, scan_find(what, " lost ") + 6);
		*lost = scan_u64(&what, &n) && n ? n : 1;
	}
	return true;
}

bool ptext_take_frame(struct scan s, struct ptext_frame *out)
{
	*out = (struct ptext_frame){ .ip = 0 };
	if (s.n && s.p[s.n - 1] == '\r')
		s.n--;
	scan_blanks(&s);
	if (!scan_hex(&s, &out->ip) || !ptext_ends(s))
		return false;
	scan_blanks(&s);
	scan_trim(&s);
	out->said = s;
	return true;
}

/* Moves the end of s in front of the " (" that opens its last bracket, which
 * may have others in it: "f(int) (/tmp/x (deleted))". */
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

/* Moves the end of s in front of "+0x12". */
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

void ptext_take_place(struct ptext_frame *f)
{
	f->symbol = f->said;
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

bool ptext_is_kernel(struct scan path)
{
	static const char others[] =
		"[vdso] [vsyscall] [heap] [stack] [uprobes]";
	size_t n = 1;

	/* "[ext4]", but neither "[anon:x]" nor what no module is called */
	while (n < path.n && (scan_is_word(path.p[n]) || path.p[n] == '-'))
		n++;
	if (n > 1 && *path.p == '[' && scan_is(scan_tail(path, n), "]"))
		return !memmem(others, sizeof(others), path.p, path.n);
	return scan_starts(path, "[kernel") ||
	       scan_starts(path, "[guest.kernel") ||
	       scan_starts(path, "bpf_prog_") ||
	       scan_find(path, ".ko") < path.n ||
	       scan_find(path, "/vmlinux") < path.n ||
	       scan_is(path, "/proc/kcore");
}

bool ptext_take_folded(struct scan s, struct scan *stack, uint64_t *n)
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
