/* ctf_maps.c - which files a traced program has mapped, as LTTng-UST says.
 *
 * A file is told of by one event and its build-id by the next of the same
 * thread: the mapping waits for it. All segments of a file are one mapping
 * from its base; the same may be told several times (dlopen of a library that
 * is there, both of dlopen and of load), and is one. It ends with
 * lttng_ust_lib:unload, or, where load was not recorded, with as many dlclose
 * as there were dlopen. */
#include <stdlib.h>
#include <string.h>

#include "formats/ctf.h"
#include "formats/input.h"
#include "formats/kernel_map.h"

#define MAPPED_MAX 1000000
#define ID_MAX 20
#define PAGE 4096u

/* What is at the base; NULL: nothing was said of it, or there are too many. */
static struct ctf_mapped *mapped_at(struct ctf *ctf, int32_t pid,
				    uint64_t start, bool make)
{
	uint64_t where = hash_pair((uint32_t)pid, start);
	uint32_t i = table_find(&ctf->by_base, where, NULL, NULL, NULL);

	if (i != TABLE_NONE)
		return &ctf->mapped[i];
	if (!make || ctf->n_mapped >= MAPPED_MAX)
		return NULL;
	table_add(&ctf->by_base, where, (uint32_t)ctf->n_mapped);
	ctf->mapped = mem_grow(ctf->mapped, &ctf->cap_mapped, ctf->n_mapped + 1,
			       sizeof(*ctf->mapped));
	ctf->mapped[ctf->n_mapped] = (struct ctf_mapped){ 0 };
	return &ctf->mapped[ctf->n_mapped++];
}

static bool is_news(struct ctf *ctf, const struct ctf_pending *p)
{
	struct ctf_mapped *m = mapped_at(ctf, p->pid, p->start, true);
	uint64_t what =
		hash_pair(p->len, hash_bytes(p->path, strlen(p->path), 1));

	what = hash_bytes(p->id, p->id_len, what);
	if (!m)
		return true;
	if (m->len && m->what == what && !p->sure)
		return false;
	m->len = p->len;
	m->what = what;
	return true;
}

static struct ctf_item *map_item(struct ctf_trace *tr, int32_t pid, int32_t tid,
				 const char *path)
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

static void give(struct ctf_trace *tr, struct ctf_pending *p)
{
	if (!p->used)
		return;
	p->used = false;
	tr->n_pending--;
	if (!is_news(tr->ctf, p))
		return;
	struct ctf_item *it = map_item(tr, p->pid, p->tid, p->path);

	it->cpu = p->cpu;
	it->map.start = p->start;
	it->map.len = p->len;
	it->map.id_len = p->id_len;
	memcpy(it->map.id, p->id, sizeof(it->map.id));
}

static void kernel_item(struct ctf_trace *tr, const struct kernel_code *c)
{
	struct ctf_item *it = map_item(tr, -1, -1, c->name);

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

static void read_kallsyms(struct ctf *ctf, struct kernel_map *out)
{
	struct input in;

	*out = (struct kernel_map){ .n = 0 };
	if (!ctf->opts.kallsyms ||
	    input_open(&in, ctf->opts.kallsyms, ctf->opts.temp_dir, NULL))
		return;
	if (in.data || !input_spool(&in, ctf->opts.temp_dir, NULL))
		kernel_map_read(out, (const char *)in.data, in.len);
	input_close(&in);
}

/* LTTng does not say where the kernel is: the recorded machine's kallsyms
 * does. Without it there is a map from address 0, so that places are the
 * addresses themselves, and names can be found later. */
void ctf_map_kernel(struct ctf_trace *tr)
{
	const struct kernel_code all = {
		.len = UINT64_MAX,
		.name = "[kernel.kallsyms]",
	};
	struct kernel_map km;

	read_kallsyms(tr->ctf, &km);
	for (size_t i = 0; i < km.n; i++)
		kernel_item(tr, &km.at[i]);
	if (!km.n)
		kernel_item(tr, &all);
	kernel_map_release(&km);
}

/* The one of a thread; it may be another's. */
static struct ctf_pending *place_of(struct ctf_trace *tr, int32_t tid)
{
	return &tr->pending[hash_u64((uint32_t)tid) % CTF_PENDING];
}

void ctf_map_flush(struct ctf_trace *tr, int32_t pid, int32_t tid)
{
	struct ctf_pending *p = place_of(tr, tid);

	if (p->used && p->pid == pid && p->tid == tid)
		give(tr, p);
}

void ctf_map_flush_all(struct ctf_trace *tr)
{
	for (size_t i = 0; tr->n_pending && i < CTF_PENDING; i++)
		give(tr, &tr->pending[i]);
}

void ctf_maps_release(struct ctf_trace *tr)
{
	for (size_t i = 0; tr->pending && i < CTF_PENDING; i++)
		free(tr->pending[i].path);
	free(tr->pending);
	tr->pending = NULL;
}

/* Also of a file that is there already: dlopen() counts. */
static void count_open(struct ctf *ctf, enum ctf_role role, int32_t pid,
		       uint64_t start)
{
	struct ctf_mapped *m = mapped_at(ctf, pid, start, true);

	if (!m)
		return;
	if (!m->len)
		m->n_open = 0;
	m->n_open += role == CTF_OPEN;
	m->told_of_load |= role == CTF_LOAD;
}

static void image(struct ctf_trace *tr, const struct ctf_event *ev,
		  const struct ctf_item *head, const struct bytes *raw)
{
	const char *path = ctf_text(tr->ctf, ev, CTF_PATH, raw);
	uint64_t start = (uint64_t)ctf_number(ev, CTF_BASE, raw, 0);
	uint64_t len = (uint64_t)ctf_number(ev, CTF_SIZE, raw, 0);
	uint64_t end;

	/* the vdso is told of without a size */
	if (!path || !*path || !len || head->pid < 0 ||
	    __builtin_add_overflow(start, len, &end) ||
	    __builtin_add_overflow(end, PAGE - 1, &end))
		return;
	count_open(tr->ctf, ev->role, head->pid, start);
	if (!tr->pending)
		tr->pending = mem_new(CTF_PENDING, sizeof(*tr->pending));
	struct ctf_pending *p = place_of(tr, head->tid);

	give(tr, p);
	free(p->path);
	*p = (struct ctf_pending){
		.used = true,
		/* a process of a number that was used before begins with it */
		.sure = ev->role == CTF_IMAGE,
		.pid = head->pid,
		.tid = head->tid,
		.cpu = head->cpu,
		.start = start,
		.len = (len + PAGE - 1) & ~(uint64_t)(PAGE - 1),
		.path = mem_strdup(path),
	};
	tr->n_pending++;
	if (!ctf_number(ev, CTF_HAS_ID, raw, 0))
		give(tr, p);
}

static void build_id(struct ctf_trace *tr, const struct ctf_event *ev,
		     const struct ctf_item *head, const struct bytes *raw)
{
	int at = ev->part[CTF_PATH];
	struct field f = { 0 };

	if (!tr->n_pending)
		return;
	struct ctf_pending *p = place_of(tr, head->tid);

	if (!p->used || p->pid != head->pid || p->tid != head->tid ||
	    p->start != (uint64_t)ctf_number(ev, CTF_BASE, raw, 0))
		return;
	if (at >= 0) {
		if (tr->ctf->look.scratch.used)
			arena_release(&tr->ctf->look.scratch);
		tp_take(&tr->ctf->look, raw, &ev->fmt.field[at], &f);
	}
	if (f.present && f.blob && f.len && f.len <= ID_MAX) {
		memcpy(p->id, f.blob, f.len);
		p->id_len = (uint8_t)f.len;
	}
	give(tr, p);
}

/* dlclose() is told of before it is done, and unload when it was. */
static void end_of(struct ctf_trace *tr, const struct ctf_event *ev,
		   const struct ctf_item *head, const struct bytes *raw)
{
	uint64_t start = (uint64_t)ctf_number(ev, CTF_BASE, raw, 0);
	struct ctf_mapped *m = mapped_at(tr->ctf, head->pid, start, false);

	if (!m || !m->len)
		return;
	if (ev->role == CTF_CLOSE &&
	    (m->told_of_load || !m->n_open || --m->n_open))
		return;
	struct ctf_item *it = map_item(tr, head->pid, head->tid, "");

	it->cpu = head->cpu;
	it->flags = REC_F_GONE;
	it->map.start = start;
	it->map.len = m->len;
	*m = (struct ctf_mapped){ 0 };
}

void ctf_map(struct ctf_trace *tr, const struct ctf_event *ev,
	     const struct ctf_item *head, const struct bytes *raw)
{
	if (ev->role == CTF_BUILD_ID)
		build_id(tr, ev, head, raw);
	else if (ev->role == CTF_CLOSE || ev->role == CTF_UNLOAD)
		end_of(tr, ev, head, raw);
	else
		image(tr, ev, head, raw);
}
