/* next.c - makes items from the lines of a text, in its order.
 *
 * A stack belongs to the last event of the same task, on the same CPU, in the
 * same context (entries of an interrupt are among those of the task that it
 * interrupted, with the same pid), and never across a mark of lost events. */
#include <string.h>

#include "formats/ftext/ftext.h"
#include "stitch/base/err.h"

/* The most entries of one CPU between an event and its stack. */
#define NESTED_MAX 16

/* Sets the time and key of an item. Items keep the order of the text, whatever
 * its times: keys only grow, and by one if the time does not grow. */
static void ftext_next_set_time(struct ftext *ft, uint64_t id,
				const struct line *l)
{
	struct ftext_item *it = ftext_item_at(ft, id);

	it->time = l->time;
	it->untimed = l->clock == CLOCK_NONE;
	it->key = ++ft->newest_key;
	if (it->untimed)
		return;
	if (l->clock == CLOCK_TICKS && !ft->ticks) {
		ft->ticks = true;
		ft->src.info.clock = "counter, uptime or a cycle counter";
		ft->src.info.clock_id = CLOCK_ID_NONE;
		reader_note(
			&ft->src, "clock",
			"times are whole numbers, as of the clocks counter, "
			"uptime and x86-tsc: they are no nanoseconds");
	} else if (l->clock == CLOCK_RELATIVE && !ft->relative) {
		ft->relative = true;
		ft->src.info.clock_id = CLOCK_ID_NONE;
		reader_note(&ft->src, "clock",
			    "times count from the first entry of the buffer");
	}
	if (it->time < ft->printed)
		reader_regress(&ft->src, it->off, it->time, ft->printed,
			       it->cpu);
	ft->printed = it->time;
	lower_to(ft->first_printed, it->time);
	if (it->key < it->time)
		it->key = ft->newest_key = it->time;
}

static struct ftext_item *
ftext_next_stack_owner(struct ftext *ft, const struct line *l, uint32_t buffer)
{
	uint64_t at = *ftext_item_newest(ft, buffer, l->cpu);
	struct ftext_item *it;

	for (int i = 0; i < NESTED_MAX && at > ft->give; i++, at = it->prev) {
		it = ftext_item_at(ft, at - 1);
		if (it->kind != ITEM_EVENT)
			return NULL;
		/* a call has no stack, but may be part of the stack walk
		 * itself */
		if (ft->event[it->event].role == ROLE_CALL)
			continue;
		/* lines of function_graph may lack the task and the flags, but
		 * never a switch to another task */
		if ((it->pid == l->pid || it->pid < 0) &&
		    (!it->has_flags || !l->has_flags ||
		     !((it->flags ^ l->flags) & LINE_CONTEXT)))
			return it->stack ? NULL : it;
	}
	return NULL;
}

/* Returns the event whose stack starts with this line. Returns NULL if it is
 * unknown or has such a stack already, or if the stack is a deferred one. */
static struct ftext_item *ftext_next_attach_stack(struct ftext *ft,
						  const struct line *l,
						  uint32_t buffer,
						  enum line_stack stack)
{
	struct ftext_item *it = ftext_next_stack_owner(ft, l, buffer);
	bool *has = NULL;

	if (it && stack != STACK_UNWIND)
		has = stack == STACK_KERNEL ? &it->has_kern : &it->has_user;
	if (!has || *has)
		return NULL;
	*has = true;
	ft->def[it->event].has_chain = true;
	return it;
}

/* Sets the cookie of the event it belongs to. Returns false if that is
 * unknown. */
static bool ftext_next_attach_cookie(struct ftext *ft, const struct line *l,
				     uint32_t buffer)
{
	struct ftext_item *it = scan_is(l->name, "user_unwind_cookie")
					? ftext_next_stack_owner(ft, l, buffer)
					: NULL;

	if (!it || !ftext_defer_cookie(l->text, it))
		return false;
	ft->last = 0;
	return true;
}

static uint64_t ftext_next_item_number(const struct ftext *ft,
				       const struct ftext_item *it)
{
	uint64_t slot = (uint64_t)(it - ft->item);
	uint64_t id = (ft->first & ~(uint64_t)(ft->cap_item - 1)) | slot;

	return id < ft->first ? id + ft->cap_item : id;
}

/* Adds a frame: the whole line s, or its end. */
static void ftext_next_take_frame(struct ftext *ft, struct scan s, uint64_t off,
				  struct scan frame)
{
	struct ftext_item *it =
		ft->last ? ftext_item_at(ft, ft->last - 1) : NULL;

	/* Synthetic events have stacks as fields, the last one at the end of
	 * their text. */
	if (it && ft->more == MORE_TEXT && it->text.n + s.n < FTEXT_LINE) {
		ft->def[it->event].has_chain = true;
		it->has_field = true;
		ftext_part_add(ft, it, s, off, frame, &it->text);
		return;
	}
	if (!it || ft->more < MORE_KERN) {
		reader_damage_text(&ft->src, ft->in.path, "line", off, s.n,
				   "a frame outside of any stack");
		return;
	}
	struct ftext_part *part = ft->more == MORE_KERN ? &it->kern : &it->user;

	if (part->n + frame.n > FTEXT_STACK)
		reader_damage_text(&ft->src, ft->in.path, "stack", off, s.n,
				   "a stack with more than 64 KiB of text");
	else
		ftext_part_add(ft, it, s, off, frame, part);
}

/* Notes the buffer in front of a mark. trace-cmd 3.1 prints it once for the
 * mark and the event behind it. */
static void ftext_next_note_buffer(struct ftext *ft, const struct line *l)
{
	if (!l->buffer.n)
		return;
	ft->marked = ftext_buffer_of(ft, l->buffer);
	ft->marked_cpu = l->cpu;
}

/* Takes an event's line: makes an item of it, unless it belongs to an earlier
 * one. */
static void ftext_next_take_event(struct ftext *ft, struct scan s, uint64_t off,
				  struct line *l)
{
	enum line_stack stack = line_stack(l);
	uint32_t buffer = ftext_buffer_of(ft, l->buffer);

	if (!buffer && l->cpu == ft->marked_cpu)
		buffer = ft->marked;
	ft->marked = 0;
	/* trace-cmd report -R prints cookies as decimal numbers, and stacks as
	 * bytes of a field that has eight addresses at most. */
	if (l->raw && !ft->raw_noted) {
		ft->raw_noted = true;
		reader_note(&ft->src, "raw",
			    "fields are as 'trace-cmd report -R' prints them: "
			    "events are read, stacks and mappings are not; "
			    "report again without -R, or give the trace.dat");
	}
	if (stack == STACK_KERNEL && scan_starts(l->text, "\t=>") &&
	    !ft->short_noted) {
		ft->short_noted = true;
		reader_note(&ft->src, "raw",
			    "kernel stacks are as 'trace-cmd report -N' prints "
			    "them, without addresses and of eight frames at "
			    "most; report again without -N, or give the "
			    "trace.dat");
	}
	if (stack && ft->bare && !ft->bare_noted) {
		ft->bare_noted = true;
		reader_note(&ft->src, "stack",
			    "the lines have no task and CPU (option "
			    "nocontext-info): a stack is taken for that of the "
			    "event in front of it, and is that of another "
			    "event where several CPUs recorded at once");
	}
	if (!ft->raw_noted && ftext_next_attach_cookie(ft, l, buffer))
		return;
	struct ftext_item *it =
		stack ? ftext_next_attach_stack(ft, l, buffer, stack) : NULL;
	uint64_t id = it ? ftext_next_item_number(ft, it)
			 : ftext_item_new(ft, off, l);

	if (!it) {
		ftext_next_set_time(ft, id, l);
		ftext_item_link(ft, id, buffer);
		it = ftext_item_at(ft, id);
		it->event = ftext_event_of(ft, l, buffer);
		it->stack = (uint8_t)stack;
		it->comment = l->comment;
		ftext_part_add(ft, it, s, off, l->comm, &it->comm);
		ftext_part_add(ft, it, s, off, l->text, &it->text);
		it->has_kern = stack == STACK_KERNEL;
		it->has_user = stack == STACK_USER;
		ft->def[it->event].has_chain |= stack != STACK_NONE;
	}
	if (ft->lost) {
		struct ftext_item *mark = ftext_item_at(ft, ft->lost - 1);

		mark->time = it->time;
		ft->lost = 0;
	}
	ft->last = id + 1;
	ft->more = stack == STACK_NONE	   ? MORE_TEXT
		   : stack == STACK_KERNEL ? MORE_KERN
		   : stack == STACK_USER   ? MORE_USER
					   : MORE_COOKIE;
	if (line_is_frame(l->text))
		ftext_next_take_frame(ft, s, off, l->text);
}

/* Notes which task a CPU runs if the line shows it (`tells`); otherwise sets
 * the line's task from that. */
static void ftext_next_note_task(struct ftext *ft, struct line *l, bool tells)
{
	size_t cpu = (size_t)l->cpu;

	if (l->cpu < 0 || l->cpu >= CPUS_MAX)
		return;
	if (tells)
		*mem_at(ft->running, ft->n_running, ft->cap_running, cpu) =
			l->pid < INT32_MAX ? l->pid + 1 : 0;
	else if (l->pid < 0 && cpu < ft->n_running)
		l->pid = ft->running[cpu] - 1;
}

static uint64_t ftext_next_add_lost(struct ftext *ft, uint64_t off,
				    const struct line *l)
{
	uint64_t id = ftext_item_new(ft, off, l);
	struct ftext_item *it = ftext_item_at(ft, id);

	it->kind = ITEM_LOST;
	it->n_lost = l->n_lost;
	it->time = ft->printed;
	it->key = ++ft->newest_key;
	it->untimed = ft->bare || ft->untimed;
	return id;
}

/* Takes the lines at the end of a piece of a stream: what its CPUs dropped, and
 * the number of CPUs. */
static void ftext_next_take_totals(struct ftext *ft, struct scan s,
				   uint64_t off)
{
	struct line l = { .cpu = -1 };

	scan_take(&s, FTEXT_BESIDE);
	if (scan_take(&s, " cpus="))
		scan_i32(&s, &ft->src.info.cpus_online);
	if (!scan_take(&s, " cpu=") || !scan_i32(&s, &l.cpu) ||
	    !scan_take(&s, " dropped=") || !scan_u64(&s, &l.n_lost) ||
	    l.cpu < 0 || l.cpu > CPU_ID_MAX)
		return;
	ftext_item_at(ft, ftext_next_add_lost(ft, off, &l))->dropped =
		ft->first_printed != UINT64_MAX;
}

/* Returns whether the text of an event ends inside a string or the name of a
 * task, which continues after a line feed. No event has a name as its last
 * field. */
static bool ftext_next_is_open(const struct ftext *ft,
			       const struct ftext_item *it)
{
	struct scan text = ftext_part_of(ft, it, &it->text);
	size_t quotes = 0;

	for (size_t i = 0; i < text.n; i++)
		quotes += text.p[i] == '"';
	if (quotes % 2)
		return true;
	while (text.n && text.p[text.n - 1] != '=')
		text.n--;
	return ft->event[it->event].role >= ROLE_SWITCH && text.n >= 5 &&
	       scan_is(scan_tail(text, text.n - 5), "comm=");
}

/* Takes a line of no known form. A text written to trace_marker may have
 * several lines, and so may that of an event with a stack in a field. */
static void ftext_next_take_other(struct ftext *ft, struct scan s, uint64_t off)
{
	struct ftext_item *it =
		ft->last ? ftext_item_at(ft, ft->last - 1) : NULL;

	const struct scan line = s;

	if (it && ft->more == MORE_TEXT && it->text.n + s.n < FTEXT_LINE &&
	    (it->has_field || ft->event[it->event].role == ROLE_MARKER ||
	     ftext_next_is_open(ft, it))) {
		if (it->comment)
			it->comment = !scan_take_end(&s, " */");
		ftext_part_add(ft, it, line, off, s, &it->text);
	} else
		reader_damage_text(&ft->src, ft->in.path, "line", off, s.n,
				   "a line of unknown form");
}

static void ftext_next_take_cookie(struct ftext *ft, struct scan s,
				   uint64_t off)
{
	if (!ft->last || ft->more != MORE_COOKIE) {
		ftext_next_take_other(ft, s, off);
		return;
	}
	struct ftext_item *it = ftext_item_at(ft, ft->last - 1);

	ftext_part_add(ft, it, s, off, s, &it->text);
	ft->more = MORE_USER;
}

/* Returns what in an event's line no kernel prints, or NULL. The string is
 * constant. */
static const char *ftext_next_is_impossible(struct ftext *ft,
					    const struct line *l)
{
	if (!thread_id_can_be(l->pid) || !thread_id_can_be(l->tgid))
		return "a line of a thread or process that cannot be";
	if (l->cpu > CPU_ID_MAX)
		return "a line of a CPU that cannot be";
	if (l->clock != CLOCK_NONE && near_time_is_far(&ft->near, l->time))
		return "a line with a time that is years from those before it";
	return NULL;
}

/* Takes one line of any kind. Returns 0, or -1 and *err if the text cannot be
 * read. */
static int ftext_next_take_line(struct ftext *ft, struct scan s, uint64_t off,
				struct err *err)
{
	const char *why;
	struct line l;

	if (!ft->mmio || !line_parse_mmio(s, &l))
		line_parse(s, ft->bare, &l);
	switch (l.kind) {
	case LINE_TASK:
		ftext_next_note_task(ft, &l, true);
		break;
	case LINE_EVENT:
		why = ftext_next_is_impossible(ft, &l);
		if (why) {
			reader_damage_text(&ft->src, ft->in.path, "line", off,
					   s.n, "%s", why);
			ft->last = 0;
			break;
		}
		ftext_next_note_task(ft, &l, false);
		ftext_next_take_event(ft, s, off, &l);
		break;
	case LINE_FRAME:
		ftext_next_take_frame(ft, s, off, l.text);
		break;
	case LINE_LOST: {
		/* A mark of loss precedes the event that was recorded next. */
		uint64_t id = ftext_next_add_lost(ft, off, &l);
		struct ftext_item *it = ftext_item_at(ft, id);

		ftext_next_note_buffer(ft, &l);
		ftext_item_link(ft, id, ftext_buffer_of(ft, l.buffer));
		if (it->prev > ft->first)
			it->since = ftext_item_at(ft, it->prev - 1)->time;
		ft->lost = ft->bare ? 0 : id + 1;
		ft->last = 0;
		break;
	}
	case LINE_COOKIE:
		ftext_next_take_cookie(ft, s, off);
		break;
	case LINE_HEAD:
		ftext_next_note_buffer(ft, &l);
		if (ft->piece && scan_starts(s, FTEXT_BESIDE))
			ftext_next_take_totals(ft, s, off);
		else
			ftext_header(ft, s);
		break;
	case LINE_REFUSED:
		return err_at(err, ft->in.path, off, "%s", l.why);
	case LINE_OTHER:
		ftext_next_take_other(ft, s, off);
		break;
	case LINE_BLANK:
	case LINE_STARTED:
		break;
	}
	return 0;
}

/* Adds a ref for a record without an item. */
static void ftext_next_add_other(struct ftext *ft, enum ftext_record which)
{
	*mem_add(ft->due, ft->n_due, ft->cap_due) = (struct ref){
		.key = ++ft->newest_key,
		.seq = ++ft->seq,
		.len = which,
		.kind = CLASS_SAMPLE,
		.untimed = 1,
	};
}

/* Adds the ref of the next loss in the whole text. Returns false if there are
 * no more. */
static bool ftext_next_give_total(struct ftext *ft)
{
	if (!ft->total_given) {
		ft->total_given = true;
		if (!ftext_has_totals(ft) && ft->overwritten) {
			ftext_next_add_other(ft, REF_TOTAL);
			return true;
		}
	}
	while (ft->virtual_total < ft->beside.n_total) {
		size_t i = ft->virtual_total++;

		if (!ft->beside.total[i].n)
			continue;
		ftext_next_add_other(ft, REF_TOTAL);
		ft->due[ft->n_due - 1].handle = i;
		return true;
	}
	return false;
}

int ftext_next(struct source *src, struct ref *ref, struct err *err)
{
	struct ftext *ft = ftext_from_source(src);
	struct scan s;
	uint64_t off;

	for (;;) {
		if (ft->due_pos < ft->n_due) {
			*ref = ft->due[ft->due_pos++];
			/* the next ref has a larger key */
			if (ft->due_pos == ft->n_due)
				src->floor = ref->key + 1;
			return 1;
		}
		ft->n_due = ft->due_pos = 0;
		if (ft->kernel_end && !ft->kernel_given) {
			ft->kernel_given = true;
			ftext_next_add_other(ft, REF_KERNEL);
			continue;
		}
		uint64_t held = ft->end_item - ft->give;

		if (held > FTEXT_HELD || (ft->ended && held)) {
			const uint64_t id = ft->give++;
			const struct ftext_item *it = ftext_item_at(ft, id);

			src->floor = it->key;
			if (ft->last == id + 1)
				ft->last = 0;
			if (ft->lost == id + 1)
				ft->lost = 0;
			if (it->kind == ITEM_LOST) {
				ft->known.n_lost++;
				ftext_add_ref(ft, id, REF_LOST);
			} else {
				ftext_task_refs(ft, id);
			}
			continue;
		}
		if (ft->ended && ftext_next_give_total(ft))
			continue;
		if (ft->ended) {
			src->floor = UINT64_MAX;
			if (ft->failed && err)
				*err = ft->why;
			return ft->failed ? -1 : 0;
		}
		int got = ftext_next_line(ft, &s, &off, &ft->why);

		/* return the items that were read before the failure first */
		ft->failed = got < 0 || (got && ftext_next_take_line(ft, s, off,
								     &ft->why));
		ft->ended = !got || ft->failed;
	}
}
