/* tell.c - the messages that the child sends to the parent. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/ctf/ctf.h"
#include "formats/ctf/ring.h"
#include "stitch/base/err.h"

/* Returns a message to fill, with len bytes after it. Ends the child if the
 * parent is gone. */
static struct ctf_msg *ctf_tell_new(struct ctf *ctf, size_t len)
{
	struct ctf_msg *m = ctf_ring_put(ctf->ring, len);

	if (!m)
		_exit(1);
	return m;
}

static void ctf_tell_text(struct ctf *ctf, enum ctf_msg_kind kind,
			  uint32_t trace, const char *text)
{
	size_t n = strlen(text) + 1;
	struct ctf_msg *m = ctf_tell_new(ctf, n);

	m->kind = kind;
	m->trace = trace;
	memcpy(m + 1, text, n);
}

void ctf_tell_event(struct ctf *ctf, const struct ctf_event_info *info)
{
	size_t n = strlen(info->name) + 1;

	if (!ctf->in_child)
		return;
	if (n + info->len + 8 > CTF_RING_MAX / 2)
		_exit(1);
	struct ctf_msg *m = ctf_tell_new(ctf, n + info->len + 1);
	unsigned char *at = (unsigned char *)(m + 1);

	m->kind = CTF_MSG_EVENT;
	m->ref_kind = (uint8_t)((info->defer ? CTF_MSG_DEFER : 0) |
				(info->has_time ? CTF_MSG_TIME : 0) |
				(info->has_tid ? CTF_MSG_TID : 0));
	memcpy(at, info->name, n);
	memcpy(at + n, info->text, info->len);
	at[n + info->len] = 0;
}

void ctf_tell_base(struct ctf *ctf)
{
	if (!ctf->in_child)
		return;
	struct ctf_msg *m = ctf_tell_new(ctf, sizeof(ctf->base));

	m->kind = CTF_MSG_BASE;
	memcpy(m + 1, &ctf->base, sizeof(ctf->base));
}

void ctf_tell_skip(struct ctf *ctf, const char *what)
{
	if (ctf->in_child)
		ctf_tell_text(ctf, CTF_MSG_SKIP, 0, what);
}

void ctf_tell_damage(struct ctf_trace *tr, const struct err *err)
{
	ctf_tell_text(tr->ctf, CTF_MSG_DAMAGE, (uint32_t)(tr - tr->ctf->trace),
		      err->msg);
}

void ctf_tell_item(struct ctf *ctf, uint32_t trace, const struct ctf_due *d)
{
	struct ctf_msg *m = ctf_tell_new(ctf, d->ref.len);

	m->kind = CTF_MSG_ITEM;
	m->trace = trace;
	m->ref_kind = d->ref.kind;
	m->untimed = d->ref.untimed;
	m->at = d->at;
	memcpy(m + 1, ctf_pool_at(&ctf->pool, d->ref.handle), d->ref.len);
}

void ctf_tell_end(struct ctf *ctf)
{
	ctf_tell_new(ctf, 0)->kind = CTF_MSG_END;
	ctf_ring_flush(ctf->ring);
}
