/* keep_record.c - makes a record last longer than its source keeps it. */
#include "stitch/order/keep_record.h"

#include "stitch/base/mem.h"
#include "stitch/record.h"

static const void *keep_bytes(struct arena *a, const void *p, size_t n)
{
	return p ? memcpy(arena_take(a, n), p, n) : NULL;
}

static const char *keep_text(struct arena *a, const char *s)
{
	return s ? arena_strdup(a, s) : NULL;
}

static void keep_places(struct arena *a, struct addrs *list)
{
	const struct place **own;

	if (!list->place)
		return;
	own = arena_take(a, list->n * sizeof(*own));
	for (uint32_t i = 0; i < list->n; i++) {
		const struct place *p = list->place[i];
		struct place *copy = NULL;

		if (p) {
			copy = arena_take(a, sizeof(*copy));
			*copy = *p;
			copy->path = keep_text(a, p->path);
			copy->symbol = keep_text(a, p->symbol);
		}
		own[i] = copy;
	}
	list->place = own;
}

static void keep_addrs(struct arena *a, struct addrs *list)
{
	if (!list->n && !list->place)
		return;
	if (!list->lasts)
		list->ip = keep_bytes(a, list->ip, list->n * sizeof(*list->ip));
	keep_places(a, list);
}

static const struct extra *keep_extras(struct arena *a, const struct extra *e,
				       uint32_t n)
{
	struct extra *own;

	if (!e || !n)
		return NULL;
	own = arena_take(a, n * sizeof(*own));
	for (uint32_t i = 0; i < n; i++) {
		own[i] = e[i];
		own[i].blob = keep_bytes(a, e[i].blob, e[i].len);
	}
	return own;
}

static const struct call *keep_call(struct arena *a, const struct call *c)
{
	struct call *own;

	if (!c)
		return NULL;
	own = arena_take(a, sizeof(*own));
	*own = *c;
	own->path = keep_text(a, c->path);
	return own;
}

/* What few samples have. */
static void keep_rest(struct arena *a, struct rec_sample *s)
{
	struct addrs *held = NULL;

	if (s->held && s->n_held) {
		held = arena_take(a, s->n_held * sizeof(*held));
		memcpy(held, s->held, s->n_held * sizeof(*held));
		for (uint32_t i = 0; i < s->n_held; i++)
			keep_addrs(a, &held[i]);
	}
	s->held = held;
	s->user_regs.v = keep_bytes(a, s->user_regs.v,
				    s->user_regs.n * sizeof(*s->user_regs.v));
	s->branch = keep_bytes(a, s->branch, s->n_branch * sizeof(*s->branch));
	s->extra = keep_extras(a, s->extra, s->n_extra);
	s->member = keep_bytes(a, s->member, s->n_member * sizeof(*s->member));
}

static void keep_sample(struct arena *a, struct rec_sample *s)
{
	keep_addrs(a, &s->kern);
	keep_addrs(a, &s->user);
	s->call = keep_call(a, s->call);
	if (s->n_held || s->user_regs.n || s->n_branch || s->n_extra ||
	    s->n_member)
		keep_rest(a, s);
}

void keep_record(struct record *rec, struct arena *a)
{
	switch (rec->kind) {
	case REC_SAMPLE:
		keep_sample(a, &rec->sample);
		break;
	case REC_CHAIN:
		keep_addrs(a, &rec->chain.user);
		break;
	case REC_MAP:
		rec->map.path = keep_text(a, rec->map.path);
		rec->map.id = keep_bytes(a, rec->map.id, rec->map.id_len);
		break;
	case REC_KSYMBOL:
		rec->ksymbol.name = keep_text(a, rec->ksymbol.name);
		break;
	case REC_COMM:
		rec->comm.name = keep_text(a, rec->comm.name);
		break;
	case REC_MARK:
		rec->mark.name = keep_text(a, rec->mark.name);
		rec->mark.extra =
			keep_extras(a, rec->mark.extra, rec->mark.n_extra);
		break;
	default: /* the others have numbers only */
		break;
	}
}

void keep_lasting_record(struct record *rec, struct arena *a)
{
	if (rec->kind == REC_SAMPLE) {
		keep_places(a, &rec->sample.kern);
		keep_places(a, &rec->sample.user);
		if (rec->sample.call)
			rec->sample.call = keep_call(a, rec->sample.call);
	} else if (rec->kind == REC_CHAIN) {
		keep_places(a, &rec->chain.user);
	}
}
