/* event.c - events of a text by name, and their payloads.
 *
 * A text has only names. If the name determines the system in all kernels, the
 * event gets its full name, so that it has the same table as the event of a
 * trace.dat. */

#include "formats/ftext/ftext.h"
#include "formats/tracepoint/tracepoint.h"
#include "stitch/base/mem.h"
#include "stitch/base/words.h"

/* ---- parses the lines of system calls that change mappings or open files that
 * are mapped.
 *
 * The kernel prints "sys_munmap(addr: 7f0000, len: 1000)" and "sys_munmap ->
 * 0x0"; trace-cmd prints the same after the event's name and without the
 * call's; raw_syscalls print "NR 11 (7f0000, 1000, ...)" and "NR 11 = 0".
 * Numbers are hexadecimal, with or without 0x, except the number after NR and
 * the result after it. */

void ftext_call_find(const char *key, struct ftext_event *e)
{
	static const char enter[] = "sys_enter";
	static const char leave[] = "sys_exit";
	const char *rest = key;

	if (!strncmp(key, enter, sizeof(enter) - 1))
		rest += sizeof(enter) - 1;
	else if (!strncmp(key, leave, sizeof(leave) - 1))
		rest += sizeof(leave) - 1;
	else
		return;
	e->call = *rest == '_' ? tp_call_what(rest + 1)
		  : *rest      ? CALL_NONE
			       : CALL_RAW;
	e->leaves = rest == key + sizeof(leave) - 1;
}

/* Takes a path in quotes after a number; empty if there is none. The path may
 * contain quotes. */
static struct scan ftext_call_take_path(struct scan *s)
{
	size_t n = 0;

	if (!scan_take(s, " \""))
		return scan_of("", 0);
	while (n < s->n &&
	       (s->p[n] != '"' ||
		!(n + 1 == s->n || s->p[n + 1] == ',' || s->p[n + 1] == ')')))
		n++;
	struct scan path = scan_head(*s, n);
	scan_skip(s, n + 1);
	return path;
}

/* Takes the arguments. Returns false if one is words instead of a number:
 * openat() has words for its flags, which are not needed. */
static bool ftext_call_take_args(struct scan s, bool named, struct call *out,
				 struct scan *path)
{
	bool ok = true;

	for (size_t i = 0; i < CALL_ARGS && s.n; i++) {
		if (named)
			scan_skip(&s, scan_find(s, ": ") + 2);
		ok &= scan_hex(&s, &out->arg[i]);
		struct scan quoted = ftext_call_take_path(&s);

		if (quoted.n)
			*path = quoted;
		scan_skip(&s, scan_find(s, ", ") + 2);
	}
	return ok || out->what == CALL_OPENAT;
}

bool ftext_call_parse(struct ftext *ft, const struct ftext_event *e,
		      struct scan text, struct call *out)
{
	struct scan path = { NULL, 0 };
	struct scan s = text;
	bool raw = e->call == CALL_RAW;

	*out = (struct call){ .what = e->call, .exit = e->leaves, .nr = -1 };
	if (scan_starts(text, "__syscall_nr=")) /* trace-cmd report -R */
		return false;
	if (raw && (!scan_take(&s, "NR ") || !scan_i32(&s, &out->nr)))
		return false;
	if (e->leaves) {
		if (raw)
			scan_take(&s, " = ");
		else if (scan_starts(s, "sys_"))
			scan_skip(&s, scan_find(s, " -> ") + 4);
		const bool minus = scan_take(&s, "-");
		uint64_t v = 0;

		if (raw ? !scan_u64(&s, &v) : !scan_hex(&s, &v))
			return false;
		out->ret = (int64_t)(minus ? 0 - v : v);
		return true;
	}
	if (raw || scan_starts(s, "sys_"))
		scan_skip(&s, scan_find_char(s, '(') + 1);
	if (!ftext_call_take_args(s, !raw, out, &path))
		return false;
	if (path.n) {
		mem_grow(ft->path, ft->cap_path, path.n + 1);
		memcpy(ft->path, path.p, path.n);
		ft->path[path.n] = '\0';
		out->path = ft->path;
	}
	return true;
}

#define NAME_SIZE 128
/* The length of a dynamic field has 16 bits. */
#define TEXT_MAX 65535u

/* The format of the text as a payload: length and place precede the text, as in
 * the kernel's dynamic fields, so that it is printed like any payload. */
#define TEXT_FORMAT(more)                                                      \
	"name: text\n"                                                         \
	"ID: 0\n"                                                              \
	"format:\n"                                                            \
	"\tfield:__rel_loc char[] text;\toffset:0;\tsize:4;\tsigned:0;\n" more \
	"\n"                                                                   \
	"print fmt: \"%s\", __get_rel_str(text)\n"
static const char text_format[] = TEXT_FORMAT("");
/* Events of the scheduler and of interrupts have two bytes more: whether the
 * line has flags, and the flags. Which thread is woken by which depends on the
 * context. */
static const char flags_format[] = TEXT_FORMAT(
	"\tfield:unsigned char common_flags;\toffset:5;\tsize:1;\tsigned:0;\n");

static const struct {
	const char *system, *names;
	enum event_role role;
} known[] = {
	{ "sched", "sched_switch", ROLE_SWITCH },
	{ "sched", "sched_wakeup", ROLE_WAKEUP },
	{ "sched", "sched_wakeup_new", ROLE_WAKEUP_NEW },
	{ "sched", "sched_process_fork", ROLE_FORK },
	{ "sched", "sched_process_exec", ROLE_EXEC },
	{ "sched", "sched_process_exit", ROLE_EXIT },
	{ "sched",
	  "sched_waking sched_migrate_task sched_process_free "
	  "sched_prepare_exec sched_stat_runtime sched_stat_wait "
	  "sched_stat_sleep sched_stat_iowait sched_stat_blocked "
	  "sched_pi_setprio sched_wait_task",
	  ROLE_NAMED },
	{ "sched", "sched_process_wait", ROLE_PLAIN },
	{ "irq",
	  "irq_handler_entry irq_handler_exit "
	  "softirq_entry softirq_exit softirq_raise "
	  "tasklet_entry tasklet_exit",
	  ROLE_PLAIN },
	{ "lock", "contention_begin contention_end", ROLE_PLAIN },
	{ "block",
	  "block_rq_insert block_rq_issue block_rq_requeue block_rq_merge "
	  "block_rq_complete",
	  ROLE_PLAIN },
	{ "workqueue",
	  "workqueue_queue_work workqueue_activate_work "
	  "workqueue_execute_start workqueue_execute_end",
	  ROLE_PLAIN },
	{ "kvm", "kvm_exit kvm_entry", ROLE_PLAIN },
	{ "dma_fence",
	  "dma_fence_init dma_fence_signaled dma_fence_destroy "
	  "dma_fence_wait_start dma_fence_wait_end",
	  ROLE_PLAIN },
	{ "timer",
	  "timer_start timer_cancel timer_expire_entry timer_expire_exit "
	  "hrtimer_start hrtimer_cancel hrtimer_expire_entry "
	  "hrtimer_expire_exit",
	  ROLE_PLAIN },
	{ "task", "task_newtask", ROLE_NEWTASK },
	{ "task", "task_rename", ROLE_RENAME },
	{ "raw_syscalls", "sys_enter sys_exit", ROLE_PLAIN },
	{ "ftrace", "print", ROLE_MARKER },
	{ "ftrace", "user_unwind_cookie", ROLE_COOKIE },
	{ "inode_cache", "inode_cache", ROLE_INODE },
	{ "ftrace", "function", ROLE_FUNCTION },
	{ "ftrace", "funcgraph_entry funcgraph_exit", ROLE_CALL },
	{ "ftrace",
	  "user_unwind_stack kernel_stack user_stack func_repeats blk "
	  "raw_data mmiotrace_rw mmiotrace_map hwlat timerlat osnoise wakeup "
	  "context_switch funcgraph_irq_entry funcgraph_irq_exit",
	  ROLE_PLAIN },
};

/* The start of the texts whose fields have no keys: see ftext_pairs_parse(). */
static const char *const shapes[][2] = {
	{ "lock:contention_begin", "%lock_addr (" },
	{ "lock:contention_end", "%lock_addr (" },
	{ "block:block_rq_insert",
	  "%dev %rwbs %bytes (%cmd) %sector + %nr_sector " },
	{ "block:block_rq_issue",
	  "%dev %rwbs %bytes (%cmd) %sector + %nr_sector " },
	{ "block:block_rq_merge",
	  "%dev %rwbs %bytes (%cmd) %sector + %nr_sector " },
	{ "block:block_rq_requeue", "%dev %rwbs (%cmd) %sector + %nr_sector " },
	{ "block:block_rq_complete",
	  "%dev %rwbs (%cmd) %sector + %nr_sector " },
	{ "workqueue:workqueue_queue_work", "work struct=%work " },
	{ "workqueue:workqueue_activate_work", "work struct %work" },
	{ "workqueue:workqueue_execute_start",
	  "work struct %work: function %function" },
	{ "workqueue:workqueue_execute_end", "work struct %work" },
	{ "kvm:kvm_exit", "vcpu %vcpu_id reason %exit_reason " },
};

static void ftext_copy_name(char out[NAME_SIZE], const char *prefix,
			    struct scan s)
{
	snprintf(out, NAME_SIZE, "%s%.*s", prefix,
		 (int)(s.n < NAME_SIZE ? s.n : NAME_SIZE), s.p);
}

/* Returns true for "FUNCTION <-CALLER", an entry of the function tracer. */
static bool ftext_is_function(struct scan s)
{
	struct scan caller = scan_tail(s, scan_find(s, " <-"));

	if (!scan_take(&caller, " <-"))
		return false;
	caller = scan_token(caller);
	return caller.n && !any_where(caller.n, i,
				      !scan_is_word(caller.p[i]) &&
					      !memchr(".+/$", caller.p[i], 4));
}

/* Returns true for the sums of a window of osnoise: eight or nine numbers. */
static bool ftext_is_osnoise(struct scan s)
{
	size_t n = 0;

	for (; s.n; n++) {
		struct scan w = scan_token(s);

		for (size_t i = 0; i < w.n; i++)
			if (!scan_is_digit(w.p[i]) && (w.p[i] != '.' || n != 2))
				return false;
		scan_skip(&s, w.n);
		scan_blanks(&s);
	}
	return n == 8 || n == 9;
}

/* Returns true for MAJOR,MINOR ACTION KIND, a request of the tracer blk
 * (blk_log_action() of kernel/trace/blktrace.c). */
static bool ftext_is_blk(struct scan s)
{
	int32_t n;

	scan_blanks(&s);
	if (!scan_i32(&s, &n) || !scan_take(&s, ",") || !scan_i32(&s, &n) ||
	    !scan_blanks(&s))
		return false;
	struct scan action = scan_token(s);

	if (!action.n || action.n > 2)
		return false;
	return !any_where(action.n, i, action.p[i] < 'A' || action.p[i] > 'Z');
}

/* Returns true for an entry of trace_marker_raw: "# ID buf: BYTES". */
static bool ftext_is_raw_data(struct scan s)
{
	uint64_t id;

	return scan_take(&s, "# ") && scan_hex(&s, &id) &&
	       scan_starts(s, " buf:");
}

/* Returns the name in events/ftrace of an entry of a latency tracer, of blk or
 * of trace_marker_raw; NULL: it is of none of these. */
static const char *ftext_tracer_name(struct scan s)
{
	struct scan t = s;

	if (ftext_is_raw_data(s))
		return "raw_data";
	if (scan_starts(s, "#")) {
		if (scan_find(s, " inner/outer(us):") < s.n)
			return "hwlat";
		return scan_find(s, " timer_latency ") < s.n ? "timerlat"
							     : NULL;
	}
	if (ftext_is_osnoise(s))
		return "osnoise";
	if (ftext_is_blk(s))
		return "blk";

	/* PID:PRIO:STATE, a task in lines of the wakeup tracers */
	int32_t n;

	scan_blanks(&t);
	if (!scan_i32(&t, &n) || !scan_take(&t, ":"))
		return NULL;
	scan_blanks(&t);
	if (!scan_i32(&t, &n) || !scan_take(&t, ":") || !t.n)
		return NULL;
	scan_skip(&t, scan_find_char(t, ' '));
	scan_blanks(&t);
	return scan_starts(t, "==> [") ? "context_switch"
	       : scan_starts(t, "+ [") ? "wakeup"
				       : NULL;
}

/* Sets the name of an event that the kernel prints without one. */
static void ftext_name_unnamed(const struct line *l, char out[NAME_SIZE])
{
	static const char *const stacks[] = { "", "kernel_stack", "user_stack",
					      "user_unwind_stack" };
	const char *name = "unknown:text";
	enum line_stack stack = line_stack(l);
	struct scan s = l->text;
	const char *tracer = ftext_tracer_name(s);
	size_t n = 0;

	if (stack) {
		name = stacks[stack];
	} else if (ftext_is_function(s)) {
		name = scan_find(s, " (repeats: ") < s.n ? "func_repeats"
							 : "function";
	} else if (tracer) {
		name = tracer;
	} else if (scan_take(&s, "UNKNOWN TYPE ")) {
		ftext_copy_name(out, "unknown:", scan_token(s));
		return;
	} else if (scan_starts(s, "sys_")) {
		while (n < s.n && scan_is_word(s.p[n]))
			n++;
		bool enter = n < s.n && s.p[n] == '(';

		if (enter || scan_starts(scan_tail(s, n), " -> ")) {
			ftext_copy_name(out, enter ? "sys_enter_" : "sys_exit_",
					scan_tail(scan_head(s, n), 4));
			return;
		}
	}
	snprintf(out, NAME_SIZE, "%s", name);
}

static void ftext_full_name(const char *name, char out[NAME_SIZE],
			    enum event_role *role)
{
	*role = ROLE_PLAIN;
	/* entries of trace_marker have the name of the kernel function that
	 * took the text */
	if (!strcmp(name, "tracing_mark_write") || !strcmp(name, "0"))
		name = "print";
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (words_find(known[i].names, name, strlen(name)) < 0)
			continue;
		*role = known[i].role;
		snprintf(out, NAME_SIZE, "%s:%s", known[i].system, name);
		return;
	}
	if (strncmp(name, "sys_enter_", 10) && strncmp(name, "sys_exit_", 9))
		snprintf(out, NAME_SIZE, "%s", name);
	else
		snprintf(out, NAME_SIZE, "syscalls:%.*s",
			 NAME_SIZE - (int)sizeof("syscalls:"), name);
}

/* Adds an event with this name, and returns its index. Its first text
 * determines its fields. */
static uint32_t ftext_event_new(struct ftext *ft, const char *key,
				uint32_t buffer, struct scan text)
{
	struct ftext_event e = { .key = arena_strdup(&ft->arena, key),
				 .buffer = buffer };
	struct event_def def = {
		.type = 2, /* PERF_TYPE_TRACEPOINT */
		.config = ft->n_event,
		.has_cpu = !ft->bare && !ft->mmio,
		.has_time = !ft->bare && !ft->untimed,
	};
	struct ftext_pairs *p = &ft->pairs;
	char name[NAME_SIZE];

	ftext_full_name(key, name, &e.role);
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
		if (!strcmp(shapes[i][0], name))
			e.shape = shapes[i][1];
	/* the fields that intervals are found by */
	def.adds_fields = e.shape || !strncmp(name, "timer:", 6) ||
			  !strncmp(name, "dma_fence:", 10) ||
			  !strncmp(name, "raw_syscalls:", 13) ||
			  e.role == ROLE_CALL || e.role == ROLE_FUNCTION;
	/* their flags show in which interrupt a thread was woken */
	e.flags = !strncmp(name, "sched:", 6) || !strncmp(name, "irq:", 4) ||
		  !strncmp(name, "timer:", 6) || !strncmp(name, "block:", 6);
	def.format = e.flags ? flags_format : text_format;
	/* the name of a buffer is prefixed to that of the event */
	def.name = arena_strdup(&ft->arena, name);
	if (buffer) {
		def.buffer = ft->buffer[buffer - 1];
		def.name = arena_join(&ft->arena, def.buffer, '/', name);
	}
	ftext_call_find(key, &e);
	ftext_pairs_parse(e.role, e.shape, text, p);
	e.def = mem_new(p->n + 2, sizeof(*e.def));
	e.def[0] = (struct field_def){ .name = "text", .is_text = true };
	for (size_t i = 0; i < p->n; i++) {
		const struct scan v = p->pair[i].value;

		e.def[i + 1] = (struct field_def){
			.name = arena_strndup(&ft->arena, p->pair[i].key.p,
					      p->pair[i].key.n),
			.is_text = !p->pair[i].is_num,
			.is_signed = true,
			/* "stack=STACK:" of the kernel and "stack=" of
			 * trace-cmd are followed by frames; a number that the
			 * line lacks has no text */
			.is_stack = v.p && v.p + v.n == text.p + text.n &&
				    (!v.n || scan_is(v, "STACK:")),
		};
	}
	def.fields = e.def;
	def.n_fields = (uint32_t)p->n + 1;
	if (e.flags)
		e.def[def.n_fields++] =
			(struct field_def){ .name = "common_flags" };
	mem_grow(ft->event, ft->cap_event, ft->n_event + 1);
	mem_grow(ft->def, ft->cap_def, ft->n_event + 1);
	ft->event[ft->n_event] = e;
	ft->def[ft->n_event++] = def;
	ft->src.events = ft->def;
	ft->src.n_events = (uint32_t)ft->n_event;
	return (uint32_t)ft->n_event - 1;
}

struct ftext_event_key {
	struct scan name;
	uint32_t buffer;
};

SAME_FUNCTION(ftext_event_same, struct ftext, event[id], struct ftext_event_key,
	      x->buffer == y->buffer && scan_is(y->name, x->key));

uint32_t ftext_event_of(struct ftext *ft, const struct line *l, uint32_t buffer)
{
	char name[NAME_SIZE];
	struct scan key = scan_head(l->name, NAME_SIZE - 1);

	if (!key.n) {
		ftext_name_unnamed(l, name);
		key = scan_of(name, strlen(name));
	}
	const struct ftext_event_key k = { key, buffer };
	uint64_t h = hash_bytes(key.p, key.n, buffer);
	uint32_t id = table_find(&ft->by_name, h, ftext_event_same, ft, &k);

	if (id != TABLE_NONE)
		return id;
	if (key.p != name)
		ftext_copy_name(name, "", key);
	/* A name ends at its first NUL. */
	id = ftext_event_new(ft, name, buffer, l->text);
	table_add(&ft->by_name, h, id);
	return id;
}

/* Payload: u32 length << 16 | offset, flags in some events, then the text. */

void ftext_set_payload(struct ftext *ft, const struct ftext_item *it,
		       struct scan text, struct rec_sample *s)
{
	size_t n = text.n < TEXT_MAX ? text.n : TEXT_MAX;
	size_t at = ft->event[it->event].flags ? 2 : 0;

	mem_grow(ft->raw, ft->cap_raw, 4 + at + n);
	ft->raw[0] = (unsigned char)at;
	ft->raw[1] = 0;
	ft->raw[2] = (unsigned char)n;
	ft->raw[3] = (unsigned char)(n >> 8);
	if (at) {
		ft->raw[4] = it->has_flags;
		ft->raw[5] = it->flags;
	}
	memcpy(ft->raw + 4 + at, text.p, n);
	s->raw = ft->raw;
	s->raw_len = (uint32_t)(4 + at + n);
}

static struct scan ftext_payload_text(const struct rec_sample *s)
{
	struct scan raw = scan_of(s->raw, s->raw_len);

	return scan_tail(raw, raw.n > 4 ? 4u + (unsigned char)raw.p[0] : raw.n);
}

static void ftext_field_set_text(struct ftext *ft, struct scan s,
				 struct field *out)
{
	*out = (struct field){
		.present = true,
		.text = arena_strndup(&ft->scratch, s.p, s.n),
		.len = (uint32_t)s.n,
	};
}

int ftext_fields(struct source *src, const struct rec_sample *s,
		 struct field *out, struct err *err UNUSED)
{
	struct ftext *ft = ftext_from_source(src);
	const struct ftext_event *e = &ft->event[s->event];
	struct scan raw = scan_of(s->raw, s->raw_len);
	struct scan text = ftext_payload_text(s);
	struct ftext_pairs *p = &ft->pairs;
	uint32_t n = ft->def[s->event].n_fields;
	size_t at = 0;

	if (ft->scratch.used)
		arena_release(&ft->scratch);
	ftext_field_set_text(ft, text, &out[0]);
	ftext_pairs_parse(e->role, e->shape, text, p);
	if (e->flags) {
		const bool has = raw.n > 5 && raw.p[4];

		out[--n] = (struct field){
			.present = has,
			.num = has ? (unsigned char)raw.p[5] : 0,
		};
	}
	for (uint32_t i = 1; i < n; i++) {
		size_t j = at;

		out[i] = (struct field){ 0 };
		while (j < p->n && !scan_is(p->pair[j].key, e->def[i].name))
			j++;
		if (j == p->n)
			continue;
		at = j + 1;
		if (p->pair[j].is_num)
			out[i] = (struct field){ .present = !p->pair[j].absent,
						 .num = p->pair[j].num };
		else
			ftext_field_set_text(ft, p->pair[j].value, &out[i]);
	}
	return 0;
}

int ftext_print(struct source *src UNUSED, const struct rec_sample *s,
		char *buf, size_t size)
{
	struct scan text = ftext_payload_text(s);

	snprintf(buf, size, "%.*s",
		 (int)(text.n < TEXT_MAX ? text.n : TEXT_MAX), text.p);
	return 0;
}
