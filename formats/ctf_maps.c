/* ctf_maps.c - which files a traced program has mapped, as LTTng-UST says.
 *
 * A file is told of by one event and its build-id by the next of the same
 * thread: the mapping waits for it. All segments of a file are one mapping
 * from its base; the same may be told several times (dlopen of a library that
 * is there, both of dlopen and of load), and is one. */
#include <stdlib.h>
#include <string.h>

#include "formats/ctf.h"

#define MAPS_MAX 1000000
#define ID_MAX 20

static uint64_t key_of(int32_t pid, uint64_t start)
{
	return hash_pair((uint32_t)pid, start);
}

/* What is mapped there: a hash of all of it, by pid and base. */
static bool is_news(struct ctf *ctf, const struct ctf_item *it,
		    const char *path)
{
	uint64_t where = key_of(it->pid, it->map.start);
	uint64_t what =
		hash_pair(it->map.len, hash_bytes(path, strlen(path), where));

	what = hash_bytes(it->map.id, it->map.id_len, what);
	uint32_t old = table_find(&ctf->maps, where, NULL, NULL, NULL);

	if (old != TABLE_NONE && old == (uint32_t)what % (TABLE_NONE - 1))
		return false;
	if (old != TABLE_NONE)
		table_remove(&ctf->maps, where, old);
	else if (ctf->n_maps++ >= MAPS_MAX)
		return true;
	table_add(&ctf->maps, where, (uint32_t)what % (TABLE_NONE - 1));
	return true;
}

static void give_pending(struct ctf_trace *tr)
{
	struct ctf_pending *p = &tr->ctf->pending;

	if (!p->used)
		return;
	p->used = false;
	if (!is_news(tr->ctf, &p->map, p->path))
		return;
	size_t n = strlen(p->path) + 1;
	struct ctf_item *it = ctf_item_new(tr, CLASS_MAP, tr->at, n);

	it->kind = REC_MAP;
	it->pid = p->pid;
	it->tid = p->tid;
	it->cpu = p->map.cpu;
	it->map = p->map.map;
	it->raw_len = (uint32_t)n;
	memcpy(ctf_item_raw(it), p->path, n);
}

void ctf_map_flush(struct ctf_trace *tr, int32_t pid, int32_t tid)
{
	struct ctf_pending *p = &tr->ctf->pending;

	(void)pid;
	if (p->used && (tid < 0 || tid == p->tid || p->tid < 0))
		give_pending(tr);
}

static void image(struct ctf_trace *tr, const struct ctf_event *ev,
		  const struct ctf_item *head, const struct bytes *raw)
{
	struct ctf_pending *p = &tr->ctf->pending;
	const char *path = ctf_text(tr->ctf, ev, CTF_PATH, raw);
	uint64_t start = (uint64_t)ctf_number(ev, CTF_BASE, raw, 0);
	uint64_t len = (uint64_t)ctf_number(ev, CTF_SIZE, raw, 0);
	uint64_t end;

	give_pending(tr);
	/* the vdso is told of without a size */
	if (!path || !*path || !len || head->pid < 0 ||
	    __builtin_add_overflow(start, len, &end))
		return;
	free(p->path);
	*p = (struct ctf_pending){
		.used = true,
		.pid = head->pid,
		.tid = head->tid,
		.map = *head,
		.path = mem_strdup(path),
	};
	p->map.map.start = start;
	p->map.map.len = (len + 4095) & ~(uint64_t)4095;
	p->map.map.id_len = 0;
	if (p->map.map.len < len)
		p->map.map.len = len;
	if (!ctf_number(ev, CTF_HAS_ID, raw, 0))
		give_pending(tr);
}

static void build_id(struct ctf_trace *tr, const struct ctf_event *ev,
		     const struct ctf_item *head, const struct bytes *raw)
{
	struct ctf_pending *p = &tr->ctf->pending;
	int at = ev->part[CTF_PATH];
	struct field f = { 0 };

	if (!p->used || p->pid != head->pid ||
	    p->map.map.start != (uint64_t)ctf_number(ev, CTF_BASE, raw, 0))
		return;
	if (at >= 0) {
		if (tr->ctf->look.scratch.used)
			arena_release(&tr->ctf->look.scratch);
		tp_take(&tr->ctf->look, raw, &ev->fmt.field[at], &f);
	}
	if (f.present && f.blob && f.len && f.len <= ID_MAX) {
		memcpy(p->map.map.id, f.blob, f.len);
		p->map.map.id_len = (uint8_t)f.len;
	}
	give_pending(tr);
}

void ctf_map(struct ctf_trace *tr, const struct ctf_event *ev,
	     const struct ctf_item *head, const struct bytes *raw)
{
	struct ctf *ctf = tr->ctf;

	if (ev->role == CTF_IMAGE) {
		image(tr, ev, head, raw);
	} else if (ev->role == CTF_BUILD_ID) {
		build_id(tr, ev, head, raw);
	} else {
		uint64_t start = (uint64_t)ctf_number(ev, CTF_BASE, raw, 0);
		uint64_t where = key_of(head->pid, start);
		uint32_t old = table_find(&ctf->maps, where, NULL, NULL, NULL);

		/* the kernel's own captures tell of no end either: what is
		 * mapped there next cuts it */
		if (old != TABLE_NONE && table_remove(&ctf->maps, where, old))
			ctf->n_maps--;
	}
}
