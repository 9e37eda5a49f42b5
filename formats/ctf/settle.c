/* settle.c - what the traces of a session have said of names and mappings,
 * in the order of their times.
 *
 * The same is told by several traces, and several times: a library by dlopen
 * and by load, a name with every event. Only what is news is handed out. A
 * mapping ends with lttng_ust_lib:unload, or, where load was not recorded,
 * with as many dlclose as there were dlopen. */
#include <string.h>

#include "formats/ctf/ctf.h"

#define MAPPED_MAX 1000000

/* What is at the base; NULL: nothing was said of it, or there are too many. */
static struct ctf_mapped *mapped_at(struct ctf *ctf, const struct ctf_item *it,
				    bool make)
{
	uint64_t where = hash_pair((uint32_t)it->pid, it->map.start);
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

/* A process of a number that was used before begins with its statedump: that
 * is always news. dlopen() counts also of a file that is there already. */
static bool begins(struct ctf *ctf, const struct ctf_item *it)
{
	struct ctf_mapped *m = mapped_at(ctf, it, true);
	const char *path = (const char *)ctf_item_raw(it);
	uint64_t what =
		hash_pair(it->map.len, hash_bytes(path, it->raw_len, 1));

	what = hash_bytes(it->map.id, it->map.id_len, what);
	if (!m)
		return true;
	bool same = m->len && m->what == what && it->map.role != CTF_IMAGE;

	if (!same)
		*m = (struct ctf_mapped){ it->map.len, what, 0, false };
	m->n_open += it->map.role == CTF_OPEN;
	m->told_of_load |= it->map.role == CTF_LOAD;
	return !same;
}

/* dlclose() is told of before it is done, and unload when it was. */
static bool ends(struct ctf *ctf, struct ctf_item *it)
{
	struct ctf_mapped *m = mapped_at(ctf, it, false);

	if (!m || !m->len)
		return false;
	if (it->map.role == CTF_CLOSE &&
	    (m->told_of_load || !m->n_open || --m->n_open))
		return false;
	it->map.len = m->len;
	*m = (struct ctf_mapped){ 0 };
	return true;
}

static bool is_renamed(struct ctf *ctf, const struct ctf_item *it)
{
	const char *name = (const char *)ctf_item_raw(it);
	bool news = told_tasks_rename(&ctf->told, it->tid, name,
				      strnlen(name, COMM_LEN + 1), true);

	return news || it->flags & REC_F_EXEC;
}

bool ctf_settle(struct ctf *ctf, struct ctf_item *it)
{
	switch ((enum record_kind)it->kind) {
	case REC_COMM:
		return is_renamed(ctf, it);
	case REC_FORK:
		told_tasks_unname(&ctf->told, it->tid);
		return true;
	case REC_MAP:
		return it->flags & REC_F_GONE ? ends(ctf, it) : begins(ctf, it);
	case REC_SAMPLE:
		if ((it->n_kern || it->n_user) && !(it->flags & REC_F_NO_CHAIN))
			ctf->def[it->event].has_chain = true;
		return true;
	default:
		return true;
	}
}
