/* maps.c - makes items of the mappings that LTTng-UST reports, and of the
 * kernel.
 *
 * One event reports a file, the next of the same thread its build-id, so a
 * mapping is held until then. All segments of a file are one mapping that
 * starts at its base. */
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/ctf.h"
#include "formats/input.h"
#include "formats/code/kernel_map.h"
#include "formats/tracepoint/fields.h"

#define ID_MAX 20
#define PAGE 4096u

static struct ctf_item *ctf_map_new_item(struct ctf_trace *tr, int32_t pid,
					 int32_t tid, const char *path)
{
	size_t n = strlen(path) + 1;
	struct ctf_item *it = ctf_item_new(tr, CLASS_MAP, tr->at, n);

	it->kind = REC_MAP;
	it->pid = pid;
	it->tid = tid;
	it->raw_len = (uint32_t)n;
	memcpy(ctf_item_raw(it), path, n);
	return it;
}

static void ctf_map_flush_one(struct ctf_trace *tr, struct ctf_pending *p)
{
	if (!p->used)
		return;
	p->used = false;
	tr->n_pending--;
	struct ctf_item *it = ctf_map_new_item(tr, p->pid, p->tid, p->path);

	it->cpu = p->cpu;
	it->map.start = p->start;
	it->map.len = p->len;
	it->map.role = p->role;
	it->map.id_len = p->id_len;
	memcpy(it->map.id, p->id, sizeof(it->map.id));
}

static void ctf_map_kernel_item(struct ctf_trace *tr,
				const struct kernel_code *c)
{
	struct ctf_item *it = ctf_map_new_item(tr, -1, -1, c->name);

	tr->due[tr->n_due - 1].ref.untimed = 1;
	it->flags = REC_F_SYNTH;
	it->map.start = c->start;
	it->map.len = c->len;
	it->map.pgoff = c->pgoff;
	if (c->is_symbol) {
		it->kind = REC_KSYMBOL;
		it->map.type = c->type;
	} else {
		it->flags |= REC_F_KERNEL;
	}
}

void ctf_map_kernel(struct ctf_trace *tr)
{
	const struct kernel_code all = {
		.len = UINT64_MAX,
		.name = "[kernel.kallsyms]",
	};
	const struct source_opts *o = &tr->ctf->opts;
	struct kernel_map km = { .n = 0 };
	struct input in;

	if (o->kallsyms && !input_open(&in, o->kallsyms, o->temp_dir, NULL)) {
		if (in.data || !input_spool(&in, o->temp_dir, NULL))
			kernel_map_read(&km, (const char *)in.data, in.len);
		input_close(&in);
	}
	for (size_t i = 0; i < km.n; i++)
		ctf_map_kernel_item(tr, &km.at[i]);
	if (!km.n)
		ctf_map_kernel_item(tr, &all);
	kernel_map_release(&km);
}

/* Returns the slot of a thread; another thread may occupy it. */
static struct ctf_pending *ctf_map_pending_of(struct ctf_trace *tr, int32_t tid)
{
	return &tr->pending[hash_u64((uint32_t)tid) % CTF_PENDING];
}

void ctf_map_flush(struct ctf_trace *tr, int32_t pid, int32_t tid)
{
	struct ctf_pending *p = ctf_map_pending_of(tr, tid);

	if (p->used && p->pid == pid && p->tid == tid)
		ctf_map_flush_one(tr, p);
}

void ctf_map_flush_all(struct ctf_trace *tr)
{
	for (size_t i = 0; tr->n_pending && i < CTF_PENDING; i++)
		ctf_map_flush_one(tr, &tr->pending[i]);
}

static void ctf_map_image(struct ctf_trace *tr, const struct ctf_event *ev,
			  const struct ctf_item *head, const struct bytes *raw)
{
	const char *path = ctf_text(tr->ctf, ev, CTF_PATH, raw);
	uint64_t start = (uint64_t)ctf_number(ev, CTF_BASE, raw, 0);
	uint64_t len = (uint64_t)ctf_number(ev, CTF_SIZE, raw, 0);
	uint64_t end;

	/* the vdso is reported without a size */
	if (!path || !*path || !len || head->pid < 0 ||
	    __builtin_add_overflow(start, len, &end) ||
	    __builtin_add_overflow(end, PAGE - 1, &end))
		return;
	if (!tr->pending)
		tr->pending = mem_new(CTF_PENDING, sizeof(*tr->pending));
	struct ctf_pending *p = ctf_map_pending_of(tr, head->tid);

	ctf_map_flush_one(tr, p);
	free(p->path);
	*p = (struct ctf_pending){
		.used = true,
		.role = (uint8_t)ev->role,
		.pid = head->pid,
		.tid = head->tid,
		.cpu = head->cpu,
		.start = start,
		.len = (len + PAGE - 1) & ~(uint64_t)(PAGE - 1),
		.path = mem_strdup(path),
	};
	tr->n_pending++;
	if (!ctf_number(ev, CTF_HAS_ID, raw, 0))
		ctf_map_flush_one(tr, p);
}

void ctf_map(struct ctf_trace *tr, const struct ctf_event *ev,
	     const struct ctf_item *head, const struct bytes *raw)
{
	if (ev->role == CTF_BUILD_ID) {
		struct field f;

		if (!tr->n_pending)
			return;
		struct ctf_pending *p = ctf_map_pending_of(tr, head->tid);

		if (!p->used || p->pid != head->pid || p->tid != head->tid ||
		    p->start != (uint64_t)ctf_number(ev, CTF_BASE, raw, 0))
			return;
		tp_field_take_alone(&tr->ctf->look, &ev->fmt,
				    ev->part[CTF_PATH], raw, &f);
		if (f.blob && f.len && f.len <= ID_MAX) {
			memcpy(p->id, f.blob, f.len);
			p->id_len = (uint8_t)f.len;
		}
		ctf_map_flush_one(tr, p);
	} else if (ev->role == CTF_CLOSE || ev->role == CTF_UNLOAD) {
		struct ctf_item *it =
			ctf_map_new_item(tr, head->pid, head->tid, "");

		it->cpu = head->cpu;
		it->flags = REC_F_GONE;
		it->map.start = (uint64_t)ctf_number(ev, CTF_BASE, raw, 0);
		it->map.role = (uint8_t)ev->role;
	} else
		ctf_map_image(tr, ev, head, raw);
}
