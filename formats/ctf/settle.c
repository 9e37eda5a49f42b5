/* settle.c - drops repeated facts about thread names and mappings, in time
 * order over all traces of a session.
 *
 * Several traces report the same fact, several times: dlopen and load report
 * the same library, every event a thread's name. Only new facts become
 * records. A mapping ends with lttng_ust_lib:unload or, if load was not
 * recorded, with as many dlclose as there were dlopen. */
#include <string.h>

#include "formats/ctf/ctf.h"

#define MAPPED_MAX 1000000

/* Returns the mapping at the item's base. NULL: it is unknown, or there are
 * too many to add it. */
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

		return told_tasks_rename(&ctf->told, it->tid, name,
					 strnlen(name, COMM_LEN + 1), true) ||
		       it->flags & REC_F_EXEC;
	}
	case REC_FORK:
		told_tasks_unname(&ctf->told, it->tid);
		return true;
	case REC_MAP:
		if (it->flags & REC_F_KERNEL)
			return true;
		if (it->flags & REC_F_GONE) {
			/* LTTng reports dlclose() before it happens, unload
			 * after it. */
			struct ctf_mapped *m =
				ctf_settle_find_mapping(ctf, it, false);

			if (!m || !m->len)
				return false;
			if (it->map.role == CTF_CLOSE &&
			    (m->told_of_load || !m->n_open || --m->n_open))
				return false;
			it->map.len = m->len;
			*m = (struct ctf_mapped){ 0 };
			return true;
		}
		/* A statedump is always new, as a process id may have been used
		 * before. Counts dlopen() also for a file that is mapped
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
		m->told_of_load |= it->map.role == CTF_LOAD;
		return !same;
	case REC_SAMPLE:
		if ((it->n_kern || it->n_user) && !(it->flags & REC_F_NO_CHAIN))
			ctf->def[it->event].has_chain = true;
		return true;
	default:
		return true;
	}
}
