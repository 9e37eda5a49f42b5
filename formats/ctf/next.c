/* next.c - the records of all traces, as they come out of the process that
 * decodes them.
 *
 * The floor is the time of the message at hand. When the process dies the
 * trace that it was at is over; another process takes up the others where they
 * were. */
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/ctf.h"
#include "formats/ctf/ring.h"
#include "stitch/base/err.h"

/* Of records that wait; events of one instant could be any number. */
#define HELD_MAX ((uint64_t)256 << 20)
/* One that says nothing for so long hangs. */
#define SECONDS_MAX 120

/* The first of the kernel's traces says it for all. */
static void map_kernel(struct ctf *ctf)
{
	ctf->told_kernel = true;
	for (size_t i = 0; i < ctf->n_trace; i++) {
		struct ctf_trace *tr = &ctf->trace[i];

		if (tr->ended || !tr->meta.domain ||
		    strcmp(tr->meta.domain, "kernel"))
			continue;
		ctf_map_kernel(tr);
		ctf->giving = tr;
		return;
	}
}

/* Does all of it lie inside, and does what is text end? */
static bool is_item(const struct ctf *ctf, const struct ctf_item *it,
		    size_t len)
{
	uint64_t need = sizeof(*it) + ((uint64_t)it->n_kern + it->n_user) * 8;
	bool text = it->kind == REC_COMM || it->kind == REC_MAP ||
		    (it->kind == REC_CHAIN && it->raw_len);

	if (need > len || it->raw_len > len - need || it->map.id_len > 20)
		return false;
	if (text && (!it->raw_len || ctf_item_raw(it)[it->raw_len - 1]))
		return false;
	return it->kind == REC_SAMPLE ? it->event < ctf->n_event
				      : it->kind != REC_KSYMBOL;
}

static void take_item(struct ctf *ctf, const struct ctf_msg *m,
		      const unsigned char *body)
{
	struct ctf_trace *tr = &ctf->trace[m->trace];

	tr->given++;
	tr->at = m->at;
	if (m->len < sizeof(struct ctf_item))
		return;
	struct ctf_item *it = ctf_item_new(tr, (enum record_class)m->class,
					   m->at, m->len - sizeof(*it));
	struct ref *ref = &tr->due[tr->n_due - 1].ref;

	memcpy(it, body, m->len);
	ref->key = it->time;
	ref->untimed = m->untimed;
	ctf->giving = tr;
	if (is_item(ctf, it, m->len) && ctf_settle(ctf, it))
		return;
	ctf_pool_drop(&ctf->pool, ref->handle);
	tr->n_due--;
}

static void take_event(struct ctf *ctf, const struct ctf_msg *m,
		       const unsigned char *body)
{
	const char *name = (const char *)body;
	size_t n = m->len ? strnlen(name, m->len) + 1 : 0;

	if (!m->len || n >= m->len || body[m->len - 1])
		return;
	const struct ctf_event_info info = {
		.name = name,
		.text = name + n,
		.len = strlen(name + n),
		.defer = m->class & CTF_MSG_DEFER,
		.has_time = m->class & CTF_MSG_TIME,
		.has_tid = m->class & CTF_MSG_TID,
	};

	ctf_event_add(ctf, &info);
}

/* No more comes of this trace. */
static void lose(struct ctf_trace *tr, const char *why)
{
	struct ctf *ctf = tr->ctf;
	struct ledger_entry e = {
		.kind = LEDGER_DAMAGE,
		.capture = ctf->src.index,
		.what = "unreadable",
		.detail = why,
		.n = 1,
		.cpu = -1,
		.event = -1,
		.t0 = tr->at,
	};

	tr->ended = true;
	ledger_add(ctf->src.ledger, &e);
}

static void take_text(struct ctf *ctf, const struct ctf_msg *m,
		      const unsigned char *body)
{
	const char *text = (const char *)body;

	if (!m->len || body[m->len - 1])
		return;
	if (m->kind == CTF_MSG_DAMAGE)
		lose(&ctf->trace[m->trace], text);
	else
		ledger_skip(ctf->src.ledger, ctf->src.index, text, 0, 0);
}

/* false: it was the last. */
static bool take(struct ctf *ctf, const struct ctf_msg *m,
		 const unsigned char *body)
{
	if (m->trace >= ctf->n_trace)
		return true;
	switch ((enum ctf_msg_kind)m->kind) {
	case CTF_MSG_END:
		return false;
	case CTF_MSG_ITEM:
		take_item(ctf, m, body);
		break;
	case CTF_MSG_EVENT:
		take_event(ctf, m, body);
		break;
	case CTF_MSG_BASE:
		if (m->len == sizeof(ctf->base) && !ctf->has_base) {
			memcpy(&ctf->base, body, sizeof(ctf->base));
			ctf->has_base = true;
		}
		break;
	default:
		take_text(ctf, m, body);
		break;
	}
	return true;
}

/* The trace that it was at is over; of all when that is not known. */
static int start_again(struct ctf *ctf, bool hangs, struct err *err)
{
	struct err how;
	struct err why;
	uint32_t at;
	uint64_t done;
	bool more = false;

	ctf_ring_noted(ctf->ring, &at, &done);
	ctf_child_end(ctf, &how);
	if (hangs)
		err_set(&how, ERR_FORMAT,
			"libbabeltrace2 has not said anything for %d seconds",
			SECONDS_MAX);
	for (size_t i = 0; i < ctf->n_trace; i++) {
		struct ctf_trace *tr = &ctf->trace[i];

		if (tr->ended)
			continue;
		if (at != i + 1 && at && at <= ctf->n_trace) {
			more = true;
			continue;
		}
		err_set(&why, ERR_FORMAT,
			"%s: %s; what comes after this is left out", tr->path,
			how.msg);
		lose(tr, why.msg);
	}
	return more ? ctf_child_start(ctf, err) : 0;
}

static void progress(struct ctf *ctf)
{
	uint32_t at;

	ctf_ring_noted(ctf->ring, &at, &ctf->packets_done);
	if (ctf->packets)
		ctf->src.pos =
			(uint64_t)((double)ctf->packets_done /
				   (double)ctf->packets * (double)ctf->files);
	if (ctf->src.pos > ctf->files)
		ctf->src.pos = ctf->files;
}

static void give(struct ctf *ctf, struct ctf_trace *tr, struct ref *ref)
{
	const struct ctf_due *d = &tr->due[tr->due_pos++];
	uint64_t floor = d->at;

	*ref = d->ref;
	if (ctf->pool.held > HELD_MAX && floor < UINT64_MAX - 1)
		floor++;
	if (floor > ctf->src.floor)
		ctf->src.floor = floor;
}

int ctf_next(struct source *src, struct ref *ref, struct err *err)
{
	struct ctf *ctf = ctf_of(src);

	if (!ctf->told_kernel)
		map_kernel(ctf);
	for (;;) {
		struct ctf_trace *tr = ctf->giving;
		const unsigned char *body;
		struct ctf_msg m;

		if (tr && tr->due_pos < tr->n_due) {
			give(ctf, tr, ref);
			return 1;
		}
		if (tr)
			tr->n_due = tr->due_pos = 0;
		if (!ctf->ring)
			break;
		int got = ctf_ring_get(ctf->ring, &m, &body, SECONDS_MAX);

		if (got <= 0 && start_again(ctf, got < 0, err))
			return -1;
		if (got > 0 && !take(ctf, &m, body))
			ctf_child_end(ctf, NULL);
		if (ctf->ring && !(ctf->seq % 1024))
			progress(ctf);
	}
	src->floor = UINT64_MAX;
	src->pos = src->size;
	return 0;
}
