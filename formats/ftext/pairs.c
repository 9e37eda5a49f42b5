/* pairs.c - finds the fields in the text of an event: keys and values, the
 * output of trace-cmd's plugins, and lines without keys. */
#include "formats/ftext/ftext.h"

#include <string.h>

/* Returns true for a pointer as %p prints it: with all its zeros and without
 * 0x. Its digits are hexadecimal, even if none of them is a letter. */
static bool ftext_is_pointer(struct scan s)
{
	return (s.n == 16 || s.n == 8) && s.p[0] == '0' &&
	       scan_is_digit(s.p[1]);
}

/* Returns true if all of s is a number: decimal or 0x... */
static bool ftext_is_number(struct scan s, int64_t *out)
{
	bool minus = scan_take(&s, "-");
	uint64_t n;

	if (ftext_is_pointer(s))
		return false;
	if (!(scan_starts(s, "0x") ? scan_hex(&s, &n) : scan_u64(&s, &n)) ||
	    s.n)
		return false;
	*out = (int64_t)(minus ? 0 - n : n);
	return true;
}

/* Returns whether task_newtask or signal_deliver prints the number after this
 * key, which is hexadecimal, without 0x. */
static bool ftext_is_hex_key(struct scan key)
{
	return scan_is(key, "clone_flags") || scan_is(key, "sa_flags") ||
	       scan_is(key, "sa_handler");
}

static void ftext_pair_add(struct ftext_pairs *out, struct scan key,
			   struct scan value)
{
	if (out->n == FTEXT_PAIRS)
		return;
	struct ftext_pair *p = &out->pair[out->n++];
	uint64_t hex;

	*p = (struct ftext_pair){ .key = key, .value = value };
	p->is_num = ftext_is_number(value, &p->num);
	if (ftext_is_hex_key(key) && scan_hex(&value, &hex) && !value.n) {
		p->is_num = true;
		p->num = (int64_t)hex;
	}
}

static void ftext_pair_add_key(struct ftext_pairs *out, const char *key,
			       struct scan value)
{
	ftext_pair_add(out, scan_of(key, strlen(key)), value);
}

/* Returns true if s starts with a key and '='. */
static bool ftext_key_at(struct scan s, struct scan *key)
{
	size_t n = 0;

	while (n < s.n && scan_is_word(s.p[n]))
		n++;
	if (!n || n >= s.n || s.p[n] != '=' || scan_is_digit(s.p[0]))
		return false;
	*key = scan_head(s, n);
	return true;
}

/* Returns true if a value may end here: at the end of the text, before a key,
 * or before a bracket. */
static bool ftext_value_may_end(struct scan behind)
{
	struct scan key;

	scan_blanks(&behind);
	return !behind.n || ftext_key_at(behind, &key) ||
	       memchr("[(){}", behind.p[0], 5) || scan_starts(behind, "==>");
}

/* Returns where the name of a task ends: before the key that the kernel prints
 * next, even if the name contains one like it; s.n if that is unknown. */
static size_t ftext_comm_end(struct scan key, struct scan s)
{
	static const char *const next[][2] = {
		{ "comm", " pid=" },	       { "prev_comm", " prev_pid=" },
		{ "next_comm", " next_pid=" }, { "child_comm", " child_pid=" },
		{ "oldcomm", " newcomm=" },    { "newcomm", " oom_score_adj=" },
	};
	size_t end = s.n, k = 0;

	while (k < ARRAY_SIZE(next) && !scan_is(key, next[k][0]))
		k++;
	for (size_t i = 0; k < ARRAY_SIZE(next) && i < s.n && i <= COMM_LEN;
	     i++)
		if (scan_starts(scan_tail(s, i), next[k][1]))
			end = i;
	return end;
}

/* Takes the value of a key from *s and returns it. */
static struct scan ftext_value(struct scan key, struct scan s)
{
	struct scan v = scan_token(s);
	size_t n = 1;

	/* names of tasks and files may contain blanks: up to the next key or
	 * arrow */
	if (scan_take_end(&(struct scan){ key.p, key.n }, "comm") ||
	    scan_is(key, "filename")) {
		const size_t end = ftext_comm_end(key, s);
		struct scan next;

		if (end < s.n)
			return scan_head(s, end);
		for (size_t i = 0; i < s.n; i++)
			if (s.p[i] == ' ' &&
			    (ftext_key_at(scan_tail(s, i + 1), &next) ||
			     scan_starts(scan_tail(s, i), " ==> ")))
				return scan_head(s, i);
		return s;
	}
	/* option fields: a byte is printed as 'c'(99), or (7) */
	struct scan byte = s;

	if (s.n > 4 && s.p[0] == '\'' && s.p[2] == '\'')
		scan_skip(&byte, 3);
	if (scan_take(&byte, "(")) {
		const struct scan digits =
			scan_head(byte, scan_find_char(byte, ')'));
		int64_t num;

		if (digits.n < byte.n && ftext_is_number(digits, &num))
			return digits;
	}
	if (scan_starts(s, "ARRAY[")) /* trace-cmd report -R */
		return scan_head(s, scan_find_char(s, ']') + 1);
	if (s.n && s.p[0] == '"') {
		n += scan_find_char(scan_tail(s, 1), '"') + 1;
		return scan_head(s, n);
	}
	/* remove a closing bracket that the value does not open; "(null)" keeps
	 * its bracket */
	while (v.n && memchr(",;)]", v.p[v.n - 1], 4)) {
		const uint8_t last = v.p[v.n - 1];
		int open = 0;

		for (size_t i = 0; i < v.n; i++)
			open += (v.p[i] == '(' && last == ')') ||
				(v.p[i] == '[' && last == ']');
		for (size_t i = 0; i < v.n; i++)
			open -= v.p[i] == last;
		if (open >= 0 && (last == ')' || last == ']'))
			break;
		v.n--;
	}
	return v;
}

/* Takes "NR 5 (1, 2, 3, 4, 5, 6)" and "NR 5 = -2". */
static bool ftext_take_syscall(struct scan s, struct ftext_pairs *out)
{
	if (!scan_take(&s, "NR "))
		return false;
	struct scan id = scan_token(s);
	ftext_pair_add_key(out, "id", id);
	scan_skip(&s, id.n);
	if (scan_take(&s, " = "))
		ftext_pair_add_key(out, "ret", s);
	else if (scan_take(&s, " (") && s.n && s.p[s.n - 1] == ')')
		ftext_pair_add_key(out, "args", scan_head(s, s.n - 1));
	return true;
}

/* Takes "comm:pid [prio]" at the end of s, as plugins of trace-cmd print tasks.
 */
static bool ftext_plugin_task(struct scan s, const char *comm, const char *pid,
			      const char *prio, struct ftext_pairs *out)
{
	size_t open = s.n;
	size_t colon;

	if (!s.n || s.p[s.n - 1] != ']')
		return false;
	while (open && s.p[open - 1] != '[')
		open--;
	struct scan task = scan_head(s, open ? open - 1 : 0);

	scan_trim(&task);
	for (colon = task.n; colon && task.p[colon - 1] != ':';)
		colon--;
	if (!open || !colon)
		return false;
	ftext_pair_add_key(out, comm, scan_head(task, colon - 1));
	ftext_pair_add_key(out, pid, scan_tail(task, colon));
	ftext_pair_add_key(out, prio, scan_tail(scan_head(s, s.n - 1), open));
	return true;
}

/* Takes "comm:pid [prio] S ==> comm:pid [prio]". The plugin names the bits of
 * prev_state by the letters SDTtZXxW (write_state() of sched_switch,
 * libtraceevent 1.7.1); the bit of W is I since Linux 4.14, and is never alone
 * in an older one. */
static bool ftext_plugin_switch(struct scan s, struct ftext_pairs *out)
{
	size_t at = scan_find(s, " ==> ");

	if (scan_starts(s, "prev_comm="))
		return false;
	/* a name may contain an arrow too */
	for (; at < s.n; at += 1 + scan_find(scan_tail(s, at + 1), " ==> ")) {
		struct scan prev = scan_head(s, at);
		size_t n = prev.n;

		while (n && prev.p[n - 1] != ' ')
			n--;
		struct scan state = scan_tail(prev, n);

		prev.n = n;
		scan_trim(&prev);
		if (!ftext_plugin_task(prev, "prev_comm", "prev_pid",
				       "prev_prio", out))
			continue;
		ftext_pair_add_key(out, "prev_state",
				   scan_is(state, "W") ? scan_of("I", 1)
						       : state);
		return ftext_plugin_task(scan_tail(s, at + 5), "next_comm",
					 "next_pid", "next_prio", out);
	}
	return false;
}

/* Takes "comm:pid [prio] success=1 CPU:003"; kernels since 5.14 have no
 * success. */
static bool ftext_plugin_wakeup(struct scan s, struct ftext_pairs *out)
{
	size_t at = scan_find(s, " CPU:");
	struct scan task = scan_head(s, at);
	const bool woke = scan_take_end(&task, " success=1");
	const bool slept = !woke && scan_take_end(&task, " success=0");

	if (at == s.n || scan_starts(s, "comm="))
		return false;
	if (!ftext_plugin_task(task, "comm", "pid", "prio", out))
		return false;
	if (woke || slept)
		ftext_pair_add_key(out, "success",
				   scan_of(woke ? "1" : "0", 1));
	ftext_pair_add_key(out, "target_cpu", scan_tail(s, at + 5));
	return true;
}

/* Takes the fields of a shape, and moves *s past them. Returns false if the
 * text does not fit. */
static bool ftext_take_shape(const char *shape, struct scan *s,
			     struct ftext_pairs *out)
{
	while (*shape) {
		size_t key = 0, n = 0;

		if (*shape != '%') {
			if (!s->n || s->p[0] != *shape++)
				return false;
			scan_skip(s, 1);
			continue;
		}
		shape++;
		while (scan_is_word(shape[key]))
			key++;
		while (n < s->n &&
		       (shape[key] ? s->p[n] != shape[key]
				   : !scan_is_blank(s->p[n]) && s->p[n] != ':'))
			n++;
		ftext_pair_add(out, scan_of(shape, key), scan_head(*s, n));
		scan_skip(s, n);
		shape += key;
	}
	return true;
}

static void ftext_pair_add_number(struct ftext_pairs *out, const char *key,
				  int64_t n)
{
	ftext_pair_add_key(out, key, scan_of("", 0));
	out->pair[out->n - 1].is_num = true;
	out->pair[out->n - 1].num = n;
}

/* Takes the text of a call of function_graph. Adds all fields, whether the call
 * has them or not, as the first text of an event determines its fields. */
static bool ftext_take_call(struct scan s, struct ftext_pairs *out)
{
	struct line_call c;

	if (!line_graph_call(s, &c))
		return false;
	ftext_pair_add_key(out, "func_name", c.name);
	ftext_pair_add_number(out, "depth", c.depth);
	ftext_pair_add_number(out, "took_ns", c.ns);
	ftext_pair_add_number(out, "leaf", c.leaf);
	ftext_pair_add_number(out, "retval", c.ret);
	out->pair[out->n - 1].absent = !c.has_ret;
	return true;
}

/* Takes "FUNCTION <-CALLER"; arguments may follow the function. */
static bool ftext_take_function(struct scan s, struct ftext_pairs *out)
{
	size_t at = scan_find(s, "<-");
	struct scan caller = scan_tail(s, at + 2), name = scan_head(s, at);

	scan_take(&caller, "-");
	scan_blanks(&caller);
	scan_blanks(&name);
	name = scan_head(name, scan_find_char(name, '('));
	scan_trim(&name);
	if (at == s.n || !name.n)
		return false;
	ftext_pair_add_key(out, "ip_name", name);
	ftext_pair_add_key(out, "parent_ip_name", scan_token(caller));
	return true;
}

void ftext_pairs_parse(enum event_role role, const char *shape,
		       struct scan text, struct ftext_pairs *out)
{
	struct scan behind = text;
	bool done = false;

	out->n = 0;
	if (role == ROLE_SWITCH)
		done = ftext_plugin_switch(text, out);
	else if (role == ROLE_WAKEUP || role == ROLE_WAKEUP_NEW ||
		 role == ROLE_NAMED)
		done = ftext_plugin_wakeup(text, out);
	else if (role == ROLE_CALL)
		done = ftext_take_call(text, out);
	else if (role == ROLE_FUNCTION)
		done = ftext_take_function(text, out);
	else if (scan_starts(text, "NR "))
		done = ftext_take_syscall(text, out);
	if (done)
		return;
	out->n = 0;
	if (shape && ftext_take_shape(shape, &behind, out))
		text = behind;
	else
		out->n = 0;
	struct scan s = text;
	struct scan key;
	char before = ' ';

	while (s.n) {
		bool may = scan_is_blank(before) || memchr("([{,", before, 4);
		int64_t num;

		if (!may || !ftext_key_at(s, &key)) {
			before = s.p[0];
			scan_skip(&s, 1);
			continue;
		}
		scan_skip(&s, key.n + 1);
		struct scan v = ftext_value(key, s);

		scan_skip(&s, v.n);
		before = '=';
		if (ftext_value_may_end(s) || ftext_is_number(v, &num) ||
		    (s.n && s.p[0] == ','))
			ftext_pair_add(out, key, v);
	}
}

const struct ftext_pair *ftext_pair_find(const struct ftext_pairs *p,
					 const char *key)
{
	for (size_t i = 0; i < p->n; i++)
		if (scan_is(p->pair[i].key, key))
			return &p->pair[i];
	return NULL;
}
