/* next.c - returns the records of all traces, which the child process sends.
 *
 * The floor is the time of the current message. If the child dies, the trace
 * that it was reading ends there; a new child continues with the others where
 * they were. */
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/ctf.h"
#include "formats/ctf/ring.h"
#include "stitch/base/err.h"

/* Limit of memory for records; any number of them may have one time. */
#define HELD_MAX ((uint64_t)256 << 20)
/* A child that sends nothing for so long hangs. */
#define SECONDS_MAX 120

/* Maps the kernel once, with the first trace of the kernel domain. */
static void ctf_next_map_kernel(struct ctf *ctf)
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

/* Are all parts inside of len, and does text end with a 0? */
static bool ctf_next_is_valid_item(const struct ctf *ctf,
				   const struct ctf_item *it, size_t len)
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

static void ctf_next_take_item(struct ctf *ctf, const struct ctf_msg *m,
			       const unsigned char *body)
{
	struct ctf_trace *tr = &ctf->trace[m->trace];

	tr->given++;
	tr->at = m->at;
	if (m->len < sizeof(struct ctf_item))
		return;
	struct ctf_item *it = ctf_item_new(tr, (enum record_class)m->ref_kind,
					   m->at, m->len - sizeof(*it));
	struct ref *ref = &tr->due[tr->n_due - 1].ref;

	memcpy(it, body, m->len);
	ref->key = it->time;
	ref->untimed = m->untimed;
	ctf->giving = tr;
	if (ctf_next_is_valid_item(ctf, it, m->len) && ctf_settle_item(ctf, it))
		return;
	ctf_pool_drop(&ctf->pool, ref->handle);
	tr->n_due--;
}

static void ctf_next_take_event(struct ctf *ctf, const struct ctf_msg *m,
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
		.defer = m->ref_kind & CTF_MSG_DEFER,
		.has_time = m->ref_kind & CTF_MSG_TIME,
		.has_tid = m->ref_kind & CTF_MSG_TID,
	};

	ctf_event_add(ctf, &info);
}

static void ctf_next_end_trace(struct ctf_trace *tr, const char *why)
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

static void ctf_next_take_text(struct ctf *ctf, const struct ctf_msg *m,
			       const unsigned char *body)
{
	const char *text = (const char *)body;

	if (!m->len || body[m->len - 1])
		return;
	if (m->kind == CTF_MSG_DAMAGE)
		ctf_next_end_trace(&ctf->trace[m->trace], text);
	else
		ledger_skip(ctf->src.ledger, ctf->src.index, text, 0, 0, NULL);
}

/* Returns false for the last message. */
static bool ctf_next_take_message(struct ctf *ctf, const struct ctf_msg *m,
				  const unsigned char *body)
{
	if (m->trace >= ctf->n_trace)
		return true;
	switch ((enum ctf_msg_kind)m->kind) {
	case CTF_MSG_END:
		return false;
	case CTF_MSG_ITEM:
		ctf_next_take_item(ctf, m, body);
		break;
	case CTF_MSG_EVENT:
		ctf_next_take_event(ctf, m, body);
		break;
	case CTF_MSG_BASE:
		if (m->len == sizeof(ctf->base) && !ctf->has_base) {
			memcpy(&ctf->base, body, sizeof(ctf->base));
			ctf->has_base = true;
		}
		break;
	default:
		ctf_next_take_text(ctf, m, body);
		break;
	}
	return true;
}

/* Ends the trace that the child was reading, or all if that is unknown, and
 * starts a child for the rest. */
static int ctf_next_restart_child(struct ctf *ctf, bool hangs, struct err *err)
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
		ctf_next_end_trace(tr, why.msg);
	}
	return more ? ctf_child_start(ctf, err) : 0;
}

static void ctf_next_set_progress(struct ctf *ctf)
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

static void ctf_next_return_ref(struct ctf *ctf, struct ctf_trace *tr,
				struct ref *ref)
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
		ctf_next_map_kernel(ctf);
	for (;;) {
		struct ctf_trace *tr = ctf->giving;
		const unsigned char *body;
		struct ctf_msg m;

		if (tr && tr->due_pos < tr->n_due) {
			ctf_next_return_ref(ctf, tr, ref);
			return 1;
		}
		if (tr)
			tr->n_due = tr->due_pos = 0;
		if (!ctf->ring)
			break;
		int got = ctf_ring_get(ctf->ring, &m, &body, SECONDS_MAX);

		if (got <= 0 && ctf_next_restart_child(ctf, got < 0, err))
			return -1;
		if (got > 0 && !ctf_next_take_message(ctf, &m, body))
			ctf_child_end(ctf, NULL);
		if (ctf->ring && !(ctf->seq % 1024))
			ctf_next_set_progress(ctf);
	}
	src->floor = UINT64_MAX;
	src->pos = src->size;
	return 0;
}
