/* item.c - makes items, which hold the records of a CTF trace until they are
 * decoded and released, and drops those that repeat a fact. */
#include <string.h>

#include "formats/ctf/ctf.h"

/* Several traces report the same fact several times: dlopen and load report the
 * same library, and every event its thread's name. Only new facts become
 * records. A mapping ends with lttng_ust_lib:unload or, if load was not
 * recorded, with as many dlclose calls as there were dlopen calls. */

#define MAPPED_MAX 1000000

/* Returns the mapping at the item's base. Returns NULL if there is none and
 * `make` is false, or if there are too many to add one. */
static struct ctf_mapped *
ctf_settle_find_mapping(struct ctf *ctf, const struct ctf_item *it, bool make)
{
	uint64_t where = hash_pair((uint32_t)it->pid, it->map.start);
	uint32_t i = table_find_hash(&ctf->by_base, where);

	if (i != TABLE_NONE)
		return &ctf->mapped[i];
	if (!make || ctf->n_mapped >= MAPPED_MAX)
		return NULL;
	table_add(&ctf->by_base, where, (uint32_t)ctf->n_mapped);
	struct ctf_mapped *m =
		mem_add(ctf->mapped, ctf->n_mapped, ctf->cap_mapped);

	*m = (struct ctf_mapped){ 0 };
	return m;
}

bool ctf_settle_item(struct ctf *ctf, struct ctf_item *it)
{
	switch ((enum record_kind)it->kind) {
	case REC_COMM: {
		const char *name = (const char *)ctf_item_raw(it);

		return known_tasks_rename(&ctf->known, it->tid, name,
					  strnlen(name, COMM_LEN + 1), true) ||
		       it->flags & REC_F_EXEC;
	}
	case REC_FORK:
		known_tasks_unname(&ctf->known, it->tid);
		return true;
	case REC_MAP:
		if (it->flags & REC_F_KERNEL)
			return true;
		if (it->flags & REC_F_GONE) {
			/* LTTng reports dlclose() before it happens, and unload
			 * after it happened. */
			struct ctf_mapped *m =
				ctf_settle_find_mapping(ctf, it, false);

			if (!m || !m->len)
				return false;
			if (it->map.role == CTF_CLOSE &&
			    (m->load_recorded || !m->n_open || --m->n_open))
				return false;
			it->map.len = m->len;
			*m = (struct ctf_mapped){ 0 };
			return true;
		}
		/* A statedump is always new, as the process id may have been
		 * used before. dlopen() counts even for a file that is mapped
		 * already. */
		struct ctf_mapped *m = ctf_settle_find_mapping(ctf, it, true);
		const char *path = (const char *)ctf_item_raw(it);
		uint64_t what = hash_pair(it->map.len,
					  hash_bytes(path, it->raw_len, 1));

		what = hash_bytes(it->map.id, it->map.id_len, what);
		if (!m)
			return true;
		bool same =
			m->len && m->what == what && it->map.role != CTF_IMAGE;

		if (!same)
			*m = (struct ctf_mapped){ it->map.len, what, 0, false };
		m->n_open += it->map.role == CTF_OPEN;
		m->load_recorded |= it->map.role == CTF_LOAD;
		return !same;
	case REC_SAMPLE:
		if ((it->n_kern || it->n_user) && !(it->flags & REC_F_NO_CHAIN))
			ctf->def[it->event].has_chain = true;
		return true;
	default:
		return true;
	}
}

void ctf_item_add(struct ctf_trace *tr, enum record_class kind, uint64_t key,
		  size_t extra, uint64_t handle)
{
	*mem_add(tr->due, tr->n_due, tr->cap_due) = (struct ctf_due){
		.at = tr->at,
		.ref = {
			.key = key,
			.seq = ++tr->ctf->seq,
			.handle = handle,
			.len = (uint32_t)(sizeof(struct ctf_item) + extra),
			.kind = (uint8_t)kind,
			.untimed = !tr->has_time,
		},
	};
}

struct ctf_item *ctf_item_new(struct ctf_trace *tr, enum record_class kind,
			      uint64_t key, size_t extra)
{
	uint64_t handle;
	struct ctf_item *it = ctf_item_take(tr, key, extra, &handle);

	ctf_item_add(tr, kind, key, extra, handle);
	return it;
}

/* The extras of a sample whose stack LTTng cut at its limit. */
static const struct extra cuts[] = {
	{ .name = "callstack_kernel_cut", .value = 1 },
	{ .name = "callstack_user_cut", .value = 1 },
};

int ctf_item_decode(struct source *src, const struct ref *ref,
		    struct record *rec, struct err *err UNUSED)
{
	struct ctf *ctf = ctf_of(src);
	const struct ctf_item *it = ctf_pool_at(&ctf->pool, ref->handle);

	ctf->waiting -= ref->len;
	*rec = (struct record){
		.kind = (enum record_kind)it->kind,
		.flags = it->flags,
		.pid = it->pid,
		.tid = it->tid,
		.cpu = it->cpu,
		.time = it->time,
	};
	if (rec->kind == REC_SAMPLE) {
		const uint64_t *ip = ctf_item_ips(it);
		const struct tp_format *fmt =
			&ctf_event_at(ctf, it->event)->fmt;
		struct rec_sample *s = &rec->sample;
		struct bytes raw;

		s->event = it->event;
		s->defer = (enum defer)it->defer;
		s->ip = it->sample.ip;
		s->weight = 1;
		s->cookie = it->sample.cookie;
		s->kern.ip = ip;
		s->kern.n = it->n_kern;
		s->user.ip = ip + it->n_kern;
		s->user.n = it->n_user;
		s->raw = it->raw_len ? ctf_item_raw(it) : NULL;
		s->raw_len = it->raw_len;
		s->sched = it->sample.sched;
		s->extra = it->cut == 2 ? cuts + 1 : cuts;
		s->n_extra = it->cut == 3 ? 2 : it->cut != 0;
		if (fmt->call.what != CALL_NONE) {
			bytes_init(&raw, ctf_item_raw(it), it->raw_len, "event",
				   0, false);
			tp_call_take(&ctf->said, fmt, &raw, &ctf->call);
			if (ctf->call.what != CALL_NONE)
				s->call = &ctf->call;
		}
	} else if (rec->kind == REC_CHAIN) {
		rec->chain.cookie = it->sample.cookie;
		rec->chain.user.ip = ctf_item_ips(it);
		rec->chain.user.n = it->n_user;
		if (it->raw_len) {
			/* The frames of a chain of function names. */
			const char *s = (const char *)ctf_item_raw(it);
			const char *end = s + it->raw_len;
			uint32_t i = 0;

			mem_grow(ctf->place, ctf->cap_place, it->n_user);
			mem_grow(ctf->places, ctf->cap_places, it->n_user);
			for (; i < it->n_user && s < end;
			     i++, s += strlen(s) + 1) {
				ctf->place[i] = (struct place){ .symbol = s };
				ctf->places[i] = &ctf->place[i];
			}
			rec->chain.user.n = i;
			rec->chain.user.place = ctf->places;
		}
	} else if (rec->kind == REC_MAP) {
		rec->map = (struct rec_map){
			.start = it->map.start,
			.len = it->map.len,
			.pgoff = it->map.pgoff,
			.path = (const char *)ctf_item_raw(it),
			.whole = !(it->flags & (REC_F_KERNEL | REC_F_GONE)),
			.id = it->map.id_len ? it->map.id : NULL,
			.id_len = it->map.id_len,
		};
		if (it->map.id_len)
			rec->flags |= REC_F_BUILD_ID;
	} else if (rec->kind == REC_KSYMBOL) {
		rec->ksymbol.addr = it->map.start;
		rec->ksymbol.len = (uint32_t)it->map.len;
		rec->ksymbol.type = it->map.type;
		rec->ksymbol.name = (const char *)ctf_item_raw(it);
	} else if (rec->kind == REC_COMM) {
		rec->comm.name = (const char *)ctf_item_raw(it);
	} else if (rec->kind == REC_FORK || rec->kind == REC_EXIT) {
		rec->fork.ppid = it->fork.ppid;
		rec->fork.ptid = it->fork.ptid;
	} else if (rec->kind == REC_LOST) {
		rec->lost.place = (enum lost_place)it->lost.place;
		rec->lost.n = it->lost.n;
		rec->lost.event = -1;
		rec->lost.since = it->lost.since;
		rec->lost.has_since = it->lost.has_since;
	}
	return 0;
}

void ctf_item_release(struct source *src, const struct ref *ref)
{
	ctf_pool_drop(&ctf_of(src)->pool, ref->handle);
}
