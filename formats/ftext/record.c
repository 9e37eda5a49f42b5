/* record.c - makes the record of a ref: an event with its stacks, a mark of
 * loss, or what task.c, defer.c and kernel.c make. */
#include <string.h>

#include "formats/ftext/ftext.h"

/* Places of frames, by what the text says. */

struct ftext_place_key {
	struct scan key;
	bool kernel;
};

SAME_FUNCTION(ftext_place_same, struct ftext, place[id], struct ftext_place_key,
	      x->kernel == y->kernel && x->n == y->key.n &&
		      !memcmp(x->key, y->key.p, x->n));

/* Returns the place of a frame, or NULL if the text has only an address. */
static const struct place *
ftext_place_find(struct ftext *ft, const struct line_frame *f, bool kernel)
{
	struct ftext_place_key k = { f->key, kernel };

	if (!f->key.n)
		return NULL;
	uint64_t h = hash_bytes(f->key.p, f->key.n, kernel);
	uint32_t id = table_find(&ft->places, h, ftext_place_same, ft, &k);

	if (id != TABLE_NONE)
		return ft->place[id].place;
	struct ftext_place p = {
		.key = arena_strndup(&ft->arena, f->key.p, f->key.n),
		.n = f->key.n,
		.kernel = kernel,
	};

	if (kernel ? f->symbol.n : f->path.n) {
		struct place *place = arena_take(&ft->arena, sizeof(*place));

		*place = (struct place){ .off = f->off, .size = f->size };
		if (f->path.n)
			place->path =
				arena_strndup(&ft->arena, f->path.p, f->path.n);
		if (kernel)
			place->symbol = arena_strndup(&ft->arena, f->symbol.p,
						      f->symbol.n);
		p.place = place;
	}
	mem_grow(ft->place, ft->cap_place, ft->n_place + 1);
	table_add(&ft->places, h, (uint32_t)ft->n_place);
	ft->place[ft->n_place++] = p;
	return p.place;
}

/* trace-cmd's text ends a user stack with lines of zeros. */
static struct addrs ftext_record_take_stack(struct ftext *ft,
					    const struct ftext_item *it,
					    struct scan s, enum ftext_stack k)
{
	struct addrs a = { .n = 0 };
	bool kernel = k != FTEXT_USER;
	struct line_frame f;

	while (s.n) {
		struct scan line = scan_line(&s);

		if (!line.n)
			continue;
		if (!line_frame(line, kernel, &f)) {
			reader_damage_text(&ft->src, ft->in.path, "frame",
					   it->off, line.n,
					   "a frame of unknown form");
			f = (struct line_frame){ .addr = 0 };
		} else if (!kernel && !f.addr && !f.key.n) {
			break;
		}
		mem_grow(ft->ip[k], ft->cap_ip[k], a.n + 1);
		mem_grow(ft->at[k], ft->cap_at[k], a.n + 1);
		ft->ip[k][a.n] = f.addr;
		ft->at[k][a.n++] = ftext_place_find(ft, &f, kernel);
	}
	a.ip = ft->ip[k];
	a.place = ft->at[k];
	return a;
}

/* The frames of a stack in a field, as in synthetic events: the lines after the
 * first one up to the next field. */
static struct scan ftext_record_field_text(const struct ftext *ft,
					   const struct ftext_item *it)
{
	struct scan s = ftext_part_of(ft, it, &it->text);
	size_t at = scan_find_char(s, '\n') + 1;
	size_t end = at;

	while (end < s.n && line_is_frame(scan_tail(s, end)))
		end += scan_find_char(scan_tail(s, end), '\n') + 1;
	return scan_head(scan_tail(s, at), end - at);
}

static void ftext_record_event(struct ftext *ft, const struct ftext_item *it,
			       struct record *rec)
{
	struct rec_sample *s = &rec->sample;

	rec->kind = REC_SAMPLE;
	*s = (struct rec_sample){ .event = it->event, .weight = 1 };
	s->kern = ftext_record_take_stack(
		ft, it, ftext_part_of(ft, it, &it->kern), FTEXT_KERN);
	if (it->has_field) {
		ft->held = ftext_record_take_stack(
			ft, it, ftext_record_field_text(ft, it), FTEXT_FIELD);
		s->held = &ft->held;
		s->n_held = 1;
		/* an event without a stack of its own gets that one */
		if (!it->has_kern)
			s->kern = ft->held;
	}
	s->user = ftext_record_take_stack(
		ft, it, ftext_part_of(ft, it, &it->user), FTEXT_USER);
	if (s->user.n)
		s->defer = DEFER_DIRECT;
	ftext_defer_request(ft, it, rec);
	ftext_sched(ft, it, &s->sched);
	const struct ftext_event *e = &ft->event[it->event];

	if (e->call != CALL_NONE &&
	    ftext_call_parse(ft, e, ftext_part_of(ft, it, &it->text),
			     &ft->call))
		s->call = &ft->call;
	ftext_set_payload(ft, it, ftext_part_of(ft, it, &it->text), s);
	/* the lines of a stack in the payload become one line */
	for (size_t i = 4u + ft->raw[0]; it->has_field && i < s->raw_len; i++)
		if (ft->raw[i] == '\n')
			ft->raw[i] = ' ';
}

int ftext_decode(struct source *src, const struct ref *ref, struct record *rec,
		 struct err *err UNUSED)
{
	struct ftext *ft = ftext_from_source(src);

	*rec = (struct record){
		.time = ref->key, .pid = -1, .tid = -1, .cpu = -1
	};
	if (ref->len == REF_TOTAL) {
		rec->kind = REC_LOST_TOTAL;
		rec->lost.n = ft->overwritten;
		rec->lost.event = -1;
		if (ref->handle < ft->beside.n_total) {
			const struct ftext_total *t =
				&ft->beside.total[ref->handle];

			rec->lost.n = t->n;
			rec->lost.place = t->place;
			rec->cpu = t->cpu;
		}
		return 0;
	}
	if (ref->len == REF_KERNEL) {
		ftext_kernel_record(ft, rec);
		return 0;
	}
	const struct ftext_item *it = ftext_item_at(ft, ref->handle);

	rec->time = it->time;
	rec->off = it->off;
	rec->cpu = it->cpu;
	if (ref->len == REF_LOST) {
		rec->kind = REC_LOST;
		rec->lost.n = it->n_lost;
		rec->lost.event = -1;
		/* the one before it may have the same time, as a text has
		 * microseconds; in the order of equal times it comes later */
		rec->lost.since = it->dropped ? ft->first_printed : it->since;
		rec->lost.has_since =
			it->dropped || (it->since && it->since == it->time);
		return 0;
	}
	rec->tid = it->pid;
	rec->pid = it->pid ? it->tgid : 0;
	if (ref->len == REF_SAMPLE)
		ftext_record_event(ft, it, rec);
	else if ((ref->len & ((1u << REF_BITS) - 1)) == REF_CHAIN)
		ftext_defer_chain(ft, it, ref->len >> REF_BITS, rec);
	else
		ftext_task_record(ft, it, (enum ftext_record)ref->len, rec);
	return 0;
}
