/* sums_code.c - the code of a database of sums, which is never written.
 *
 * Who asks for sums once reads every frame, stack and chain right after they
 * were stored. That they are neither written nor read as rows saves 17 % of the
 * instructions of a first look at the frame-pointer stacks of a whole system,
 * and with what the unwinder keeps 35 % of one at stack dumps. */
#include "schema/write/sums_code.h"

#include <stdlib.h>

#include "schema/write/write.h"
#include "schema/write/writing.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/fact.h"
#include "stitch/tasks/frame.h"

struct code_name {
	const char *name; /* NULL: not known */
	const char *file; /* likewise */
	uint64_t symoff;
};

/* What sums need of a mapping. */
struct code_mapped {
	uint64_t pgoff, len;
	uint32_t image, prot;
};

struct sums_code {
	struct frames *own;	/* NULL: they are the caller's */
	struct code_name *name; /* by frame */
	size_t n, cap;
	struct arena text;
	struct code_mapped *mapped; /* those that were stored */
	size_t n_mapped, cap_mapped;
	struct table by_mapped;
};

void store_sums_only(struct store *db)
{
	db->w->sums = mem_new(1, sizeof(*db->w->sums));
}

void store_sums_own(struct store *db, struct frames *fr)
{
	db->w->sums->own = fr;
}

void sums_code_free(struct sums_code *sc)
{
	if (!sc)
		return;
	frames_free(sc->own);
	arena_release(&sc->text);
	table_release(&sc->by_mapped);
	free(sc->mapped);
	free(sc->name);
	free(sc);
}

const char *sums_code_text(struct store *db, const char *name)
{
	return arena_strdup(&db->w->sums->text, name);
}

void sums_code_put(struct store *db, uint32_t frame, const char *name,
		   uint64_t symoff, const char *file)
{
	struct sums_code *sc = db->w->sums;

	sc->name = mem_reach(sc->name, &sc->n, &sc->cap, (size_t)frame + 1,
			     sizeof(*sc->name));
	sc->name[frame] = (struct code_name){
		name, file ? sums_code_text(db, file) : NULL, symoff
	};
}

static bool sums_code_same_mapped(const void *owner, uint32_t id,
				  const void *key)
{
	const struct code_mapped *a =
		&((const struct sums_code *)owner)->mapped[id];
	const struct code_mapped *b = key;

	return a->image == b->image && a->prot == b->prot &&
	       a->pgoff == b->pgoff && a->len == b->len;
}

bool sums_code_maps(struct store *db, const struct fact_mapping *m)
{
	struct sums_code *sc = db->w->sums;
	const struct code_mapped key = { m->pgoff, m->end - m->start, m->image,
					 m->prot };
	uint64_t hash = hash_pair(key.pgoff ^ key.prot,
				  key.len ^ (uint64_t)key.image << 32);

	if (table_find(&sc->by_mapped, hash, sums_code_same_mapped, sc, &key) !=
	    TABLE_NONE)
		return false;
	table_add(&sc->by_mapped, hash, (uint32_t)sc->n_mapped);
	*mem_add(sc->mapped, sc->n_mapped, sc->cap_mapped) = key;
	return true;
}

const struct frames *store_sums_code(const struct store *db)
{
	return db->w->sums ? db->w->fr : NULL;
}

const char *store_sums_name(const struct store *db, uint32_t frame,
			    uint64_t *symoff)
{
	const struct sums_code *sc = db->w->sums;
	const struct code_name none = { 0 };
	const struct code_name *c = frame < sc->n ? &sc->name[frame] : &none;

	*symoff = c->symoff;
	return c->name;
}

const char *store_sums_file(const struct store *db, uint32_t frame)
{
	const struct sums_code *sc = db->w->sums;

	return frame < sc->n ? sc->name[frame].file : NULL;
}
